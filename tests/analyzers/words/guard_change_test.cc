// Tests the words about functions that torch.compile compiles again.
#include <gmock/gmock.h>

#include "analyzers/words/recompile_change.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;

RecompileFigures Guard(ReasonType type, const std::string& name, ConstantKind kind = {}) {
  RecompileFigures figures{.site = {.function = "f", .cut = CutKind::kCompiledFunction},
                           .cause = {.type = type, .constant = kind, .seen_in = SeenIn::kGuard}};
  if (type == ReasonType::kShapeChange) {
    figures.cause.input = name;
  } else {
    figures.cause.node = name;
  }
  return figures;
}

TEST(GuardWords, OneDimensionIsMarkedAsDynamic) {
  RecompileFigures figures = Guard(ReasonType::kShapeChange, "x");
  figures.sizes = SizesSeen{
      .shape = *XlaShape::Parse("f32[64,16]"), .dimensions = {1}, .sizes = {{16}, {24}, {8}}};
  const ChangeWords words = SayGuard(figures);
  EXPECT_EQ(words.what, "dimension 1 of input x f32[64,16] changes (16, 24, 8)");
  EXPECT_THAT(words.advice, HasSubstr("torch._dynamo.mark_dynamic(x, 1)"));
  // An element of a tuple has no name in the user's code.
  figures.cause.input = "args[0]";
  EXPECT_THAT(SayGuard(figures).advice, HasSubstr("mark_dynamic(tensor, 1)"));
}

TEST(GuardWords, SizesThatLeaveTheirRangeAreNotMarkedAgain) {
  RecompileFigures figures = Guard(ReasonType::kShapeChange, "x");
  figures.cause.before = "2 <= x.size()[0] <= 10";
  EXPECT_THAT(SayGuard(figures).advice, HasSubstr("mark_unbacked"));
}

TEST(GuardWords, EachValueHasItsRemedy) {
  const std::tuple<const char*, ConstantKind, const char*> kValues[] = {
      {"self.calls", ConstantKind::kModuleAttribute, "allow_unspec_int_on_nn_module"},
      {"self.training", ConstantKind::kTrainingMode, "train() and eval()"},
      {"G['MODE']", ConstantKind::kGlobal, "global variable"},
      {"f.__closure__[0].cell_contents", ConstantKind::kClosure, "captures"},
      {"f.keywords['min']", ConstantKind::kPartial, "functools.partial"},
      {"___stack0", ConstantKind::kReadNumber, "capture_scalar_outputs"},
      {"self.p", ConstantKind::kNeededNumber, "torch.rand_like(x) >= p"},
      {"n", ConstantKind::kArgument, "torch.tensor(value)"}};
  for (const auto& [name, kind, remedy] : kValues)
    EXPECT_THAT(SayGuard(Guard(ReasonType::kConstantChange, name, kind)).advice, HasSubstr(remedy));
}

// No tensor replaces a text.
TEST(GuardWords, TextsNeedProgramsOfTheirOwn) {
  RecompileFigures figures = Guard(ReasonType::kConstantChange, "name", ConstantKind::kArgument);
  figures.cause.before = "'relu'";
  EXPECT_THAT(SayGuard(figures).advice, HasSubstr("Use few of them"));
}

// A log of recompilations prints sizes, and no shapes.
TEST(GuardWords, SizesWithoutShapesAreListed) {
  RecompileFigures figures = Guard(ReasonType::kShapeChange, "x");
  figures.values = {"64", "48", "17", "33"};
  EXPECT_EQ(SayGuard(figures).what, "a dimension of input x changes (64, 48, 17, 33)");
  EXPECT_THAT(SayGuard(figures).advice, HasSubstr("mark_dynamic(x, dimension)"));
  figures.values = {"rank 2", "rank 1"};
  EXPECT_EQ(SayGuard(figures).what, "the shape of input x changes (rank 2 → rank 1)");
}

TEST(GuardWords, LongNumbersAreRounded) {
  RecompileFigures figures =
      Guard(ReasonType::kConstantChange, "___stack0", ConstantKind::kReadNumber);
  figures.values = {"1.9510736465454102", "20", "'name'"};
  EXPECT_EQ(SayGuard(figures).what,
            "a number that was read from a tensor changes (1.95107 → 20 → 'name')");
}

}  // namespace
}  // namespace xlaprof

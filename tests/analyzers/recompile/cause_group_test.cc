#include "analyzers/recompile/cause_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>


namespace xlaprof {
namespace {

using ::testing::ElementsAre;

RecompileGroup Changes(const std::vector<std::pair<std::string, std::string>>& shapes) {
  static const CompileSite site;
  static const StepsSeen steps;
  RecompileGroup group{.site = &site, .steps = &steps};
  for (const auto& [before, after] : shapes)
    group.causes.push_back({.type = ReasonType::kShapeChange, .before = before, .after = after});
  return group;
}

TEST(SizesOf, OneInputIsTold) {
  // In some compiles the labels differ first, in others the images.
  RecompileGroup group = Changes({{"s64[231]", "s64[170]"},
                                  {"f32[170,1,28,28]", "f32[255,1,28,28]"},
                                  {"s64[255]", "s64[236]"},
                                  {"f32[236,1,28,28]", "f32[9,1,28,28]"}});
  group.clearest = 1;
  const SizesSeen sizes = SizesOf(group).value();
  EXPECT_EQ(sizes.shape.text(), "f32[170,1,28,28]");
  EXPECT_THAT(sizes.dimensions, ElementsAre(0));
  EXPECT_THAT(sizes.sizes, ElementsAre(Sizes{170}, Sizes{255}, Sizes{9}));
  group.clearest = 0;
  std::vector<std::string> shapes;
  const SizesSeen seen = *SizesOf(group);
  for (const XlaShape& shape : seen.shapes) shapes.push_back(shape.text());
  EXPECT_THAT(shapes, ElementsAre("s64[231]", "s64[170]", "s64[236]"));
}

TEST(SizesOf, SeveralDimensionsVary) {
  const RecompileGroup group = Changes({{"f32[8,4]", "f32[9,4]"}, {"f32[9,4]", "f32[9,5]"}});
  EXPECT_THAT(SizesOf(group)->dimensions, ElementsAre(0, 1));
  EXPECT_THAT(SizesOf(group)->sizes, ElementsAre(Sizes{8, 4}, Sizes{9, 4}, Sizes{9, 5}));
}

// Regression: two layers of a step, whose inputs have 16 and 32 columns, looked like one input of which both
// dimensions change.
TEST(SizesOf, InputsThatChangeAlikeAreTold) {
  const RecompileGroup group = Changes({{"f32[8,16]", "f32[9,16]"},
                                        {"f32[8,32]", "f32[9,32]"},
                                        {"f32[9,16]", "f32[7,16]"},
                                        {"f32[9,32]", "f32[7,32]"}});
  EXPECT_THAT(SizesOf(group)->dimensions, ElementsAre(0));
  EXPECT_THAT(SizesOf(group)->sizes, ElementsAre(Sizes{8}, Sizes{9}, Sizes{7}));
}

// Regression: the sizes of one rank were reported as if the others did not exist.
TEST(SizesOf, OneInputWithSeveralRanks) {
  RecompileGroup group =
      Changes({{"f32[3]", "f32[2]"}, {"f32[3]", "f32[2,2]"}, {"f32[2,2]", "f32[2,2,2]"}});
  for (RecompileCause& cause : group.causes) cause.input = "x";
  EXPECT_THAT(SizesOf(group)->dimensions, testing::IsEmpty());
}

TEST(SizesOf, TimesAreOfTheProgramsThatASourceNames) {
  RecompileGroup group = Changes({{"f32[8]", "f32[6]"}, {"f32[6]", "f32[5]"}});
  group.causes[0].program_before = 1, group.causes[0].program_after = 2;
  group.causes[1].program_after = 3;
  const std::map<int64_t, int64_t> executions = {{1, 10}, {2, 3}, {3, 1}};
  group.executions = &executions;
  EXPECT_THAT(SizesOf(group)->times, ElementsAre(10, 3, 1));
  // The program with the first size is not known.
  group.causes[0].program_before.reset();
  EXPECT_THAT(SizesOf(group)->times, testing::IsEmpty());
}

// If executions do not name their graph, the copies of the input tell how often each size came.
TEST(SizesOf, TimesAreOfTheUploads) {
  RecompileGroup group = Changes({{"f32[8,4]", "f32[6,4]"}, {"f32[6,4]", "f32[5,4]"}});
  StepsSeen steps{.known = true, .first = 0, .last = 9};
  steps.from = StepsFrom::kSteps;
  group.steps = &steps;
  std::map<int64_t, int64_t> uploads = {{128, 7}, {96, 2}, {80, 1}, {64, 10}};
  EXPECT_THAT(SizesOf(group)->times, testing::IsEmpty());
  group.uploads = &uploads;
  EXPECT_THAT(SizesOf(group)->times, ElementsAre(7, 2, 1));
  // Another input has as many bytes, or a step uploads several.
  uploads[96] = 3;
  EXPECT_THAT(SizesOf(group)->times, testing::IsEmpty());
  uploads[96] = 2;
  uploads.erase(80);
  EXPECT_THAT(SizesOf(group)->times, testing::IsEmpty());
}

TEST(SizesOf, TimesAreOfTheGraphs) {
  RecompileGroup group = Changes({{"f32[8]", "f32[6]"}, {"f32[8]", "f32[5]"}});
  group.causes[0].graph_before = group.causes[1].graph_before = 1;
  group.causes[0].graph_after = 2, group.causes[1].graph_after = 3;
  std::map<int64_t, int64_t> executions = {{1, 10}, {2, 3}, {3, 1}};
  group.executions = &executions;
  EXPECT_THAT(SizesOf(group)->times, ElementsAre(10, 3, 1));
  executions.erase(2);
  EXPECT_THAT(SizesOf(group)->times, testing::IsEmpty());
}

TEST(SizesOf, ShapesAreNeeded) {
  EXPECT_FALSE(SizesOf(Changes({{"", ""}})).has_value());
  RecompileGroup group = Changes({{"f32[8]", "f32[9]"}});
  group.causes[0].type = ReasonType::kOpChange;
  EXPECT_FALSE(SizesOf(group).has_value());
}

CompileReason ReasonOf(ReasonType type, SeenIn seen_in, const std::string& node = "") {
  RecompileCause cause{.type = type};
  cause.node = node;
  cause.seen_in = seen_in;
  return {.causes = {cause}};
}

TEST(ExplainUnprinted, GivesTheCauseThatOptimisedHloShowsForTheOthers) {
  const auto baked = [](const std::string& node) {
    return ReasonOf(ReasonType::kConstantChange, SeenIn::kOptimizedHlo, node);
  };
  const CompileReason unprinted = ReasonOf(ReasonType::kUnprintedChange, SeenIn::kIrDump);
  std::vector<CompileReason> reasons{baked("pow"), unprinted, baked("pow")};
  ExplainUnprinted(&reasons);
  EXPECT_EQ(reasons[1].causes.front().type, ReasonType::kConstantChange);
  EXPECT_EQ(reasons[1].causes.front().node, "pow");
  // One such change is no pattern, and two different ones leave open which it is.
  for (std::vector<CompileReason> others :
       {std::vector{baked("pow"), unprinted}, std::vector{baked("pow"), unprinted, baked("add")}}) {
    ExplainUnprinted(&others);
    EXPECT_EQ(others[1].causes.front().type, ReasonType::kUnprintedChange);
  }
}

}  // namespace
}  // namespace xlaprof

// Tests the wording of recompilation findings, for Python and for C++: reasons, sites, notes and
// counts.
#include "analyzers/recompilation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Words Say(const RecompileFigures& figures, Framework framework = Framework::kUnknown,
          int64_t count = 3, State state = State::kOngoing) {
  return SayRecompilation({.count = count,
                           .reason = Reason{.type = figures.cause.type, .state = state},
                           .figures = figures},
                          framework);
}

Words SayOf(const RecompileCause& cause, Framework framework = Framework::kUnknown) {
  return Say({.site = {.function = "f", .cut = CutKind::kCall},
              .cause = cause,
              .values = {cause.before, cause.after}},
             framework);
}

Words Say(const CountFigures& figures, OptInt cost_ns = {}) {
  return SayRecompilation(
      {.count = figures.signals.again, .cost_ns = cost_ns, .reason = Reason{}, .figures = figures},
      Framework::kUnknown);
}

RecompileFigures Shapes(const std::vector<int64_t>& sizes) {
  RecompileFigures figures{.site = {.cut = CutKind::kUserSync, .step_name = "train"},
                           .cause = {.type = ReasonType::kShapeChange, .input = "x"}};
  figures.sizes = SizesSeen{.shape = *XlaShape::Parse("f32[64,16]"), .dimensions = {0}};
  for (int64_t size : sizes) figures.sizes->sizes.push_back({size});
  figures.padding = PaddingChoice{.largest = PadToLargest(figures.sizes->sizes),
                                  .buckets = PadToBuckets(figures.sizes->sizes)};
  figures.padding->saved =
      int64_t(figures.sizes->sizes.size()) - int64_t(figures.padding->buckets.buckets.size());
  return figures;
}

TEST(RecompilationWords, SitesHaveTheirNames) {
  auto title = [](const RecompileSite& site) {
    return Say({.site = site, .cause = {.type = ReasonType::kRedefinedFunction}}).title;
  };
  const std::string_view change = " recompiled 3 times: each call passes another function object";
  const SourcePlace place{"/x/train.py", 7, "main"};
  const std::pair<RecompileSite, std::string> kSites[] = {
      {{.function = "f", .cut = CutKind::kCall, .place = place}, "`f`"},
      {{.cut = CutKind::kUserSync, .place = place, .step_name = "train"}, "train step"},
      {{.cut = CutKind::kUserSync, .step_name = "my_step"}, "my_step"},
      {{.cut = CutKind::kUserSync, .place = place}, "the graph cut at train.py:7"},
      {{.cut = CutKind::kValueAccess, .place = place, .step_name = "train"},
       "the read at train.py:7"},
      {{.cut = CutKind::kValueAccess, .step_name = "train"}, "a read before the step mark"},
      {{}, "the step"},
  };
  for (const auto& [site, name] : kSites) EXPECT_EQ(title(site), fmt::format("{}{}", name, change));
}

TEST(RecompilationWords, SizesThatVary) {
  RecompileFigures figures = Shapes({64, 48, 17, 9});
  const Words words = Say(figures);
  EXPECT_EQ(words.title,
            "train step recompiled 3 times: batch dimension of input x f32[64,16] changes (64, 48, "
            "17, 9)");
  EXPECT_EQ(words.advice,
            "Pad the batch dimension of this input to 64 (one program), or to the buckets 16, 32, "
            "64 (3 programs, 28 % more elements instead of 86 % if all sizes are equally "
            "frequent), and mask the padding.");
  figures.is_rare_smaller_size = true;
  EXPECT_THAT(Say(figures, Framework::kPytorchXla).advice,
              HasSubstr("Drop it with drop_last=True in the DataLoader"));
  for (const Framework other : {Framework::kCpp, Framework::kJax, Framework::kUnknown})
    EXPECT_THAT(Say(figures, other).advice, HasSubstr("Drop it, or pad it"));
  figures.processes = 3;
  EXPECT_THAT(Say(figures).title, testing::EndsWith("17, 9) (in each of 3 processes)"));
}

// A size that follows from a mask cannot be padded at the input.
TEST(RecompilationWords, ASizeThatComesFromAMask) {
  RecompileFigures figures = Shapes({64, 48, 17, 9});
  figures.mask = Subject{.file = "/x/detect.py", .line = 8, .op = "aten::nonzero"};
  const Words words = Say(figures, Framework::kPytorchXla);
  EXPECT_EQ(words.advice,
            "Keep the whole tensor and mask the result: replace aten::nonzero at detect.py:8 by "
            "torch.where(mask, x, 0), so that no size depends on values. Count with mask.sum() "
            "instead of taking the length.");
  EXPECT_THAT(words.why, HasSubstr("The size comes from aten::nonzero at detect.py:8"));
}

TEST(RecompilationWords, AnInputWithSeveralRanksHasNoDimension) {
  RecompileFigures figures = Shapes({});
  figures.sizes->dimensions.clear();
  figures.padding.reset();
  figures.values = {"f32[3]", "f32[2,2]"};
  EXPECT_THAT(Say(figures).title, HasSubstr("the shape of input f32[64,16] changes (f32[3] → "));
}

TEST(RecompilationWords, EachConstantHasItsRemedy) {
  auto say = [](ConstantKind constant, Framework framework) {
    return SayOf({.type = ReasonType::kConstantChange,
                  .node = "op",
                  .before = "0",
                  .after = "1",
                  .constant = constant,
                  .shape = "f32[4]"},
                 framework);
  };
  const struct {
    ConstantKind constant;
    const char *change, *python, *cpp;
  } kKinds[] = {
      {ConstantKind::kInOp, "a number baked into op changes (0 → 1)", "Or use only a few values.",
       "Or use only a few values."},
      {ConstantKind::kNode, "a number baked into op changes (0 → 1)",
       "A Python number is part of the graph", "uploaded with Tensor::FromHost."},
      {ConstantKind::kScalarOrInput,
       "a scalar is a constant in some graphs and an input in others (0 and 1 are baked in)",
       "Pass it as a tensor of one element: torch.tensor([value], device=x.device).",
       "uploaded with Tensor::FromHost."},
      {ConstantKind::kStaticArgument, "op changes (0 → 1)", "static_argnums", "static_argnums"},
      {ConstantKind::kCapturedArray, "a captured array f32[4] changes",
       "that the function captures", "that the function captures"},
      {ConstantKind::kBound, "a number that bounds op changes (0 → 1)",
       "torch.where(torch.arange(n", "as in x * mask, or round"},
      {ConstantKind::kIndex, "a number baked into op changes (0 → 1)", "torch.index_select(x, 0",
       "index_select(x, 0, index)."},
      {ConstantKind::kWrittenPart, "a number baked into op changes (0 → 1)",
       "x.index_copy_(dim, start", "scatter(x, dim, index, y)."},
  };
  for (const auto& kind : kKinds) {
    EXPECT_EQ(say(kind.constant, Framework::kUnknown).title,
              fmt::format("`f` recompiled 3 times: {}", kind.change));
    EXPECT_THAT(say(kind.constant, Framework::kUnknown).advice, HasSubstr(kind.python));
    EXPECT_THAT(say(kind.constant, Framework::kCpp).advice, HasSubstr(kind.cpp));
    EXPECT_THAT(say(kind.constant, Framework::kJax).advice, testing::Not(HasSubstr("torch")));
  }
}

// Regression: the advice was torch.tensor(...), which BatchNorm refuses as its momentum.
TEST(RecompilationWords, TheMomentumOfABatchNormCannotBeATensor) {
  for (const ConstantKind constant : {ConstantKind::kNode, ConstantKind::kInOp}) {
    const Words words = SayOf({.type = ReasonType::kConstantChange,
                               .node = "xla::moving_average",
                               .before = "0.45",
                               .after = "0.4",
                               .constant = constant},
                              Framework::kPytorchXla);
    EXPECT_THAT(words.advice, HasSubstr("Change it rarely"));
    EXPECT_THAT(words.advice, testing::Not(HasSubstr("torch.tensor")));
  }
}

// Measured with torch_xla 2.9: a loss weight that reaches 1 compiles again with the setting too,
// because the numbers 1 of the graph then share its input. A learning rate that reaches 0 does not.
TEST(RecompilationWords, TheSettingIsAdvisedOnlyIfNoNumberIsEqual) {
  auto advice = [](std::optional<bool> has_equal_scalar) {
    return SayOf({.type = ReasonType::kConstantChange,
                  .node = "op",
                  .constant = ConstantKind::kScalarOrInput,
                  .has_equal_scalar = has_equal_scalar},
                 Framework::kPytorchXla)
        .advice;
  };
  EXPECT_THAT(advice(std::nullopt), testing::Not(HasSubstr("XLA_NO_SPECIAL_SCALARS")));
  EXPECT_THAT(advice(true), HasSubstr("XLA_NO_SPECIAL_SCALARS=1 does not help"));
  EXPECT_THAT(advice(false), HasSubstr("XLA_NO_SPECIAL_SCALARS=1 avoids it"));
}

TEST(RecompilationWords, TheStateOfAnOptimizerIsNamed) {
  auto title = [](bool of_optimizer) {
    return SayOf({.type = ReasonType::kOpChange,
                  .node = "xla::device_data",
                  .note = note::NewState{.of_optimizer = of_optimizer}},
                 Framework::kPytorchXla)
        .title;
  };
  EXPECT_THAT(title(true), HasSubstr("the state that the optimizer made in the first step"));
  EXPECT_THAT(title(false), HasSubstr("tensors that the first step made"));
}

// Python prints an object without __repr__ with its address, and without __eq__ it equals only itself.
TEST(RecompilationWords, AnObjectThatIsAStaticArgumentNeedsEquality) {
  const auto say = [](std::vector<std::string> values) {
    return Say({.cause = {.type = ReasonType::kConstantChange,
                          .node = "static argument 0",
                          .constant = ConstantKind::kStaticArgument},
                .values = std::move(values)},
               Framework::kJax);
  };
  const Words object =
      say({"<flow.Settings object at 0x7f65e8885350>", "<flow.Settings object at 0x7f65e81fca50>"});
  EXPECT_THAT(object.title, HasSubstr("static argument 0 is another flow.Settings object"));
  EXPECT_THAT(object.advice, HasSubstr("__eq__ and __hash__"));
  EXPECT_THAT(say({"1", "2"}).advice, HasSubstr("jax.lax.fori_loop"));
}

TEST(RecompilationWords, EachReasonSaysWhatToDo) {
  const std::pair<RecompileCause, std::string> kCauses[] = {
      {{.type = ReasonType::kRedefinedFunction}, "outside the loop"},
      {{.type = ReasonType::kEnvironmentChange, .seen_in = SeenIn::kJaxExplanation}, "jax.config"},
      {{.type = ReasonType::kEnvironmentChange}, "debug variables once"},
      {{.type = ReasonType::kInputStructureChange}, "same containers"},
      {{.type = ReasonType::kShardingChange}, "device_put"},
      {{.type = ReasonType::kDtypeChange}, "Convert this tensor"},
      {{.type = ReasonType::kNoStepMark}, "missing_step_mark"},
      {{.type = ReasonType::kUnprintedChange}, "XLA_SAVE_TENSORS_FMT=hlo"},
      {{.type = ReasonType::kUnprintedChange, .seen_in = SeenIn::kOptimizedHlo},
       "other parameters of the same shapes"},
  };
  for (const auto& [cause, advice] : kCauses) EXPECT_THAT(SayOf(cause).advice, HasSubstr(advice));
  const Words unknown = Say(RecompileFigures(), Framework::kPytorchXla);
  EXPECT_EQ(unknown.unseen->what, "why");
  EXPECT_EQ(unknown.unseen->shown_by, RecordingKind::kGraphs);
  EXPECT_EQ(SayOf({.type = ReasonType::kUnknown}).unseen->shown_by, RecordingKind::kLog);
  const Words warm_up = Say(RecompileFigures(), Framework::kUnknown, 1, State::kWarmUp);
  EXPECT_THAT(warm_up.advice, HasSubstr("Nothing needs to change"));
  EXPECT_FALSE(warm_up.unseen);
}

TEST(RecompilationWords, CppProgramsHaveNoPython) {
  for (int type = 0; type <= int(ReasonType::kNoStepMark); ++type) {
    const Words words =
        SayOf({.type = ReasonType(type), .seen_in = SeenIn::kIrDump}, Framework::kCpp);
    for (const std::string& text : {words.title, words.why, words.advice}) {
      EXPECT_THAT(text, Not(HasSubstr("Python")));
      EXPECT_THAT(text, Not(HasSubstr("torch.")));
      EXPECT_THAT(text, Not(HasSubstr("IR dump")));
    }
  }
}

TEST(RecompilationWords, Settings) {
  auto title = [](const std::string& node, std::vector<std::string> values) {
    return Say({.cause = {.type = ReasonType::kEnvironmentChange, .node = node}, .values = values},
               Framework::kUnknown, 1)
        .title;
  };
  const std::string text =
      "the step recompiled once: the same graph is compiled under another setting";
  EXPECT_EQ(title("", {}), text);
  EXPECT_EQ(title("jax_enable_x64", {}), text + " (jax_enable_x64)");
  EXPECT_EQ(title("jax_enable_x64", {"0", "1"}), text + " (jax_enable_x64: 0 → 1)");
}

TEST(RecompilationWords, ReasonsAreSentences) {
  RecompileFigures figures{.cause = {.type = ReasonType::kOpChange,
                                     .node = "add",
                                     .seen_in = SeenIn::kIrDump,
                                     .note = note::ViewReads{{"/x/a.py", 3, ""}}},
                           .from_sizes = 2};
  figures.beside.push_back(
      {.node = "mul", .before = "1", .after = "2", .location = {"/x/a.py", 9, ""}, .near = true});
  EXPECT_EQ(
      Say(figures).why,
      "The IR dump shows it. A view is recorded where it is used, and it reads a value that is recorded nearby, at /x/a.py:3; for 2 of 3 compiles no graph was captured; the sizes in the log say the same. The same compiles also changed mul near /x/a.py:9 (1 → 2).");
  EXPECT_THAT(Say(figures, Framework::kCpp).why,
              testing::HasSubstr("The view is of a value that is recorded at /x/a.py:3;"));
  EXPECT_EQ(SayOf({.seen_in = SeenIn::kJaxExplanation, .note = note::JaxSays{"never seen."}}).why,
            "JAX says: never seen.");
}

TEST(RecompilationWords, AnOpThatOnlySomeGraphsContain) {
  RecompileFigures figures{
      .cause = {.type = ReasonType::kOpChange, .node = "tanh", .after = "tanh f32[8]"},
      .values = {"tanh f32[8]"}};
  EXPECT_THAT(Say(figures).title, EndsWith(": only some of its graphs contain tanh f32[8]"));
  figures.cause.before = "sin f32[8]";
  figures.values = {"sin f32[8]", "tanh f32[8]"};
  EXPECT_THAT(Say(figures).title, EndsWith(": its ops change (sin f32[8] → tanh f32[8])"));
}

TEST(RecompilationWords, HowManyGraphsAreKept) {
  const RecompileCause full{.type = ReasonType::kCacheEviction, .note = note::OthersSince{8, 8}};
  EXPECT_EQ(SayOf(full).why,
            "At least as many other graphs were compiled since as torch_xla keeps (8).");
  EXPECT_EQ(SayOf(full, Framework::kCpp).why,
            "At least as many other graphs were compiled since as the runtime keeps (8).");
  const RecompileCause few{.type = ReasonType::kCacheEviction, .note = note::OthersSince{1, 8}};
  EXPECT_THAT(SayOf(few).why, HasSubstr("Only 1 other graph was compiled since"));
}

TEST(RecompilationWords, CostsSayHowTheyWereMeasured) {
  RecompileFigures figures;
  EXPECT_THAT(Say(figures).cost_note, HasSubstr("not measured"));
  figures.cost.trace_ns = 30;
  EXPECT_EQ(Say(figures).cost_note, "time of tracing them on the host; the log does not time XLA");
  figures.cost.timed = 2;
  figures.cost.sources = {TimeSource::kProfile, TimeSource::kMetrics};
  EXPECT_FALSE(Say(figures).tells_share);
  figures.cost.in_profile = 1, figures.cost.profile_ns = 2'000'000'000;
  figures.cost.profile_share = 0.25;
  EXPECT_TRUE(Say(figures).tells_share);
  EXPECT_EQ(
      Say(figures).cost_note,
      "to compile 2 of 3 times, from the metrics and the profile; the others were not measured; 30 ns of it is tracing and lowering on the host; the profile covers 1 of them, 25 % of its 2 s");
  figures.cost.first_executions_ns = 5'000'000;
  EXPECT_THAT(Say(figures).cost_note,
              HasSubstr("; for 5 ms of it, first executions took longer than later ones;"));
}

TEST(RecompilationWords, ACauseThatIsCarriedOverIsLikely) {
  RecompileFigures figures;
  figures.cause.seen_in = SeenIn::kOptimizedHlo;
  figures.cause.node = "slice";
  figures.carried = 2;
  EXPECT_EQ(
      Say(figures).why,
      "The optimised HLO shows it. For 2 of 3 compiles no graph was captured; their counts and sizes in the log are equal to those of the others, so the cause is likely the same, which was seen once.");
}

TEST(RecompilationWords, TheShareMayBeOfTheWholeProcess) {
  RecompileFigures figures;
  figures.cost.timed = 3, figures.cost.in_profile = 1;
  figures.cost.sources = {TimeSource::kMetricsShare};
  figures.cost.profile_ns = 2'000'000'000, figures.cost.profile_share = 0.25;
  figures.cost.is_of_process = true;
  EXPECT_EQ(
      Say(figures).cost_note,
      "to compile 3 times, from equal shares of the metrics' deltas, if all compiles take equally long; 25 % of the 2 s that the process ran");
}

TEST(RecompilationWords, EvidenceHasALineEach) {
  RecompileFigures figures;
  figures.evidence.push_back(CompilesSeen{.compiles = 3,
                                          .at_site = 4,
                                          .steps = 10,
                                          .steps_from = StepsFrom::kSteps,
                                          .other_lines = {{{"/x/a.py", 30, ""}, 1}}});
  figures.evidence.push_back(std::nullopt);
  EXPECT_THAT(Say(figures).evidence,
              ElementsAre("3 of 4 compiles here; 10 steps seen; also called at /x/a.py:30 (1)",
                          "the two graphs that were compared"));
}

TEST(RecompilationWords, CountsAreJudged) {
  const CountSource reports{CountSource::Kind::kReports, 12};
  CountFigures figures{
      .verdict = CountVerdict::kMoreThanClean,
      .source = reports,
      .signals = {.compiles = 7, .steps = 14, .executions = 14, .clean = 3, .again = 6}};
  EXPECT_EQ(Say(figures).title,
            "7 compiles in 14 steps: a clean program with 1 graph per step makes about 3");
  EXPECT_EQ(
      Say(figures).why,
      "The source (12 metrics reports) holds only counts: it does not say when or why the program compiled.");
  EXPECT_EQ(Say(figures).cost_note, "not measured, because there is no CompileTime metric");
  figures.signals.is_cut = true;
  EXPECT_EQ(Say(figures).cost_note,
            "not measured, because CompileTime may be in the part that is missing");
  figures.known_compiles = 1;
  EXPECT_EQ(Say(figures).why,
            "Only 1 of these compiles is known one by one, from a profile or log. The others are "
            "only counted.");
  figures.known_compiles.reset();
  figures.signals.between = CountSignals::Between{.before = 5, .more = 2};
  EXPECT_THAT(Say(figures).why, HasSubstr("The count rose from 5 to 7 between the last two."));
  figures.verdict = CountVerdict::kClean;
  EXPECT_EQ(
      Say(figures).title,
      "it is not recompilation: 7 compiles in 14 steps, as many as a clean program makes at first");
  figures.verdict = CountVerdict::kGoesOnInEachReport;
  EXPECT_EQ(Say(figures).title,
            "7 compiles in 14 steps, in 12 separate reports: the program continues to compile");
  figures.verdict = CountVerdict::kExecutionsNotTold;
  EXPECT_THAT(Say(figures).title,
              HasSubstr("this may be recompilation or several graphs per step"));
}

TEST(RecompilationWords, OperationsOutsideOfJit) {
  OutsideJitFigures figures{.operations = {{{"scan", 3}, {"broadcast_in_dim", 9}}, 0}};
  figures.lines = {{{"/u/fit.py", 40, ""}, 3, 6'000'000'000},
                   {{"/u/model.py", 8, ""}, 9, 180'000'000}};
  figures.evidence = {figures.lines[0], figures.operations};
  auto say = [&] {
    return SayRecompilation({.count = 12, .cost_ns = 1, .figures = figures}, Framework::kJax);
  };
  EXPECT_EQ(say().title,
            "12 programs of single operations, called outside of jit (scan 3, broadcast_in_dim 9)");
  EXPECT_THAT(
      say().why,
      HasSubstr(
          ". Most time went to fit.py:40 (3 programs, 6 s), model.py:8 (9 programs, 180 ms)."));
  EXPECT_THAT(say().evidence,
              ElementsAre("fit.py:40 (3 programs, 6 s)", "scan 3, broadcast_in_dim 9"));
  figures.lines.clear();
  EXPECT_EQ(say().unseen->what, "their lines");
  figures.at_start = true;
  EXPECT_THAT(say().title, HasSubstr("outside of jit at the start"));
}

// Regression: a counter in the static fields of a state was taken for another container.
TEST(RecompilationWords, AStaticFieldHasAnotherRemedyThanOtherContainers) {
  RecompileCause cause{.type = ReasonType::kInputStructureChange,
                       .node = "argument 0",
                       .before = "(0,)",
                       .after = "(1,)",
                       .of_class = "state.TrainState",
                       .seen_in = SeenIn::kJaxExplanation};
  const Words words = SayOf(cause, Framework::kJax);
  EXPECT_THAT(words.title,
              HasSubstr("a static field of state.TrainState in argument 0 changes ((0,) → (1,))"));
  EXPECT_THAT(words.advice, HasSubstr("Make the field an array"));
  cause.of_class.clear();
  EXPECT_THAT(SayOf(cause, Framework::kJax).title, HasSubstr("the structure of its inputs"));
}

}  // namespace
}  // namespace xlaprof

// Tests reasons that a source states itself (table compile_reason), and lists of inputs without a
// graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/analyzer.h"
#include "analyzers/recompilation.h"
#include "profiler/store/store.h"

namespace xlaprof {
extern const Analyzer recompilation;
namespace {

using testing::ElementsAre;

RecompileFigures StatedFiguresOf(const Finding& finding) {
  const auto* figures = std::any_cast<RecompileFigures>(&finding.figures);
  EXPECT_NE(figures, nullptr);
  return figures == nullptr ? RecompileFigures() : *figures;
}
using testing::IsEmpty;

// Adds calls of one jitted function, each of which compiled.
class Calls {
 public:
  Calls() {
    Exec(
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'r', NULL, 1, ''); INSERT INTO source (id, path, format, "
        "imported) VALUES (1, 'jax.log', 'jax_log', 1); INSERT INTO process (id, run_id, "
        "source_id, "
        "segment) VALUES (1, 1, 1, 0); INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/x/train.py', 9);");
  }
  void Exec(const std::string& sql) {
    absl::Status status = store.Exec(sql);
    ASSERT_TRUE(status.ok()) << status << "\n" << sql;
  }
  // `shape` is that of the only input, or "" if the log does not have it.
  void Compile(const std::string& shape, const std::string& attributes = "") {
    ++id_;
    if (!shape.empty()) {
      Exec(
          fmt::format("INSERT INTO graph (id, process_id, name, node_count, input_count, "
                      "printed_as) VALUES ({0}, 1, 'f', 1, 1, 'signature'); INSERT INTO graph_node "
                      "(graph_id, idx, op, shape, operands, attributes) VALUES ({0}, 0, "
                      "'parameter', '{1}', '', nullif('{2}', ''))",
                      id_, shape, attributes));
    }
    Exec(
        fmt::format("INSERT INTO compile (id, process_id, ordinal, graph_id, dur_ns, trace_ns, "
                    "dur_from, cause, function, site_id, inferred) VALUES ({0}, 1, {0}, {1}, 1000, "
                    "10, 'log', 'call', 'f', 1, 0)",
                    id_, shape.empty() ? "NULL" : fmt::to_string(id_)));
  }
  // Makes the last call come from another line than the first.
  void CalledAt(int64_t line) {
    Exec(fmt::format(
        "INSERT OR IGNORE INTO site (id, function, file, line) VALUES ({0}, 'main', '/x/train.py', {0}); UPDATE "
        "compile SET site_id = {0} WHERE id = {1}",
        line, id_));
  }
  void Said(const std::string& type, const std::string& input, const std::string& before,
            const std::string& after) {
    Exec(fmt::format(
        "INSERT INTO compile_reason (compile_id, idx, stated_by, type, input, before, after, text) VALUES ({}, (SELECT count(*) FROM compile_reason "
        "WHERE compile_id = {}), 'jax_explanation', '{}', nullif('{}', ''), '{}', '{}', 'in JAX''s words')",
        id_, id_, type, input, before, after));
  }
  Findings Find() const {
    auto findings = Analyze(xlaprof::Run(store), recompilation);
    EXPECT_TRUE(findings.ok()) << findings.status();
    return *std::move(findings);
  }
  Finding TheFinding() const {
    const Findings findings = Find();
    EXPECT_EQ(findings.size(), 1u);
    return findings.empty() ? Finding() : findings.front();
  }
  Store store = Store::CreateTemporary().value();

 private:
  int64_t id_ = 0;
};

TEST(RecompileSaid, TheSourceIsBelieved) {
  Calls calls;
  calls.Compile("f32[8,4]");
  for (int size : {7, 6, 5}) {
    calls.Compile("f32[9,9]");  // the graphs must not matter
    calls.Said("shape_change", "x", "f32[8,4]", fmt::format("f32[{},4]", size));
  }
  const Finding finding = calls.TheFinding();
  const RecompileFigures figures = StatedFiguresOf(finding);
  EXPECT_EQ(finding.count, 3);
  EXPECT_EQ(figures.site.function, "f");
  EXPECT_EQ(figures.cause.input, "x");
  ASSERT_TRUE(figures.sizes.has_value());
  EXPECT_EQ(figures.sizes->shape.text(), "f32[8,4]");
  EXPECT_THAT(figures.sizes->sizes, ElementsAre(Sizes{8}, Sizes{7}, Sizes{6}, Sizes{5}));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(finding.subject.file, "/x/train.py");
  EXPECT_EQ(finding.subject.line, 9);
  EXPECT_EQ(finding.cost_ns, 3030);
  EXPECT_EQ(figures.cost.trace_ns, 30);
  EXPECT_EQ(figures.cause.seen_in, SeenIn::kJaxExplanation);
}

// Regression: a setting for integers was advised for the p of a dropout. The first guard compares a constant.
TEST(RecompileSaid, ANumberOfWhichAnOpNeedsTheValueIsTold) {
  Calls calls;
  calls.Compile("f32[8]");
  for (int i = 0; i < 3; ++i) {
    calls.Compile("f32[8]");
    calls.Said("constant_change", "self.p", fmt::format("0.{}", i), fmt::format("0.{}", i + 1));
  }
  calls.Exec(
      "UPDATE compile SET cause = 'compiled_function'; UPDATE compile_reason SET stated_by = 'guard', "
      "text = iif(before = '0.0', text, '0/1: ___as_tensor(self.p).item() == 0.1')");
  EXPECT_EQ(StatedFiguresOf(calls.TheFinding()).cause.constant, ConstantKind::kNeededNumber);
}

// Of several inputs that change together, the one that changes in most ways is told, because the others
// follow from the same batch.
TEST(RecompileSaid, TheInputThatChangesInMostWaysIsTold) {
  Calls calls;
  calls.Compile("f32[8,4]");
  for (int rows : {7, 6, 5, 3}) {
    calls.Compile("f32[9,9]");
    calls.Said("shape_change", "label", "i32[8]", fmt::format("i32[{}]", rows));
    calls.Said("shape_change", "tokens", "i32[8,10]", fmt::format("i32[{},{}]", rows, 80 / rows));
    calls.Said("shape_change", "weight", "f32[8]", fmt::format("f32[{}]", rows));
  }
  const RecompileFigures figures = StatedFiguresOf(calls.TheFinding());
  EXPECT_EQ(figures.cause.input, "tokens");
  ASSERT_TRUE(figures.sizes && figures.padding);
  EXPECT_THAT(figures.sizes->dimensions, ElementsAre(0, 1));
  EXPECT_EQ(figures.padding->saved, 3) << SizeList(figures.padding->buckets.buckets);
}

TEST(RecompileSaid, EachTypeIsItsOwn) {
  const struct {
    const char *type, *input, *before, *after, *name;
    ConstantKind constant = ConstantKind::kInOp;
  } kTypes[] = {
      {"redefined_function", "/x/a.py:3", "", "", ""},
      {"constant_change", "static argument 1", "0", "1", "static argument 1",
       ConstantKind::kStaticArgument},
      {"environment_change", "jax_enable_x64", "0", "1", "jax_enable_x64"},
      {"input_structure_change", "argument state", "*", "None", "argument state"},
      {"sharding_change", "x", "f32[8]", "f32[8@d]", "input x"},
      {"dtype_change", "s", "f32[]", "i32[]", "input s"},
  };
  for (const auto& type : kTypes) {
    Calls calls;
    calls.Compile("");
    calls.Compile("");
    calls.Said(type.type, type.input, type.before, type.after);
    const Finding finding = calls.TheFinding();
    const RecompileCause cause = StatedFiguresOf(finding).cause;
    EXPECT_EQ(TextOf(finding.reason->type), type.type);
    EXPECT_EQ(finding.reason->node.value_or(""), type.name);
    EXPECT_EQ(cause.constant, type.constant);
    EXPECT_EQ(cause.seen_in, SeenIn::kJaxExplanation);
    EXPECT_EQ(cause.before, type.before);
    EXPECT_EQ(cause.after, type.after);
  }
}

// Regression: the first compile was counted and saved, because JAX compared it with a call that was
// only traced.
TEST(RecompileSaid, TheFirstIsNoRecompilation) {
  Calls calls;
  for (int size : {7, 6, 5}) {
    calls.Compile("");
    calls.Said("shape_change", "x", "f32[8,4]", fmt::format("f32[{},4]", size));
  }
  EXPECT_EQ(calls.TheFinding().count, 2);
  EXPECT_EQ(calls.TheFinding().cost_ns, 2 * 1010);
  Calls one;
  one.Compile("");
  one.Said("dtype_change", "x", "f32[8]", "f64[8]");
  EXPECT_THAT(one.Find(), testing::IsEmpty());
}

// Tracing is paid again when a program comes from the persistent cache; compiling is not.
TEST(RecompileSaid, LoadingFromTheCacheIsNotSaved) {
  Calls calls;
  for (int i = 0; i < 3; ++i) {
    calls.Compile("");
    calls.Said("redefined_function", "/x/a.py:3", "", "");
  }
  EXPECT_EQ(calls.TheFinding().saving_ns, 2 * 1010);
  calls.Exec("UPDATE compile SET persistent_hit = 1 WHERE id = 3");
  EXPECT_EQ(calls.TheFinding().count, 1);
  EXPECT_EQ(calls.TheFinding().saving_ns, 1010 + 10);
  EXPECT_FALSE(StatedFiguresOf(calls.TheFinding()).is_only_loaded);
  calls.Exec("UPDATE compile SET persistent_hit = 1");
  EXPECT_EQ(calls.TheFinding().count, 2);
  EXPECT_TRUE(StatedFiguresOf(calls.TheFinding()).is_only_loaded);
  EXPECT_EQ(calls.TheFinding().saving_ns, 2 * 10);
  EXPECT_EQ(calls.TheFinding().cost_ns, 2 * 1010);
}

// Each source is believed, whatever else is known of the compile.
TEST(RecompileSaid, WhoStatesItIsTold) {
  for (const auto& [stated_by, seen_in] :
       {std::pair("jax_explanation", SeenIn::kJaxExplanation), std::pair("guard", SeenIn::kGuard),
        std::pair("cache_key", SeenIn::kCacheKey)}) {
    Calls calls;
    calls.Compile("");
    calls.Compile("");
    calls.Said("shape_change", "x", "f32[8]", "f32[7]");
    calls.Exec(fmt::format("UPDATE compile_reason SET stated_by = '{}'", stated_by));
    EXPECT_EQ(StatedFiguresOf(calls.TheFinding()).cause.seen_in, seen_in) << stated_by;
  }
}

// Static fields of two classes in one argument have two remedies.
TEST(RecompileSaid, AStaticFieldIsToldWithItsClass) {
  Calls calls;
  calls.Compile("");
  for (const char* of_class : {"state.TrainState", "state.Schedule"}) {
    for (const char* after : {"(1,)", "(2,)"}) {
      calls.Compile("");
      calls.Said("input_structure_change", "argument state", "(0,)", after);
      calls.Exec(fmt::format("UPDATE compile_reason SET of_class = '{}' WHERE of_class IS NULL",
                             of_class));
    }
  }
  const Findings findings = calls.Find();
  ASSERT_EQ(findings.size(), 2u);
  for (const Finding& finding : findings) {
    const RecompileFigures figures = StatedFiguresOf(finding);
    EXPECT_EQ(finding.count, 2);
    EXPECT_THAT(figures.cause.of_class, testing::StartsWith("state."));
    EXPECT_THAT(figures.values, ElementsAre("(0,)", "(1,)", "(2,)"));
  }
}

// JAX names the function inside a partial. Only a lambda or an inner function is made where it is
// defined.
TEST(RecompileSaid, ADefinitionMayNotMakeTheObject) {
  for (const bool makes : {false, true}) {
    Calls calls;
    for (int i = 0; i < 2; ++i) {
      calls.Compile("");
      calls.Said("redefined_function", "/x/a.py:3", "", makes ? "/x/a.py:3" : "");
    }
    const Finding finding = calls.TheFinding();
    const CauseNote note = StatedFiguresOf(finding).cause.note;
    ASSERT_TRUE(std::holds_alternative<note::DefinedAt>(note));
    EXPECT_EQ(std::get<note::DefinedAt>(note).makes_the_object, makes);
    EXPECT_EQ(finding.subject.line, 9);
    EXPECT_EQ(finding.reason->after, std::nullopt);
  }
}

// JAX 0.12 does not explain static arguments. Nothing else is left if the types are equal.
TEST(RecompileSaid, EqualTypesWithoutExplanationAreAStaticArgument) {
  Calls calls;
  for (int i = 0; i < 3; ++i) {
    calls.Compile("f32[8,4]");
    if (i > 0) calls.Said("unprinted_change", "", "", "");
  }
  const Finding finding = calls.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kConstantChange);
  EXPECT_EQ(StatedFiguresOf(finding).cause.constant, ConstantKind::kStaticArgument);
  EXPECT_EQ(finding.reason->before, std::nullopt);
  EXPECT_EQ(finding.certainty, Certainty::kInferred);
  EXPECT_EQ(finding.cost_ns, 2 * 1010);
  EXPECT_EQ(finding.cost_interval_ns, std::nullopt);
  // JAX would have named other types, so it compared with a call that is not in the log.
  Calls without_types, of_other_types;
  for (int i = 0; i < 3; ++i) {
    without_types.Compile("");
    without_types.Said("unprinted_change", "", "", "");
    of_other_types.Compile(fmt::format("f32[{}]", i + 8));
    if (i > 0) of_other_types.Said("unprinted_change", "", "", "");
  }
  for (const Calls* calls : {&without_types, &of_other_types}) {
    const Finding unknown = calls->TheFinding();
    EXPECT_EQ(unknown.reason->type, ReasonType::kUnknown);
    EXPECT_EQ(unknown.certainty, Certainty::kMeasured);
    EXPECT_TRUE(std::holds_alternative<note::JaxSays>(StatedFiguresOf(unknown).cause.note));
  }
}

// A function that two lines call with other types needs two programs.
TEST(RecompileSaid, ACallAtAnotherLineIsNoRecompilation) {
  Calls calls;
  for (int64_t line : {14, 30}) {
    calls.Compile(fmt::format("f32[{}]", line));
    calls.CalledAt(line);
  }
  calls.Exec("UPDATE compile SET function = 'forward'");  // many functions have the name f
  EXPECT_THAT(calls.Find(), testing::IsEmpty());
  calls.Compile("f32[7]");
  calls.CalledAt(30);
  calls.Exec("UPDATE compile SET function = 'forward'");
  EXPECT_EQ(calls.TheFinding().count, 2);  // line 30 keeps compiling
}

// An array may be given a type where a Python number was used before.
TEST(RecompileSaid, AWeakTypeAtAnotherLineCouldShareTheProgram) {
  Calls calls;
  for (int64_t line : {14, 30}) {
    calls.Compile("");
    calls.CalledAt(line);
  }
  calls.Exec("UPDATE compile SET function = 'forward'");
  calls.Said("dtype_change", "s", "f32[]{weak_type=True}", "f32[]{weak_type=False}");
  EXPECT_TRUE(StatedFiguresOf(calls.TheFinding()).cause.is_weak_type());
}

TEST(RecompileSaid, WordsAloneAreQuoted) {
  Calls calls;
  calls.Compile("");
  calls.Compile("");
  calls.Said("unknown", "", "", "");
  EXPECT_EQ(calls.TheFinding().reason->type, ReasonType::kUnknown);
  const CauseNote note = StatedFiguresOf(calls.TheFinding()).cause.note;
  ASSERT_TRUE(std::holds_alternative<note::JaxSays>(note));
  EXPECT_EQ(std::get<note::JaxSays>(note).quote, "in JAX's words");
}

// Regression: a function's recompiles were blamed on the line of its first call.
TEST(RecompileSaid, TheLineThatCallsMost) {
  Calls calls;
  calls.Compile("");
  for (int64_t line : {14, 14, 30, 14, 14, 30}) {
    calls.Compile("");
    calls.CalledAt(line);
    calls.Said("shape_change", "x", "f32[8]", fmt::format("f32[{}]", 50 + line));
  }
  calls.Exec("UPDATE compile SET function = 'forward'");  // many functions have the name f
  const Finding finding = calls.TheFinding();
  EXPECT_EQ(finding.subject.line, 14);
  EXPECT_EQ(finding.reason->location->text(), "/x/train.py:14");
  const std::vector<std::optional<CompilesSeen>> evidence = StatedFiguresOf(finding).evidence;
  ASSERT_FALSE(evidence.empty());
  ASSERT_TRUE(evidence[0].has_value());
  ASSERT_EQ(evidence[0]->other_lines.size(), 1u);
  EXPECT_EQ(evidence[0]->other_lines[0].first.text(), "/x/train.py:30");
  EXPECT_EQ(evidence[0]->other_lines[0].second, 2);
}

// Regression: several settings were reported as one; JAX up to 0.5 does not name them.
TEST(RecompileSaid, SettingsAreTheirOwn) {
  Calls calls;
  calls.Compile("");
  for (const char* setting : {"jax_enable_x64", "jax_numpy_rank_promotion", ""}) {
    calls.Compile("");
    calls.Said("environment_change", setting, "", "");
  }
  const Findings findings = calls.Find();
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_TRUE(std::ranges::any_of(findings, [](const Finding& finding) {
    const RecompileFigures figures = StatedFiguresOf(finding);
    return figures.cause.type == ReasonType::kEnvironmentChange && finding.count == 1 &&
           figures.cause.node.empty() && figures.values.empty();
  }));
}

TEST(RecompileSaid, WeakTypesAreNotCut) {
  Calls calls;
  calls.Compile("");
  calls.Compile("");
  calls.Said("dtype_change", "s", "f32[]{weak_type=True}", "f32[]{weak_type=False}");
  EXPECT_EQ(calls.TheFinding().words.title,
            "`f` recompiled once: input s has a weak type in some calls and not in others "
            "(f32[]{weak_type=True} → f32[]{weak_type=False})");
}

TEST(RecompileSaid, TextsAreBounded) {
  Calls calls;
  calls.Compile("");
  calls.Compile("");
  calls.Said("constant_change", "static argument", "0", std::string(100'000, '7'));
  EXPECT_LE(calls.TheFinding().reason->after->size(), 1003u);
}

// Without explanations, the lists of inputs are compared.
TEST(RecompileSaid, ListsOfInputsShowShapes) {
  Calls calls;
  for (int size : {8, 7, 6}) calls.Compile(fmt::format("f32[{},4]", size));
  const Finding finding = calls.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(StatedFiguresOf(finding).cause.seen_in, SeenIn::kSignature);
}

TEST(RecompileSaid, TheSameInputsAreNoReason) {
  Calls calls;
  for (int i = 0; i < 4; ++i) calls.Compile("f32[8,4]");
  const Finding finding = calls.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kUnknown);
  EXPECT_TRUE(std::holds_alternative<note::SameInputTypes>(StatedFiguresOf(finding).cause.note));
  EXPECT_EQ(StatedFiguresOf(finding).site.cut, CutKind::kCall);
}

TEST(RecompileSaid, AFirstCompileIsNone) {
  Calls calls;
  calls.Compile("f32[8,4]");
  EXPECT_THAT(calls.Find(), IsEmpty());
}

}  // namespace
}  // namespace xlaprof

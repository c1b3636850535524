#include "analyzers/kinds.h"
#include "analyzers/recompilation.h"
#include "analyzers/run/cache_use.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

// Adds three compiles of one function, between which JAX's caches are cleared. `why` is the reason
// that the log gives for the later ones; "" for a profile alone.
void AddCompiles(TimedRun& run, const std::string& why, bool clears) {
  const int64_t host = run.HostThread();
  run.Exec("INSERT INTO site (id, file, line, function) VALUES (1, '/x/train.py', 35, 'main')");
  for (int i = 0; i < 3; ++i) {
    run.Exec(fmt::format(
        "INSERT INTO graph (id, name, printed_as, node_count) VALUES ({0}, 'jit_step', "
        "'hlo_optimized', 1);"
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES ({0}, 0, 'parameter', "
        "'f32[8]', '');"
        "INSERT INTO compile (id, process_id, ordinal, graph_id, ts_ns, dur_ns, cause, function, "
        "site_id, inferred) VALUES ({0}, 1, {0}, {0}, {0} * 1000000000, 900000000, "
        "'call', 'step', 1, 0)",
        i + 1));
    if (i > 0 && !why.empty())
      run.Exec(fmt::format(
          "INSERT INTO compile_reason (compile_id, idx, stated_by, type, text) VALUES ({}, 0, 'jax_explanation', '{}', '')",
          i + 1, why));
    if (!clears) continue;
    const int64_t ts_us = 1'000'000 * i + 950'000;  // before the next compile
    run.Event(host, TextOf(Category::kPython), "$memory.py:6 release", ts_us, 20'000);
    run.Event(host, TextOf(Category::kPython), "$api.py:2592 clear_caches", ts_us + 5'000, 9'000);
  }
}

TEST(CacheClears, TheUsersFunctionThatClearsIsThePlace) {
  for (const char* why : {"", "cache_eviction"}) {
    TimedRun run;
    AddCompiles(run, why, true);
    const Findings findings = run.Run(recompilation);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].reason->type, ReasonType::kCacheEviction) << why;
    EXPECT_EQ(findings[0].count, 2);
    EXPECT_EQ(findings[0].subject.file, "memory.py");
    EXPECT_EQ(findings[0].subject.line, 6);
    EXPECT_EQ(findings[0].subject.function, "release");
  }
}

TEST(CacheClears, ALogAloneNamesTheCallOfTheFunction) {
  TimedRun run;
  AddCompiles(run, "cache_eviction", false);
  const Findings findings = run.Run(recompilation);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].subject.file, "/x/train.py");
  EXPECT_EQ(findings[0].words.title,
            "`step` recompiled 2 times: JAX's caches were cleared since it was compiled");
}

TEST(CacheClears, WithoutSuchACallTheCauseIsUnknown) {
  TimedRun run;
  AddCompiles(run, "", false);
  EXPECT_EQ(run.Run(recompilation).at(0).reason->type, ReasonType::kUnknown);
}

}  // namespace
}  // namespace xlaprof

#include "analyzers/cache_not_used.h"

#include <gmock/gmock.h>

#include "analyzers/run/cache_use.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer cache_not_used;

namespace {

using testing::IsEmpty;
using testing::SizeIs;

const CacheNotUsedFigures& CacheFiguresOf(const Finding& finding) {
  return std::any_cast<const CacheNotUsedFigures&>(finding.figures);
}

// Programs that were looked for in caches.
class Caches : public TimedRun {
 public:
  void Process(int64_t id) {
    Exec(fmt::format("INSERT INTO process (id, run_id, source_id, segment) VALUES ({}, 1, 1, 0)",
                     id));
  }
  // Returns the id of a compile that takes `dur_ms`.
  int64_t Compile(int64_t dur_ms, int64_t process_id = 1) {
    ++compile_;
    Exec(fmt::format(
        "INSERT INTO compile (id, process_id, ordinal, function, dur_ns, dur_from, cause, "
        "inferred) VALUES ({0}, {1}, {0}, 'f{0}', {2}, 'log', 'call', 0)",
        compile_, process_id, dur_ms * 1'000'000));
    return compile_;
  }
  void LookUp(int64_t compile_id, const std::string& cache, const std::string& result,
              const std::string& not_stored = "", const std::string& key = "",
              const std::string& saved_ns = "NULL") {
    Exec(fmt::format(
        "INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, key, is_stored, "
        "not_stored, least_ns, saved_ns) VALUES ((SELECT process_id FROM compile WHERE id = {0}), {1}, "
        "{0}, '{2}', '{3}', nullif('{4}', ''), NULL, nullif('{5}', ''), NULL, {6})",
        compile_id, lookup_++, cache, result, key, not_stored, saved_ns));
  }
  Findings Find() { return Run(cache_not_used); }

 private:
  int64_t compile_ = 0, lookup_ = 0;
};

TEST(CacheNotUsed, Empty) { EXPECT_THAT(Caches().Find(), IsEmpty()); }

TEST(CacheNotUsed, ACacheThatHasTheProgramIsUsed) {
  Caches run;
  run.LookUp(run.Compile(100), "jax_persistent", "hit");
  EXPECT_THAT(run.Find(), IsEmpty());
}

TEST(CacheNotUsed, ProgramsBelowTheThreshold) {
  Caches run;
  run.LookUp(run.Compile(60'000), "jax_persistent", "miss");
  for (int i = 0; i < 20; ++i)
    run.LookUp(run.Compile(500), "jax_persistent", "miss", "compiled_fast");
  run.Exec("UPDATE cache_lookup SET least_ns = 1000000000 WHERE not_stored IS NOT NULL");
  Findings found = run.Find();
  ASSERT_THAT(found, SizeIs(2));
  const Finding& fast = found[0].reason->type == ReasonType::kBelowThreshold ? found[0] : found[1];
  EXPECT_EQ(fast.reason->type, ReasonType::kBelowThreshold);
  EXPECT_EQ(fast.count, 20);
  EXPECT_EQ(fast.cost_ns, 10'000'000'000);
  EXPECT_EQ(fast.severity, Severity::kWarning);
  EXPECT_EQ(fast.certainty, Certainty::kInferred);
  EXPECT_EQ(fast.saving_interval_ns, std::pair(int64_t{0}, int64_t{10'000'000'000}));
  EXPECT_EQ(CacheFiguresOf(fast).least_ns, 1'000'000'000);
  EXPECT_EQ(CacheFiguresOf(fast).sought, 21);
  const Finding& missed = &fast == &found[0] ? found[1] : found[0];
  EXPECT_EQ(missed.reason->type, ReasonType::kEmptyCache);
  EXPECT_EQ(missed.severity, Severity::kInfo);
  EXPECT_EQ(missed.count, 1);
}

TEST(CacheNotUsed, AWarmRunProvesWhatACacheSaves) {
  Caches run;
  run.Process(2);
  run.LookUp(run.Compile(7'780), "jax_persistent", "miss", "", "jit_big-1");
  run.LookUp(run.Compile(370, 2), "jax_persistent", "hit", "", "jit_big-1");
  const Findings found = run.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason->type, ReasonType::kEmptyCache);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].certainty, Certainty::kMeasured);
  EXPECT_EQ(found[0].saving_ns, 7'410'000'000);
  EXPECT_EQ(found[0].saving_interval_ns, std::pair(int64_t{7'410'000'000}, int64_t{7'410'000'000}));
  EXPECT_EQ(CacheFiguresOf(found[0]).loaded, 1);
}

TEST(CacheNotUsed, SettingsThatKeepProgramsOutOfTheCacheAreAWarning) {
  for (const std::string why : {"disabled", "write_failed", "host_callback"}) {
    Caches run;
    run.LookUp(run.Compile(20'000), "jax_persistent", "miss", why);
    const Findings found = run.Find();
    ASSERT_THAT(found, SizeIs(1)) << why;
    EXPECT_EQ(found[0].reason->type, ReasonType::kNoCache);
    EXPECT_EQ(found[0].severity, why == "host_callback" ? Severity::kInfo : Severity::kWarning)
        << why;
  }
  // Another process of the job writes the program.
  Caches run;
  run.LookUp(run.Compile(20'000), "jax_persistent", "miss", "other_process");
  EXPECT_EQ(run.Find()[0].reason->type, ReasonType::kEmptyCache);
}

TEST(CacheNotUsed, ARunWithoutACacheIsMentionedIfItCompilesForLong) {
  Caches quick, slow;
  quick.LookUp(quick.Compile(9'000), "jax_persistent", "bypass", "disabled");
  EXPECT_THAT(quick.Find(), IsEmpty());
  slow.LookUp(slow.Compile(11'000), "jax_persistent", "bypass", "disabled");
  ASSERT_THAT(slow.Find(), SizeIs(1));
  EXPECT_EQ(slow.Find()[0].reason->type, ReasonType::kNoCache);
  EXPECT_EQ(slow.Find()[0].severity, Severity::kInfo);
  EXPECT_FALSE(CacheFiguresOf(slow.Find()[0]).was_asked);
}

// A compilation of torch.compile asks two caches. What Dynamo does is in neither.
TEST(CacheNotUsed, TwoCachesOfOneCompilation) {
  Caches run;
  const int64_t missed = run.Compile(10'000), served = run.Compile(2'000);
  run.LookUp(missed, "aot_autograd", "miss", "", "a1");
  run.LookUp(missed, "inductor", "miss", "", "i1");
  run.LookUp(served, "aot_autograd", "bypass");
  run.LookUp(served, "inductor", "hit", "", "i2", "3000000000");
  run.Exec(
      fmt::format("INSERT INTO compile_phase VALUES ({0}, 'dynamo', 1000000000), ({0}, 'inductor', "
                  "9000000000)",
                  missed));
  const Findings found = run.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason->type, ReasonType::kEmptyCache);
  EXPECT_EQ(found[0].count, 1);
  EXPECT_EQ(found[0].cost_ns, 9'000'000'000);
  const CacheNotUsedFigures& figures = CacheFiguresOf(found[0]);
  EXPECT_THAT(figures.caches, SizeIs(2));
  EXPECT_EQ(figures.served, 1);
  EXPECT_EQ(figures.served_saved_ns, 3'000'000'000);
}

// The later run finds the program in the first cache, and does not ask the second one.
TEST(CacheNotUsed, AWarmRunOfTorchCompile) {
  Caches run;
  run.Process(2);
  const int64_t cold = run.Compile(10'000), warm = run.Compile(1'500, 2);
  run.LookUp(cold, "aot_autograd", "miss", "", "a1");
  run.LookUp(cold, "inductor", "miss", "", "i1");
  run.LookUp(warm, "aot_autograd", "hit", "", "a1", "8000000000");
  run.Exec(
      fmt::format("INSERT INTO compile_phase VALUES ({0}, 'dynamo', 1000000000), ({0}, 'inductor', "
                  "9000000000), ({1}, 'dynamo', 1000000000), ({1}, 'aot_autograd', 500000000)",
                  cold, warm));
  const Findings found = run.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].certainty, Certainty::kMeasured);
  EXPECT_EQ(found[0].cost_ns, 9'000'000'000);
  EXPECT_EQ(found[0].saving_ns, 8'500'000'000);
}

// Processes of a job compile at the same time, so their times are not added.
TEST(CacheNotUsed, SeveralProcesses) {
  Caches run;
  run.Process(2);
  run.LookUp(run.Compile(3'000), "jax_persistent", "miss", "write_failed", "a");
  run.LookUp(run.Compile(4'000, 2), "jax_persistent", "miss", "write_failed", "a");
  const Findings found = run.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cost_ns, 4'000'000'000);
  EXPECT_EQ(CacheFiguresOf(found[0]).processes, 2);
}

}  // namespace
}  // namespace xlaprof

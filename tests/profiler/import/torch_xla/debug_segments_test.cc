// Tests how a log that holds several runs is divided.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"
#include "tests/profiler/import/torch_xla/debug_log_text.h"

namespace xlaprof {
extern const Dialect debug_log;
namespace {

using testing::ElementsAre;

constexpr const char* kRuns =
    "SELECT segment, (SELECT count(*) FROM compile WHERE process_id = p.id), (SELECT count(*) FROM "
    "execution WHERE "
    "process_id = p.id), "
    "(SELECT count(*) FROM profiler_line WHERE process_id = p.id), (SELECT count(*) FROM fallback "
    "WHERE process_id = "
    "p.id) FROM process p ORDER BY p.id";

std::string ProfilerLine(int steps) {
  return fmt::format(
      "pt-xla-profiler: TransferFromDeviceTime too frequent: {} counts during {} steps\n",
      2 * steps, steps);
}

// Returns a log of facts: "Ca Ea" is a compilation and an execution of graph a.
std::string Log(std::string_view facts) {
  std::string out;
  for (size_t i = 0; i + 1 < facts.size(); i += 3) {
    std::string hash = fmt::format("{}0", facts[i + 1]);
    out += facts[i] == 'C' ? Compilation(hash) : Execution(hash);
  }
  return out;
}

TEST(DebugSegments, FirstGraphCompiledAgainIsARestart) {
  auto in = ImportText(debug_log, Log("Ca Ea Cb Eb Eb Eb Ca Ea Cb Eb"));
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|2|4|0|0", "1|2|2|0|0"));
  EXPECT_THAT(in.Rows("SELECT min(ordinal), max(ordinal) FROM (SELECT process_id, ordinal FROM "
                      "compile UNION ALL "
                      "SELECT process_id, ordinal FROM execution) "
                      "GROUP BY process_id"),
              ElementsAre("0|5", "0|3"));
  in = ImportText(debug_log, Log("Ca Ea Ea Ca Ea Ea Ca Ea Ea"));
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|1|2|0|0", "1|1|2|0|0", "2|1|2|0|0"));
  in = ImportText(debug_log, Log("Ca Cb Cc Ca Cb Cc"));  // level 1 prints no Execution blocks
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|3|0|0|0", "1|3|0|0|0"));
}

TEST(DebugSegments, AnotherGraphCompiledAgainIsNot) {
  auto in = ImportText(debug_log, Log("Ca Ea Cb Eb Eb Cb Eb"));
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|3|4|0|0"));
}

TEST(DebugSegments, AnEvictionIsNot) {
  // With a cache of two and four graphs in a cycle, no graph is ever found in the cache.
  auto in = ImportText(debug_log, Log("Ca Ea Cb Eb Cc Ec Cd Ed Ca Ea Cb Eb Cc Ec Cd Ed"));
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|8|8|0|0"));
  // Graph b stays in the cache, so the process is the same.
  in = ImportText(debug_log, Log("Ca Ea Cb Eb Eb Cc Ec Ca Ea Eb Cc Ec"));
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|5|7|0|0"));
  // Here the default cache overflows.
  std::string text = Log("Ca Ea Ea");
  for (int i = 0; i < 2049; ++i)
    text += Block("Compilation", {"Compilation Cause", "  user torch_xla.sync",
                                  fmt::format("  Graph Hash: {:x}", 0x1000 + i)});
  in = ImportText(debug_log, text + Log("Ca Ea"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1"));
}

TEST(DebugSegments, ARunThatNeverHitItsCacheNeedsManyGraphs) {
  std::string run;
  for (char hash = 'a'; hash <= 'f'; ++hash) run += Log(fmt::format("C{0} E{0}", hash));
  auto in = ImportText(debug_log, run + run);
  EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  for (int i = 0; i < 6; ++i)
    run += Compilation(fmt::format("{}1", i)) + Execution(fmt::format("{}1", i));
  in = ImportText(debug_log, run + run);
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|12|12|0|0", "1|12|12|0|0"));
}

TEST(DebugSegments, ProcessesThatShareALogAreNot) {
  // Two processes print without prefixes, one a little behind the other: the first goes on with its
  // own graph b.
  auto in = ImportText(debug_log, Log("Ca Ea Cb Eb Eb Ca Ea Eb Cb Eb Eb Eb"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  in = ImportText(debug_log, Log("Ca Ca Ea Ea Cb Cb Eb Eb Eb Eb"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1"));
}

TEST(DebugSegments, StepsThatFallAreARestart) {
  std::string run;
  for (int step = 1; step <= 20; ++step) run += ProfilerLine(step);
  std::string summary = kRuler + "\nUnlowered Op usage summary\n" + kDashes +
                        "\nFRAME (count=3):\n  f (/x/t.py:4)\n\n" + kRuler + "\n";
  auto in = ImportText(debug_log, run + summary + run + summary);
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|0|0|20|1", "1|0|0|20|1"));
  // Blocks before the first line of the new run belong to the new run.
  in = ImportText(debug_log, Log("Ca Ea") + run + summary + Execution("b0") + run);
  EXPECT_THAT(in.Rows(kRuns), ElementsAre("0|1|1|20|1", "1|0|1|20|0"));
}

TEST(DebugSegments, StepsOfSeveralProcessesAreNot) {
  std::string near, far;
  for (int step = 1; step <= 40; ++step) {
    for (int process = 0; process < 4; ++process) near += ProfilerLine(step + (process * 3) % 5);
    far += ProfilerLine(step + 100) + ProfilerLine(step + 20);
  }
  EXPECT_THAT(ImportText(debug_log, near).Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  EXPECT_THAT(ImportText(debug_log, far).Rows("SELECT count(*) FROM process"), ElementsAre("1"));
}

TEST(DebugSegments, ARestartOfSeveralProcessesIsOneSegmentEach) {
  std::string run;
  for (const char* prefix : {"[rank0]: ", "[rank1]: "})
    run += Compilation("a0", prefix) + Execution("a0", prefix) + Execution("a0", prefix);
  auto in = ImportText(debug_log, run + run);
  EXPECT_THAT(in.Rows("SELECT rank, segment FROM process ORDER BY rank, segment"),
              ElementsAre("0|0", "0|1", "1|0", "1|1"));
}

}  // namespace
}  // namespace xlaprof

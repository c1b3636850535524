// Tests what is read from the log of TorchTPU's cache of programs.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect torchtpu_log;
namespace {

using testing::ElementsAre;

std::string TorchtpuKey(std::string_view shapeless, std::string_view dimensions) {
  return fmt::format(
      "CompilationCacheKey{{shapeless_key={}, dimensions_key={}, compile_options_key=e6, id_key=}}",
      shapeless, dimensions);
}

std::string TorchtpuLine(int64_t micros, std::string_view text) {
  return fmt::format("I0000 00:00:1795563983.{:06}   23619 compilation_cache.cc:671] {}\n", micros,
                     text);
}

constexpr const char* kTorchtpuCompiles =
    "SELECT c.ordinal, c.ts_ns, c.dur_ns, c.dur_from, g.name FROM compile c JOIN graph g ON g.id = "
    "c.graph_id ORDER BY c.ordinal";

TEST(TorchtpuLog, LookupsAndDurations) {
  const std::string log =
      "libtpu not found.\n" +
      TorchtpuLine(100000, "Compilation cache STATIC MISS #1 for key: " + TorchtpuKey("a6", "c5")) +
      TorchtpuLine(100001,
                   "[TtPerf] Compilation cache MISS #1 for key: " + TorchtpuKey("a6", "c5")) +
      TorchtpuLine(100002, "[TtPerf] Scheduled compilation for key: " + TorchtpuKey("a6", "c5")) +
      TorchtpuLine(110001,
                   "[TtPerf] Compilation cache MISS #2 for key: " + TorchtpuKey("a6", "d7")) +
      TorchtpuLine(350000, "Compile duration for key " + TorchtpuKey("a6", "c5") + ": 197 ms") +
      TorchtpuLine(400000, "Compilation cache STATIC HIT for key: " + TorchtpuKey("a6", "c5")) +
      TorchtpuLine(500000, "Compile duration for key " + TorchtpuKey("a6", "d7") + ": 50 ms") +
      TorchtpuLine(600000,
                   TorchtpuKey("a6", "c5") +
                       "{compilation_duration=196.438416ms, last_read=2026, read_count=2}") +
      TorchtpuLine(600000, "CompilationCacheKey{shapeless_key=a6, dimensions");
  EXPECT_GT(torchtpu_log.sniff(log), 90);
  const auto in = ImportText(torchtpu_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kTorchtpuCompiles),
              ElementsAre("0|52999000|196438416|log|graph 00000000000000a6",
                          "2|349999000|50000000|log|graph 00000000000000a6"));
  EXPECT_THAT(in.Rows("SELECT ordinal, enqueue_ts_ns FROM execution"),
              ElementsAre("1|0", "3|10000000", "4|299999000"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM graph"), ElementsAre("2"));
  // Only the sizes of the second program differ.
  EXPECT_THAT(in.Rows("SELECT compile_id, type, before FROM compile_reason"),
              ElementsAre("2|shape_change|-"));
  EXPECT_THAT(in.Rows("SELECT format, dialects, framework FROM source"),
              ElementsAre("torchtpu_log|torchtpu_log|torchtpu"));
}

// With level 1 there are no lookups.
TEST(TorchtpuLog, LevelOne) {
  const auto in = ImportText(
      torchtpu_log,
      TorchtpuLine(1, "[TtPerf] Scheduled compilation for key: " + TorchtpuKey("a", "b")) +
          TorchtpuLine(2, "[TtPerf] Scheduled compilation for key: " + TorchtpuKey("c", "b")) +
          TorchtpuLine(3, "Compile duration for key " + TorchtpuKey("c", "b") + ": 12 ms"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT dur_ns FROM compile ORDER BY ordinal"), ElementsAre("-", "12000000"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM execution"), ElementsAre("0"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile_reason"), ElementsAre("0"));
}

constexpr const char* kTorchtpuTotals =
    "SELECT m.name, m.samples, m.accumulator FROM metrics_report r JOIN metric m ON m.report_id = "
    "r.id ORDER BY m.name";

std::string TotalsAtExit(std::string_view hits, int compilations) {
  return TorchtpuLine(9, "CompilationCache final stats: num_cache_reqs=90") +
         fmt::format(
             "num_cache_hits={}\nnum_compilations={}\npeak_compilation_memory_bytes=unknown\n",
             hits, compilations);
}

// Every program prints its totals at exit.
TEST(TorchtpuLog, TotalsAlone) {
  const std::string log = "step 1\n" + TotalsAtExit("84 {93.3%}", 6);
  EXPECT_GT(torchtpu_log.sniff(log), 0);
  const auto in = ImportText(torchtpu_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kTorchtpuTotals), ElementsAre("CompileTime|6|-", "ExecuteTime|90|-"));
  EXPECT_FALSE(ImportText(torchtpu_log, log.substr(0, log.find("num_comp")), true).status.ok());
}

TEST(TorchtpuLog, LookupsSayMoreThanTotals) {
  const auto in = ImportText(
      torchtpu_log,
      TorchtpuLine(1, "[TtPerf] Compilation cache MISS #1 for key: " + TorchtpuKey("a", "b")) +
          TotalsAtExit("0 {0.0%}", 1));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile"), ElementsAre("1"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM metrics_report"), ElementsAre("0"));
}

TEST(TorchtpuLog, RefusesOtherTexts) {
  EXPECT_EQ(torchtpu_log.sniff("num_cache_hits=84 {93.3%}"), 0);
  EXPECT_FALSE(ImportText(torchtpu_log, "nothing\n", /*is_asked_for=*/true).status.ok());
}

}  // namespace
}  // namespace xlaprof

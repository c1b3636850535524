// Tests the importer of Gaudi's metrics. The files are constructed from the documented schema; no
// file of a real device was at hand.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer gaudi_metrics;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kCompiles =
    "SELECT r.ordinal, m.samples, m.accumulator, m.unit FROM metrics_report r LEFT JOIN metric m ON "
    "m.report_id = r.id ORDER BY r.ordinal";
constexpr const char* kIssues = "SELECT code, count FROM import_issue ORDER BY code";

std::string Dump(std::string_view metric, std::string_view trigger, std::string_view time,
                 std::string_view statistics) {
  return fmt::format(
      R"({{"metric_name": "{}", "triggered_by": "{}", "generated_on": "2026-05-04T{}", "statistics": {{{}}}}})",
      metric, trigger, time, statistics);
}

std::string Compiled(std::string_view trigger, std::string_view time, int number, int us) {
  return Dump("graph_compilation", trigger, time,
              fmt::format(R"("TotalNumber": {}, "TotalTime": {}, "AvgTime": 1.0)", number, us));
}

TEST(GaudiMetrics, SniffsByItsBytes) {
  const std::string json = "[" + Compiled("process_exit", "09:30:00", 3, 5);
  EXPECT_GT(gaudi_metrics.sniff(json), 90);
  EXPECT_EQ(gaudi_metrics.sniff("{\"traceEvents\": ["), 0);
  EXPECT_EQ(gaudi_metrics.sniff("Metric: CompileTime"), 0);
}

TEST(GaudiMetrics, ReadsAllMetricsOfAProcess) {
  auto in = ImportText(
      gaudi_metrics,
      "[" + Compiled("process_exit", "09:30:00.5", 3, 2500) + ",\n" +
          Dump("cpu_fallback", "process_exit", "09:30:00.6",
               R"("TotalNumber": 5, "FallbackOps": {"aten::nonzero": 4, "aten::unique": 1})") +
          ",\n" +
          Dump("memory_defragmentation", "process_exit", "09:30:00.7",
               R"("TotalNumber": 4, "TotalSuccessful": 3, "AvgTime": 2.0, "MaxTime": 7)") +
          ",\n" +
          Dump(
              "recipe_cache", "process_exit", "09:30:00.8",
              R"("TotalHit": 90, "RecipeHit": {"1": 90}, "TotalMiss": 3, "RecipeMiss": {"1": 3})") +
          "]\n");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("0|3|2500000.0|ns"));
  EXPECT_THAT(in.Rows("SELECT name, value FROM counter ORDER BY name"),
              ElementsAre("CachedCompile|90", "MemoryDefragmentation|4", "RecipeCacheMiss|3",
                          "aten::nonzero|4", "aten::unique|1"));
  EXPECT_THAT(in.Rows("SELECT op, count FROM fallback ORDER BY op"),
              ElementsAre("aten::nonzero|4", "aten::unique|1"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("memory_defragmentation|4"));
}

TEST(GaudiMetrics, ReadsTheTextForm) {
  auto in = ImportText(gaudi_metrics,
                       "Metric name: graph_compilation\n"
                       "Triggered by: MetricDumpTrigger.process_exit\n"
                       "Generated on: 2026-05-04 09:30:00.123456\n"
                       "Statistics:\n"
                       "\tTotalNumber: 3\n"
                       "\tTotalTime: 2500\n"
                       "\trecipe: [('graph_1', 2500)]\n"
                       "\n"
                       "Metric name: cpu_fallback\n"
                       "Triggered by: MetricDumpTrigger.process_exit\n"
                       "Generated on: 2026-05-04 09:30:00.123456\n"
                       "Statistics:\n"
                       "\tTotalNumber: 5\n"
                       "\tFallbackOps: {'aten::nonzero': 4, 'aten::unique': 1}\n"
                       "\n");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("0|3|2500000.0|ns"));
  EXPECT_THAT(in.Rows("SELECT op, count FROM fallback ORDER BY op"),
              ElementsAre("aten::nonzero|4", "aten::unique|1"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

// Each change is dumped, so the counts are known at any time: one report for each twentieth.
TEST(GaudiMetrics, DividesASeriesByTime) {
  std::string file = "[";
  for (int i = 0; i < 10; ++i)
    file += Compiled("metric_change", fmt::format("09:00:{:02}", i), i + 1, i + 1) + ",\n";
  auto in = ImportText(gaudi_metrics, file + Compiled("process_exit", "09:03:20", 10, 10) + "]");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT count(*), min(samples), max(samples) FROM metric"),
              ElementsAre("20|10|10"));

  // Without a dump at the end, nobody knows how long the process ran on.
  in = ImportText(gaudi_metrics, file);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("0|10|10000.0|ns"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("no_end|1"));
}

TEST(GaudiMetrics, TakesTheRankFromTheName) {
  const std::string file = "[" + Compiled("process_exit", "09:30:00", 3, 5) + "]";
  auto rank_in = [&](const std::string& path) {
    return ImportTextWith(file,
                          [&](const Input& input, ImportContext& context) {
                            return gaudi_metrics.read({path, input.bytes}, context);
                          })
        .Rows("SELECT rank FROM process");
  };
  EXPECT_THAT(rank_in("/tmp/metrics-rank12.json"), ElementsAre("12"));
  EXPECT_THAT(rank_in("metrics-rank0"), ElementsAre("0"));
  EXPECT_THAT(rank_in("/tmp/a-rank3/metrics.json"), ElementsAre("-"));
  EXPECT_THAT(rank_in("metrics-rankings.json"), ElementsAre("-"));
}

TEST(GaudiMetrics, ReadsCutAndDamagedFiles) {
  const std::string file = "[" + Compiled("user", "09:30:00", 3, 5) + ",\n" +
                           Compiled("user", "09:31:00", 2, 5) + ",\n{\"a\": 1}, {\"metric_na";
  auto in = ImportText(gaudi_metrics, file);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("cut_file|1", "not_a_dump|1", "separate_reports|1"));
  for (size_t size = 0; size < file.size(); ++size)
    (void)ImportText(gaudi_metrics, std::string_view(file).substr(0, size));
  EXPECT_FALSE(ImportText(gaudi_metrics, "[]").status.ok());
}

}  // namespace
}  // namespace xlaprof

#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Two reports of one process are enough for findings.
constexpr const char* kMetrics =
    "[MetricsData; step=1]\nMetric: CompileTime\n  TotalSamples: 1\n  Accumulator: "
    "01s000ms000.000us\n  Percentiles: 50%=01s000ms000.000us\n"
    "Metric: ExecuteTime\n  TotalSamples: 1\n  Accumulator: 001ms000.000us\n  Percentiles: "
    "50%=001ms000.000us\n"
    "Counter: MarkStep\n  Value: 12\nCounter: aten::nonzero\n  Value: 12\n\n";

class ImportCommand : public ProgramTest {};

TEST_F(ImportCommand, StoreHoldsTheFindingsOfTheReport) {
  Write("cap/metrics.txt", kMetrics);
  Ran imported = Run("import cap -o run.xlaprof");
  ASSERT_EQ(imported.status, 0) << imported.out;
  EXPECT_THAT(imported.out, HasSubstr("xlaprof report run.xlaprof"));
  json report = json::parse(Run("report run.xlaprof --format json").out);
  json direct = json::parse(Run("report cap --format json").out);
  ASSERT_FALSE(report["findings"].empty());
  EXPECT_EQ(report["findings"], direct["findings"]);
  auto store = Store::Open(folder_ / "run.xlaprof");
  ASSERT_TRUE(store.ok()) << store.status();
  std::vector<std::string> stored;
  ASSERT_TRUE(store
                  ->Each("SELECT json FROM finding ORDER BY id",
                         [&](std::string text) { stored.push_back(text); })
                  .ok());
  ASSERT_EQ(stored.size(), report["findings"].size());
  for (size_t i = 0; i < stored.size(); ++i)
    EXPECT_EQ(json::parse(stored[i]), report["findings"][i]);
}

TEST_F(ImportCommand, LeavesOneFileAndNothingInTheCapture) {
  Write("cap/metrics.txt", kMetrics);
  ASSERT_EQ(Run("import cap -o out/run.xlaprof").status, 2);  // there is no such directory
  std::filesystem::create_directory(folder_ / "out");
  ASSERT_EQ(Run("import cap -o out/run.xlaprof").status, 0);
  ASSERT_EQ(Run("report out/run.xlaprof").status, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "out"), {}), 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "cap"), {}), 1);
}

// Regression: a Ctrl-C left a hidden file of gigabytes.
TEST_F(ImportCommand, KilledImportLeavesNothing) {
  std::string trace = "[";
  for (int i = 0; i < 200'000; ++i) {
    trace += fmt::format(R"({}{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":1,"name":"e{}"}})",
                         i == 0 ? "" : ",", 2 * i, i);
  }
  Write("trace.json", trace + "]");
  const Ran ran =
      RunShell("{ " XLAPROF_PROGRAM
               " import trace.json -o run.xlaprof & pid=$!; "
               "while [ -z \"$(ls -A | grep '[.]part$')\" ] && kill -0 $pid; do sleep 0.01; done; "
               "kill -TERM $pid; wait $pid; }",
               folder_);
  EXPECT_EQ(ran.status, 128 + SIGTERM) << ran.out;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "trace.json" || name == "stderr.txt") << name;
  }
}

TEST_F(ImportCommand, FailedImportLeavesNothing) {
  Write("junk.bin", std::string("\x7f"
                                "ELF\x02\x01\x01",
                                7));
  std::filesystem::create_directory(folder_ / "out");
  EXPECT_EQ(Run("import junk.bin -o out/run.xlaprof").status, 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out"));
}

TEST_F(ImportCommand, ReplacesAStoreOnlyWhenForcedAndNothingElseEver) {
  Write("metrics.txt", kMetrics);
  ASSERT_EQ(Run("import metrics.txt -o run.xlaprof").status, 0);
  Ran again = Run("import metrics.txt -o run.xlaprof");
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.out, HasSubstr("--force"));
  EXPECT_EQ(Run("import metrics.txt -o run.xlaprof --force").status, 0);
  EXPECT_EQ(Run("import metrics.txt -o metrics.txt --force").status, 2);
  EXPECT_EQ(Content("metrics.txt"), kMetrics);
}

}  // namespace
}  // namespace xlaprof

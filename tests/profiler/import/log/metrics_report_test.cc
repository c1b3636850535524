#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect metrics_report;
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kReportIssues =
    "SELECT code, count, first_line FROM import_issue ORDER BY code";
constexpr const char* kReportedFallbacks = "SELECT op, count, ordinal FROM fallback ORDER BY op";
constexpr const char* kReports =
    "SELECT segment, r.ordinal, save_number, mark_step FROM metrics_report r JOIN process p ON "
    "p.id = process_id ORDER "
    "BY r.id";

constexpr const char* kCompileTime =
    "Metric: CompileTime\n"
    "  TotalSamples: 4\n"
    "  Accumulator: 02s382ms966.884us\n"
    "  ValueRate: 01s076ms295.114us / second\n"
    "  Rate: 1.80741 / second\n"
    "  Percentiles: 1%=247ms936.300us; 50%=895ms747.861us; 99.9%=966ms322.807us\n";

std::string Counters(std::vector<std::pair<std::string, int>> counters) {
  std::string out;
  for (const auto& [name, value] : counters)
    out += fmt::format("Counter: {}\n  Value: {}\n", name, value);
  return out;
}
std::string Saved(int number, const std::string& report) {
  return fmt::format("[MetricsData; step={}]\n{}\n", number, report);
}
std::string Samples(int samples) {
  return fmt::format(
      "Metric: TensorsGraphSize\n  TotalSamples: {0}\n  Accumulator: {0}.00\n  Percentiles: "
      "1%=1.00\n",
      samples);
}

TEST(MetricsReport, ReadsAPastedReport) {
  auto in = ImportText(metrics_report,
                       std::string("Metric: InboundData\n  TotalSamples: 1\n  Accumulator: "
                                   "2.50MB\n  Percentiles: 1%=4.00B; 5%=2.50MB\n") +
                           Counters({{"CachedCompile", 32}, {"xla::add", 7}}) + kCompileTime +
                           Counters({{"MarkStep", 12},
                                     {"aten::_local_scalar_dense", 12},
                                     {"aten::nonzero", 11},
                                     {"torchvision::nms", 2}}));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|-|12"));
  EXPECT_THAT(in.Rows("SELECT name, unit, samples, accumulator, value_rate, rate, text FROM metric "
                      "ORDER BY name"),
              ElementsAre("CompileTime|ns|4|2381966884.0|1076295114.0|1.80741|02s382ms966.884us",
                          "InboundData|bytes|1|2621440.0|-|-|2.50MB"));
  EXPECT_THAT(in.Rows("SELECT name, p, value FROM metric_percentile JOIN metric ON metric.id = "
                      "metric_id ORDER BY 1, 2"),
              ElementsAre("CompileTime|1.0|246936300.0", "CompileTime|50.0|894747861.0",
                          "CompileTime|99.9|966322807.0", "InboundData|1.0|4.0",
                          "InboundData|5.0|2621440.0"));
  EXPECT_THAT(in.Rows("SELECT name, value FROM counter ORDER BY name"),
              ElementsAre("CachedCompile|32", "MarkStep|12", "aten::_local_scalar_dense|12",
                          "aten::nonzero|11", "torchvision::nms|2", "xla::add|7"));
  EXPECT_THAT(
      in.Rows(kReportedFallbacks),
      ElementsAre("aten::_local_scalar_dense|12|-", "aten::nonzero|11|-", "torchvision::nms|2|-"));
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
}

TEST(MetricsReport, ReadsSavedReportsAndKeepsWhatChanged) {
  auto report = [](int step, int samples) {
    return Saved(
        step, Samples(samples) + Counters({{"RegisterXLAFunctions", 1}, {"MarkStep", step + 1}}));
  };
  auto in = ImportText(metrics_report, report(0, 1) + report(1, 1) + report(2, 2) + report(3, 2));
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|0|1", "0|1|1|2", "0|2|2|3", "0|3|3|4"));
  EXPECT_THAT(in.Rows("SELECT r.ordinal, name, value FROM counter JOIN metrics_report r ON r.id = "
                      "report_id ORDER BY 1, 2"),
              ElementsAre("0|MarkStep|1", "0|RegisterXLAFunctions|1", "1|MarkStep|2",
                          "2|MarkStep|3", "3|MarkStep|4", "3|RegisterXLAFunctions|1"));
  EXPECT_THAT(in.Rows("SELECT r.ordinal, samples, (SELECT count(*) FROM metric_percentile WHERE "
                      "metric_id = metric.id) FROM metric "
                      "JOIN metrics_report r ON r.id = report_id ORDER BY 1"),
              ElementsAre("0|1|0", "2|2|0", "3|2|1"));
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
}

TEST(MetricsReport, StaysSmallOnALongRun) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += Saved(i, Counters({{"xla::add", i + 1}, {"MarkStep", i + 1}}));
  auto in = ImportText(metrics_report, text);
  EXPECT_THAT(in.Rows("SELECT name, count(*) FROM counter GROUP BY 1"),
              ElementsAre("MarkStep|1000", "xla::add|201"));
  EXPECT_THAT(
      in.Rows("SELECT value FROM counter WHERE name = 'xla::add' ORDER BY report_id DESC LIMIT 1"),
      ElementsAre("1000"));
}

TEST(MetricsReport, SavesThatFallAreARestart) {
  auto run = [](int marks) {
    return Saved(0, Counters({{"MarkStep", marks}, {"aten::histc", 3}})) +
           Saved(1, Counters({{"MarkStep", marks + 1}, {"aten::histc", 5}}));
  };
  auto in = ImportText(metrics_report, run(1) + run(1));
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|0|1", "0|1|1|2", "1|0|0|1", "1|1|1|2"));
  EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::histc|5|-", "aten::histc|5|-"));
  // Two threads of one process save reports: MarkStep goes on.
  in = ImportText(metrics_report, run(1) + run(3));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1"));
}

TEST(MetricsReport, AClearIsNotARestart) {
  auto in =
      ImportText(metrics_report,
                 Saved(0, Counters({{"MarkStep", 1}, {"aten::histc", 2}, {"aten::nonzero", 4}})) +
                     Saved(1, Counters({{"MarkStep", 1}, {"aten::histc", 1}})) +
                     Saved(2, Counters({{"MarkStep", 2}, {"aten::histc", 3}})));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  // The counts from before the clear are included.
  EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::histc|5|-", "aten::nonzero|4|-"));
}

TEST(MetricsReport, TellsPastedReportsApart) {
  auto report = [](int marks, int samples) {
    return Samples(samples) + Counters({{"MarkStep", marks}});
  };
  auto in = ImportText(metrics_report, "before:\n" + report(5, 9) + "after:\n" + report(8, 20));
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|-|5", "0|1|-|8"));
  in = ImportText(metrics_report, report(5, 9) + report(2, 3));
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|-|5", "1|0|-|2"));
  in = ImportText(metrics_report,
                  report(5, 9) + report(2, 12));  // counters were cleared but metrics were not
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|-|5", "0|1|-|2"));
}

// A number that lost its last digits looks like any other. This text holds the end of one report
// and then the next.
TEST(MetricsReport, TheServersMetricsComeLast) {
  auto in = ImportText(metrics_report,
                       "Metric: XrtExecute\n  TotalSamples: 18880\n  Accumulator: 02m03s348ms\n"
                       "\nEpoch 5:\n" +
                           std::string(kCompileTime) + Counters({{"MarkStep", 12}}) +
                           "Metric: XrtExecute\n  TotalSamples: 20000\n  Accumulator: 03m\n");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT count(*) FROM metrics_report"), ElementsAre("2"));
}

TEST(MetricsReport, SaysWhereTheLastNumberMayBeCut) {
  auto in = ImportText(metrics_report, "Counter: MarkStep\n  Value: 4");
  EXPECT_THAT(in.Rows("SELECT name, value FROM counter"), ElementsAre("MarkStep|4"));
  EXPECT_THAT(in.Rows("SELECT code, severity FROM import_issue"), ElementsAre("no_line_end|info"));
}

TEST(MetricsReport, ReadsOldLayoutsAndPrefixes) {
  auto in = ImportText(
      metrics_report,
      "Metric: TransferFromServerTime\nTotalSamples: 2\nAccumulator: 005.000us\nPercentiles: "
      "1%=001.000us\nCounter: MarkStep\nValue: 4\n"
      "2021-04-19 13:28:12 10.164.0.25 [0] Metric: XrtCompile\r\n"
      "2021-04-19 13:28:12 10.164.0.25 [0]   TotalSamples: 172\r\n"
      "2021-04-19 13:28:12 10.164.0.25 [0]   Counter: 18s450ms18.269us\r\n"
      "2021-04-19 13:28:12 10.164.0.25 [0]   Mean: 001ms32.778us\r\n"
      "2021-04-19 13:28:12 10.164.0.25 [0]   Percentiles: 25%=001ms32.778us; 50%=355ms89.606us\r\n"
      "2021-04-19 13:28:12 10.164.0.25 [0] Counter: xla::clone\r\n"
      "2021-04-19 13:28:12 10.164.0.25 [0]   Value: 3\r\n");
  EXPECT_THAT(in.Rows("SELECT name, samples, accumulator FROM metric ORDER BY name"),
              ElementsAre("TransferFromDeviceTime|2|5000.0", "XrtCompile|172|18450018269.0"));
  EXPECT_THAT(in.Rows("SELECT value FROM metric_percentile JOIN metric ON id = metric_id WHERE "
                      "name = 'XrtCompile' ORDER BY p"),
              ElementsAre("1032778.0", "355089606.0"));
  EXPECT_THAT(in.Rows("SELECT name, value FROM counter ORDER BY name"),
              ElementsAre("MarkStep|4", "xla::clone|3"));
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
}

TEST(MetricsReport, ReadsServerMetricsAndOldNames) {
  auto in = ImportText(
      metrics_report,
      "> Metric: SyncTensorsGraphSize   \n>   TotalSamples: 41   \n>   Accumulator: 5610335.00   "
      "\n>  "
      " Percentiles: 1%=136615.00\n"
      "Metric: XrtExecute\n  TotalSamples: 1\n  Accumulator: 176ms932.067us\n  Mean: "
      "176ms932.067us\n "
      " StdDev: 000.000us\n"
      "  Percentiles: 25%=176ms932.067us; 99%=176ms932.067us\n"
      "Metric: XrtExecutorEvict\n  TotalSamples: 0\n  Accumulator: nanB\n  Mean: nanB\n  StdDev: "
      "nanB\n  Percentiles: \n"
      ".....\nCounter: UncachedSyncTensors\n  Value: 2\n");
  EXPECT_THAT(in.Rows("SELECT name, accumulator FROM metric ORDER BY name"),
              ElementsAre("TensorsGraphSize|5610335.0", "XrtExecute|175932067.0"));
  EXPECT_THAT(in.Rows("SELECT name, value FROM counter"), ElementsAre("UncachedCompile|2"));
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
}

TEST(MetricsReport, KeepsWhatIsWholeOfACutFile) {
  std::string text = Saved(0, kCompileTime + Counters({{"MarkStep", 1}, {"aten::histc", 100}})) +
                     Saved(1, kCompileTime + Counters({{"MarkStep", 2}, {"aten::histc", 234}}));
  auto in = ImportText(metrics_report, text.substr(0, text.size() - 3));  // cuts inside 234
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|0|1", "0|1|1|2"));
  EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::histc|100|-"));
  EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("cut_file|1|13"));
  // The last whole report keeps all its percentiles.
  EXPECT_THAT(in.Rows("SELECT count(*) FROM metric_percentile"), ElementsAre("6"));
  for (size_t size = 0; size <= text.size(); size += 5)
    ImportText(metrics_report, text.substr(0, size));  // must not crash
}

TEST(MetricsReport, ARunAfterAKilledOneBeginsInsideALine) {
  std::string killed = Saved(0, Counters({{"MarkStep", 1}, {"aten::histc", 100}})) +
                       Saved(1, Counters({{"MarkStep", 2}, {"aten::histc", 234}}));
  auto in =
      ImportText(metrics_report, killed.substr(0, killed.size() - 3) +
                                     Saved(0, Counters({{"MarkStep", 1}, {"aten::histc", 5}})));
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|0|1", "0|1|1|2", "1|0|0|1"));
  EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::histc|100|-", "aten::histc|5|-"));
  EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("cut_file|1|7"));
}

TEST(MetricsReport, CountsWhatItCannotRead) {
  auto in = ImportText(
      metrics_report,
      "Metric: A\n  TotalSamples: 1\n  Accumulator: twelve\n  Percentiles: 1%=x\n" +
          Counters({{"B", 1}}) +
          "Counter: C\nMetric: D\nCounter: B\n  Value: 7\nCounter: E\n  Value: "
          "99999999999999999999\nCounter: G\n  Value: -1\nMetric: H\n  TotalSamples: -2\n"
          "Counter: F\n  Value: 1\n");
  EXPECT_THAT(in.Rows("SELECT name, value FROM counter ORDER BY name"), ElementsAre("B|1", "F|1"));
  EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("broken_entry|5|7", "unreadable_number|1|1"));
}

// Found by a fuzzer: from_chars accepts "nan" as a number, and its row stopped the import.
TEST(MetricsReport, PercentilesLieBetween0And100) {
  auto in = ImportText(metrics_report,
                       "Metric: A\n  TotalSamples: 1\n  Accumulator: 5.00\n  Percentiles: 1%=1.00; "
                       "nan%=2.00; inf%=3.00; -1%=4.00; 101%=5.00; 1e999%=6.00; 99.9%=7.00\n");
  EXPECT_THAT(in.Rows("SELECT p, value FROM metric_percentile ORDER BY p"),
              ElementsAre("1.0|1.0", "99.9|7.0"));
}

// Regression: "Early stopping. Best Value: 900000" after a report became the value of its last
// counter.
TEST(MetricsReport, TextBehindAReportIsNotItsLastCounters) {
  for (const char* text : {"trial 7 done, Best Value: 900000\n", "epoch 1 Loss Value: 0.53\n"}) {
    auto in = ImportText(metrics_report, Counters({{"MarkStep", 9}, {"aten::nonzero", 6}}) + text);
    EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::nonzero|6|-")) << text;
    EXPECT_THAT(in.Rows(kReportIssues), IsEmpty()) << text;
  }
}

// Regression: the entry above the first name was dropped without a message.
TEST(MetricsReport, SaysThatTheTextBeginsInsideAnEntry) {
  const std::string counters = Counters({{"MarkStep", 9}});
  for (const std::string head :
       {"  TotalSamples: 4\n  Accumulator: 02s\n", "  Accumulator: 02s\n", "  Value: 7\n",
        "  Percentiles: 50%=4.00\n", "tiles: 50%=001ms000.000us; 99%=002ms000.000us\n"}) {
    auto in = ImportText(metrics_report, head + counters);
    EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("cut_file|1|1")) << head;
  }
  // Both cuts are reported, at the beginning and at the end.
  auto in = ImportText(metrics_report, "  Value: 7\n" + counters + "Counter: aten::nonzero\n");
  EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("cut_file|1|2", "headless_report|1|1"));
  in = ImportText(metrics_report, "Best Value: 3\nloss Value: 1\n\nnew report\n" + counters);
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
}

// Regression: with met.clear_all() before each report, 12 steps that each compiled were reported as
// "1 step, 1 compilation".
TEST(MetricsReport, SaysWhichReportsDoNotGoOn) {
  auto report = [](const std::string& time) {
    return fmt::format(
               "Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: {0}\n  Percentiles: "
               "50%={0}\n",
               time) +
           Counters({{"MarkStep", 1}, {"aten::nonzero", 3}});
  };
  auto in = ImportText(metrics_report, report("02s") + report("03s") + report("01s"));
  EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("separate_reports|2|9"));
  EXPECT_THAT(in.Rows("SELECT r.ordinal, count(*) FROM counter JOIN metrics_report r ON r.id = "
                      "report_id GROUP BY 1"),
              ElementsAre("0|2", "1|2", "2|2"));  // each report is whole
  EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::nonzero|3|-"));
  in = ImportText(metrics_report, report("02s") + report("02s"));  // the same report, pasted twice
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
}

// Regression: eight ranks printed a report each, and their reads were added up.
TEST(MetricsReport, RanksThatCountALittleLessAreNoClear) {
  auto report = [](int reads, int nonzero) {
    return Samples(4) + Counters({{"MarkStep", 100},
                                  {"aten::_local_scalar_dense", reads},
                                  {"aten::nonzero", nonzero}});
  };
  auto in = ImportText(metrics_report, report(10, 6) + report(9, 5) + report(10, 6) + report(9, 6));
  EXPECT_THAT(in.Rows(kReportedFallbacks),
              ElementsAre("aten::_local_scalar_dense|10|-", "aten::nonzero|6|-"));
}

TEST(MetricsReport, ReportsOfRanksMayAlternateLineByLine) {
  auto report = [](int marks, int histc) {
    return kCompileTime + Counters({{"MarkStep", marks}, {"aten::histc", histc}});
  };
  const std::string a = report(12, 5), b = report(13, 6);
  std::string text;
  for (size_t i = 0, j = 0; i < a.size();) {
    const size_t a_end = a.find('\n', i) + 1, b_end = b.find('\n', j) + 1;
    text += "[0] " + a.substr(i, a_end - i) + "[1] " + b.substr(j, b_end - j);
    i = a_end, j = b_end;
  }
  auto in = ImportText(metrics_report, text);
  EXPECT_THAT(in.Rows("SELECT rank, mark_step, f.count, m.samples FROM process p JOIN "
                      "metrics_report r ON r.process_id = p.id JOIN fallback f ON f.process_id = "
                      "p.id JOIN metric m ON m.report_id = r.id ORDER BY rank"),
              ElementsAre("0|12|5|4", "1|13|6|4"));
  EXPECT_THAT(in.Rows(kReportIssues), IsEmpty());
  // Without prefixes the ranks cannot be told apart, so mixed entries are left out.
  std::string bare = text;
  for (size_t at; (at = bare.find('[')) != std::string::npos;) bare.erase(at, 4);
  in = ImportText(metrics_report, bare);
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), Contains("broken_entry"));
}

// Regression: `Counter: aten::_loc` became an operator of its own.
TEST(MetricsReport, ANameThatALineBreakWentThroughIsLeftOut) {
  const std::string broken = "Counter: aten::_loc\nal_scalar_dense\n  Value: 12\n";
  auto in = ImportText(metrics_report,
                       Counters({{"MarkStep", 9}}) + broken + Counters({{"aten::nonzero", 2}}));
  EXPECT_THAT(in.Rows(kReportedFallbacks), ElementsAre("aten::nonzero|2|-"));
  EXPECT_THAT(in.Rows(kReportIssues), ElementsAre("broken_entry|1|3"));
}

TEST(MetricsReport, WordsBehindPercentilesAreNotTheirs) {
  const std::string report =
      "Metric: A\n  TotalSamples: 1\n  Accumulator: 5.00\n  Percentiles: 50%=5.00; 99%=4.00\n";
  for (const char* text : {"", "5\n", "done\n"}) {
    auto in = ImportText(metrics_report, report + text);
    EXPECT_THAT(in.Rows("SELECT p, value FROM metric_percentile ORDER BY p"),
                ElementsAre("50.0|5.0", "99.0|4.0"))
        << text;
  }
}

// An XRT server counts for all clients. Regression: two servers in one paste were read as one that
// went on.
TEST(MetricsReport, AnXrtServersReportIsToldAndMayRestart) {
  auto report = [](int compiles, int executions) {
    return fmt::format(
        "Metric: XrtCompile\n  TotalSamples: {}\n  Accumulator: 28s\n  Percentiles: 50%=02s\n"
        "Metric: XrtExecute\n  TotalSamples: {}\n  Accumulator: 03m\n  Percentiles: 50%=02s\n",
        compiles, executions);
  };
  auto in = ImportText(metrics_report, "EAGER:\n" + report(358, 68993) + "LAZY:\n" + report(2, 10));
  EXPECT_THAT(in.Rows(kReports), ElementsAre("0|0|-|-", "1|0|-|-"));
  EXPECT_THAT(in.Rows("SELECT code, severity FROM import_issue"),
              ElementsAre("server_report|info"));
}

TEST(MetricsReport, SaysWhatItLookedForWhereNothingIs) {
  for (const char* text :
       {"", "loss 0.3\n", "Metric: accuracy improved\n", "[MetricsData; step=0]\n"}) {
    auto in = ImportText(metrics_report, text);
    EXPECT_FALSE(in.status.ok()) << text;
    EXPECT_THAT(std::string(Message(in.status)), HasSubstr("looked for 'Metric: NAME'"));
  }
}

TEST(MetricsReport, SniffsReportsOnly) {
  EXPECT_GE(metrics_report.sniff(kCompileTime), 90);
  EXPECT_GE(metrics_report.sniff(Saved(0, "")), 90);
  EXPECT_GE(metrics_report.sniff(Counters({{"aten::nonzero", 3}})), 60);
  EXPECT_EQ(metrics_report.sniff("Metric: accuracy\nloss 0.3\n"), 0);
}

}  // namespace
}  // namespace xlaprof

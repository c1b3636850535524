// Tests text that people paste into issue threads, from the text to the findings. Each case is a
// kind of paste that was misread or misjudged; the numbers are made up.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "analyzers/analyzer.h"
#include "analyzers/cold_start.h"
#include "analyzers/fallback.h"
#include "analyzers/large_transfer.h"
#include "analyzers/recompile/counts.h"
#include "analyzers/sync_point.h"
#include "profiler/import/import.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

Findings FindingsIn(const std::string& text) {
  const std::string path =
      fmt::format("{}/{}.txt", testing::TempDir(),
                  testing::UnitTest::GetInstance()->current_test_info()->name());
  std::ofstream(path, std::ios::binary) << text;
  Store store = Store::CreateTemporary().value();
  ImportOptions options;
  options.inputs = {path};
  auto status = Import(options, store);
  EXPECT_TRUE(status.ok());
  Findings all;
  for (const Analyzer* analyzer : AllAnalyzers()) {
    auto findings = Analyze(xlaprof::Run(store), *analyzer);
    EXPECT_TRUE(findings.ok()) << analyzer->name;
    for (Finding& finding : *findings) all.push_back(std::move(finding));
  }
  return all;
}

std::vector<Finding> OfKind(const Findings& all, std::string_view kind) {
  std::vector<Finding> found;
  for (const Finding& finding : all) {
    if (finding.kind() == kind) found.push_back(finding);
  }
  return found;
}

const Finding& TheOne(const std::vector<Finding>& found) {
  static const Finding kNone;
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? kNone : found.front();
}

const CountFigures& CountsOf(const Finding& finding) {
  static const CountFigures kNone;
  const auto* figures = std::any_cast<CountFigures>(&finding.figures);
  EXPECT_NE(figures, nullptr);
  return figures == nullptr ? kNone : *figures;
}

std::string Metric(const std::string& name, int64_t samples, const std::string& sum,
                   const std::string& percentiles = "50%=001ms000.000us; 99%=002ms000.000us") {
  return fmt::format("Metric: {}\n  TotalSamples: {}\n  Accumulator: {}\n  Percentiles: {}\n", name,
                     samples, sum, percentiles);
}
std::string Counter(const std::string& name, int64_t value) {
  return fmt::format("Counter: {}\n  Value: {}\n", name, value);
}
std::string Report(int64_t compiles, const std::string& compile_time, int64_t executions) {
  return Metric("CompileTime", compiles, compile_time) +
         Metric("ExecuteTime", executions, "02s000ms000.000us");
}

// Regression: for a loop that compiled for every execution, a report of 2021 without step marks led
// to "few a step".
TEST(PastedText, RecompilationWithoutStepMarks) {
  const Finding finding =
      TheOne(OfKind(FindingsIn(Report(40, "20s000ms000.000us", 41)), "recompilation"));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->state, State::kUnknown);
  EXPECT_EQ(finding.per_step, std::nullopt);
  EXPECT_EQ(CountsOf(finding).verdict, CountVerdict::kMostExecutionsNew);
  EXPECT_EQ(CountsOf(finding).signals.compiles, 40);
  EXPECT_EQ(CountsOf(finding).signals.executions, 41);
  EXPECT_EQ(CountsOf(finding).signals.steps, 0);
}

// A run that just began and has expensive compiles is not recompiling: it has nine graphs for four
// hundred executions.
TEST(PastedText, FewCompilesWithoutStepMarksAreInfoWithoutCost) {
  const Finding finding =
      TheOne(OfKind(FindingsIn(Report(9, "54s000ms000.000us", 400)), "recompilation"));
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.cost_ns, std::nullopt);
}

// This is a report of one slow step after clear_all(): three compiles for two executions may have
// any cause.
TEST(PastedText, TooLittleToTellIsToldSo) {
  const Findings all = FindingsIn(Report(3, "06m15s000ms000.000us", 2));
  const Finding finding = TheOne(OfKind(all, "recompilation"));
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(CountsOf(finding).verdict, CountVerdict::kCleanWithoutSteps);
}

// "Is it recompiling?" gets an answer even if the answer is no.
TEST(PastedText, ThreeCompilesInAThousandStepsAreSaidToBeNone) {
  const Finding finding = TheOne(OfKind(
      FindingsIn(Report(3, "001ms000.000us", 1000) + Counter("MarkStep", 1000)), "recompilation"));
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(CountsOf(finding).verdict, CountVerdict::kClean);
  EXPECT_EQ(CountsOf(finding).signals.compiles, 3);
  EXPECT_EQ(CountsOf(finding).signals.steps, 1000);
  EXPECT_EQ(finding.cost_ns, std::nullopt);
}

// Two reports of 2019 are a step apart, and the question is "does it compile each time?". The
// second has two more compiles.
TEST(PastedText, TwoReportsTellWhetherItRises) {
  auto two = [](int64_t first, int64_t second) {
    return TheOne(OfKind(FindingsIn(Metric("CompileTime", first, "44s000ms000.000us") + "...\n" +
                                    Metric("CompileTime", second, "50s000ms000.000us")),
                         "recompilation"));
  };
  const Finding rises = two(12, 14), stays = two(12, 12);
  EXPECT_EQ(rises.severity, Severity::kWarning);
  EXPECT_EQ(CountsOf(rises).signals.between->before, 12);
  EXPECT_EQ(CountsOf(rises).signals.between->more, 2);
  EXPECT_EQ(stays.severity, Severity::kInfo);
}

// "Compilation is fine, it stays at 11 after step 10": the state is settled, and there is no
// warning.
TEST(PastedText, TwoReportsTellThatItStopped) {
  const Finding finding =
      TheOne(OfKind(FindingsIn(Report(11, "50s000ms000.000us", 12) + Counter("MarkStep", 12) +
                               Report(11, "50s000ms000.000us", 70) + Counter("MarkStep", 70)),
                    "recompilation"));
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.reason->state, State::kSettled);
  EXPECT_EQ(finding.reason->step, 12);
}

// [MetricsData; step=N] is from versions that did not count step marks: one report was saved per
// step.
TEST(PastedText, SavesStandForStepsWhereNoneAreCounted) {
  const Finding finding = TheOne(
      OfKind(FindingsIn("[MetricsData; step=19]\n" + Report(60, "50s000ms000.000us", 80) + "\n"),
             "recompilation"));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(CountsOf(finding).signals.compiles, 60);
  EXPECT_EQ(CountsOf(finding).signals.steps, 20);
}

// "Metric:" follows a backtick or a line of stars, lacks its first letter, or is in a printed
// Python string.
TEST(PastedText, TheFirstLineMayBeMangled) {
  std::string report = Report(40, "20s000ms000.000us", 41);
  for (const std::string& text : {"`" + report, "Prediction: *****" + report, report.substr(1),
                                  "```\n" + report.substr(3), "text\\n\\n" + report}) {
    EXPECT_EQ(OfKind(FindingsIn(text), "recompilation").size(), 1u) << text.substr(0, 40);
  }
}

// A paste that ends inside the number still holds the count: 4 compiles in step 4, 500 in step 5.
TEST(PastedText, CountsOutliveACutNumber) {
  const Findings all = FindingsIn("[MetricsData; step=4]\n" + Report(4, "08s000ms000.000us", 6) +
                                  "\n[MetricsData; step=5]\nMetric: CompileTime\n  TotalSamples: "
                                  "500\n  Accumulator: 47m60s8\n");
  const Finding finding = TheOne(OfKind(all, "recompilation"));
  EXPECT_EQ(CountsOf(finding).signals.compiles, 500);
  EXPECT_EQ(CountsOf(finding).signals.steps, 6);
  EXPECT_EQ(finding.cost_ns, std::nullopt);
}

// The end of an XRT report, pasted alone, has only the server's counts. Next to a client's counts,
// they are not the client's.
TEST(PastedText, ServerMetricsCountWhereTheyAreAlone) {
  const std::string server = Metric("XrtCompile", 83, "10m29s000ms000.000us") +
                             Metric("XrtExecute", 90, "14m43s000ms000.000us");
  const Finding alone = TheOne(OfKind(FindingsIn(server), "recompilation"));
  EXPECT_EQ(CountsOf(alone).signals.compiles, 83);
  EXPECT_EQ(CountsOf(alone).signals.executions, 90);
  const Finding beside = TheOne(
      OfKind(FindingsIn(Report(3, "001ms000.000us", 1000) + Counter("MarkStep", 1000) + server),
             "recompilation"));
  EXPECT_EQ(CountsOf(beside).verdict, CountVerdict::kClean);
  EXPECT_EQ(CountsOf(beside).signals.compiles, 3);
}

// Regression: the percentiles were cut at 20 %, so compiles that took 37 s on average got "the
// longest 33 ms".
TEST(PastedText, TheLongestIsNotReadFromACutLine) {
  const Finding finding = TheOne(OfKind(
      FindingsIn("Metric: CompileTime\n  TotalSamples: 4\n  Accumulator: 02m28s000ms000.000us\n  "
                 "Percentiles: 1%=011ms000.000us; 20%=033ms000.000us; 50%=16s47"),
      "cold_start"));
  const auto& figures = std::any_cast<const ColdStartFigures&>(finding.figures);
  EXPECT_FALSE(figures.longest_is_known);
  EXPECT_EQ(figures.longest_ns, 37'000'000'000);
}

TEST(PastedText, TorchXlasOwnLineOfASlowCompile) {
  const Finding finding =
      TheOne(OfKind(FindingsIn("pt-xla-profiler: CompileTime too slow: longest instance took "
                               "14m30s000ms000.000us. Please open a GitHub issue with the graph "
                               "dump for our team to optimize.\n"),
                    "slow_compile"));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.words.title, "a compilation took 870 s");
  EXPECT_EQ(finding.cost_ns, 870'000'000'000);
}

// Five hundred weights were uploaded before the first report, so only the remaining uploads belong
// to the steps.
TEST(PastedText, UploadsOfStepsAreWithoutTheWeights) {
  auto saved = [](int step, int64_t values) {
    return fmt::format("[MetricsData; step={}]\n", step) +
           Metric("ExecuteTime", 50 * (step + 1), fmt::format("0{}s000ms000.000us", step + 1)) +
           Metric("IrValueTensorToXlaData", values,
                  fmt::format("{}s000ms000.000us", 20 + 9 * step)) +
           Counter("MarkStep", 50 * (step + 1)) + "\n";
  };
  const Finding finding =
      TheOne(OfKind(FindingsIn(saved(0, 500) + saved(1, 1500) + saved(2, 2500)), "large_transfer"));
  const auto& figures =
      std::get<SmallUploads>(std::any_cast<const LargeTransferFigures&>(finding.figures));
  EXPECT_EQ(figures.turn, Turn::kStep);
  EXPECT_EQ(figures.uploads_per_turn, 20);
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_FALSE(figures.has_first_upload);
}

// Regression: a modern report that was cut before its counters had millions of traced calls, so
// "MarkStep is absent" was reported.
TEST(PastedText, AReportWithoutCountersSaysNothingOfStepMarks) {
  const std::string traced = Metric("LazyTracing", 3'000'000, "46s000ms000.000us");
  EXPECT_TRUE(
      OfKind(FindingsIn(traced + Metric("TensorToData", 5, "001ms000.000us")), "missing_step_mark")
          .empty());
  EXPECT_EQ(OfKind(FindingsIn(traced + Counter("CreateDataHandles", 7) +
                              Counter("ReleaseDataHandles", 7)),
                   "missing_step_mark")
                .size(),
            1u);
}

// The finding names what was cut off, because "nothing found" means little for a report without
// counters and executions.
TEST(PastedText, SaysWhatACutReportLacks) {
  auto lacks = [](const std::string& text) {
    std::vector<std::string> types;
    for (const Finding& finding : OfKind(FindingsIn(text), "incomplete_capture"))
      types.emplace_back(TextOf(finding.reason->type));
    return types;
  };
  const std::string traced = Metric("LazyTracing", 9, "001ms000.000us");
  EXPECT_THAT(lacks(traced), testing::IsSupersetOf({"no_counters", "no_executions"}));
  EXPECT_THAT(lacks(traced + Metric("ExecuteTime", 9, "001ms000.000us") + Counter("MarkStep", 9)),
              testing::ElementsAre("no_lines"));
}

// A report may hold any number, however large.
TEST(PastedText, HugeCountsDoNoHarm) {
  const std::string huge =
      "[MetricsData; step=9223372036854775807]\n" +
      Report(9'000'000'000'000'000'000, "02s000ms000.000us", 9'000'000'000'000'000'000) +
      Counter("CachedCompile", 3) + "\n";
  EXPECT_FALSE(FindingsIn(huge + huge + huge + huge + huge).empty());
}

// Each metric that an analyzer uses as an integer holds more than int64_t can. Under the
// sanitizers, a cast would stop this test.
TEST(PastedText, SumsBeyondWholeNumbersDoNoHarm) {
  const std::string time = "1e300", bytes = "99999999999999999999999999.00TB",
                    times = "50%=" + time + "; 99%=" + time, sizes = "50%=" + bytes;
  std::string text;
  for (const char* name :
       {"CompileTime", "ExecuteTime", "LazyTracing", "TransferToDeviceTime",
        "TransferFromDeviceTime", "UnwrapXlaData", "TensorToData", "DeviceLockWait"})
    text += Metric(name, 9'000'000'000, time, times);
  for (const char* name : {"InboundData", "OutboundData"})
    text += Metric(name, 9'000'000'000, bytes, sizes);
  const std::string slow = Metric("ExecuteTime", 9'000'000'000, "001.000us", "50%=001.000us") +
                           Metric("InboundData", 9'000'000'000, bytes, sizes);
  EXPECT_FALSE(FindingsIn(text + Counter("MarkStep", 10)).empty());
  EXPECT_FALSE(FindingsIn(slow + Counter("MarkStep", 10)).empty());
}

const CountedReadFigures& CountedReads(const Finding& finding) {
  return std::get<CountedReadFigures>(std::any_cast<const SyncPointFigures&>(finding.figures));
}

// Nearly every execution reads four bytes, and the report ends before its counters and transfers.
TEST(PastedText, InboundDataTellsOfReads) {
  auto report = [](int64_t reads, const std::string& bytes) {
    return Report(5, "10s000ms000.000us", 265) +
           Metric("InboundData", reads, bytes, "50%=4.00B; 99%=4.00B");
  };
  const Finding often = TheOne(OfKind(FindingsIn(report(264, "1.03KB")), "sync_point"));
  EXPECT_EQ(often.severity, Severity::kWarning);
  EXPECT_EQ(often.count, 264);
  EXPECT_EQ(often.per_step, std::nullopt);
  EXPECT_EQ(CountedReads(often).counted, CountedReadFigures::Counted::kFetches);
  EXPECT_EQ(CountedReads(often).value, ReadValue::kNumber);
  EXPECT_EQ(CountedReads(often).executions, 265);
  const Finding tensors = TheOne(OfKind(FindingsIn(report(264, "9.00MB")), "sync_point"));
  EXPECT_EQ(CountedReads(tensors).counted, CountedReadFigures::Counted::kFetches);
  EXPECT_EQ(CountedReads(tensors).value, ReadValue::kTensor);
  EXPECT_EQ(TheOne(OfKind(FindingsIn(report(4, "16.00B")), "sync_point")).severity,
            Severity::kInfo);
}

// torch_xla's own lines report the same count at each step, because the value was fetched before
// them.
TEST(PastedText, FetchesThatDoNotGoOnHaveNoRate) {
  auto lines = [](int64_t growth) {
    std::string text;
    for (int64_t step = 3; step < 7; ++step)
      text += fmt::format(
          "pt-xla-profiler: TransferFromServerTime too frequent: {} counts during {} steps\n",
          634 + growth * step, step);
    return text + "Counter: MarkStep\n  Value: 2\n";
  };
  const Finding over = TheOne(OfKind(FindingsIn(lines(0)), "sync_point"));
  EXPECT_EQ(over.severity, Severity::kInfo);
  EXPECT_EQ(over.per_step, std::nullopt);
  EXPECT_EQ(over.count, 634);
  EXPECT_FALSE(CountedReads(over).goes_on);
  const Finding rises = TheOne(OfKind(FindingsIn(lines(1)), "sync_point"));
  EXPECT_EQ(rises.severity, Severity::kWarning);
  EXPECT_TRUE(CountedReads(rises).goes_on);
}

// In a report of 2019, a gradient of 480 MB came back in each of ten executions, and no step marks
// were counted.
TEST(PastedText, LargeTransfersWithoutStepMarks) {
  const std::string old =
      "Metric: ExecuteTime\n  TotalSamples: 10\n  Counter: 01s200ms000.000us\nMetric: "
      "InboundData\n  TotalSamples: 10\n  Counter: 4.69GB\n  Percentiles: 50%=480.00MB; "
      "99%=480.00MB\n";
  const Finding finding = TheOne(OfKind(FindingsIn(old), "large_transfer"));
  const auto& figures =
      std::get<CopiedBytes>(std::any_cast<const LargeTransferFigures&>(finding.figures));
  EXPECT_EQ(figures.turn, Turn::kExecution);
  EXPECT_EQ(figures.copies_per_turn, 1);
  EXPECT_EQ(finding.per_step, std::nullopt);
}

// Regression: torch_xla's summary at exit names the op and its frames, but the finding lacked the
// line.
TEST(PastedText, TheExitSummaryGivesTheLine) {
  const std::string ruler(80, '=');
  const std::string summary =
      ruler + "\nUnlowered Op usage summary (more of these ops, lower performance)\n" +
      std::string(80, '-') +
      "\nFRAME (count=9):\nUnlowered Op: \"_ctc_loss\"\nPython Frames:\n  ctc_loss "
      "(/v/lib/python3.8/site-packages/torch/nn/functional.py:2313)\n  fit (/u/speech.py:29)\n\n"
      "FRAME (count=2):\nUnlowered Op: \"_ctc_loss\"\nPython Frames:\n  evaluate "
      "(/u/speech.py:55)\n\n" +
      ruler + "\n";
  Finding finding = TheOne(OfKind(FindingsIn(summary), "fallback"));
  EXPECT_EQ(finding.subject.file, "/u/speech.py");
  EXPECT_EQ(finding.subject.line, 29);
  EXPECT_EQ(finding.count, 11);
  const auto& figures =
      std::get<FallbackOpFigures>(std::any_cast<const FallbackFigures&>(finding.figures));
  ASSERT_EQ(figures.call_sites.size(), 2u);
  EXPECT_EQ(figures.call_sites[0].text(), "/u/speech.py:29");
  EXPECT_EQ(figures.call_sites[1].text(), "/u/speech.py:55");
  // The counter of a report beside the summary counts the same calls.
  finding = TheOne(OfKind(FindingsIn(summary + Counter("aten::_ctc_loss", 12)), "fallback"));
  EXPECT_EQ(finding.count, 12);
  EXPECT_EQ(finding.subject.line, 29);
}

// The paste begins among the frames of a block. The innermost frames are lost, so it is not known
// whether the block was a read.
TEST(PastedText, FramesWithoutTheirHeadAreNoRead) {
  const std::string p = "Execution Analysis: ";
  EXPECT_TRUE(OfKind(FindingsIn(p + "  run (/u/trainer.py:10)\n" + p +
                                "  fit (/u/trainer.py:60)\n" + p + "  ..........\n" + p +
                                std::string(80, '-') + "\n" + p + std::string(80, '=') + "\n"),
                     "sync_point")
                  .empty());
}

// PT_XLA_DEBUG_LEVEL=1 prints no executions: the log has one block about a compile that a read
// caused.
TEST(PastedText, ACompileThatAReadCaused) {
  const std::string p = "Compilation Analysis: ";
  const Finding finding = TheOne(
      OfKind(FindingsIn(p + std::string(80, '=') + "\n" + p + "Compilation Cause\n" + p +
                        "  most likely user code trying to access tensor value before mark_step\n" +
                        p + "Graph Info:\n" + p + "  Graph Hash: 507d\n" + p +
                        "Python Frame Triggered Execution:\n" + p + "  rotate (/u/model.py:196)\n" +
                        p + std::string(80, '-') + "\n" + p + std::string(80, '=') + "\n"),
             "sync_point"));
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.count, std::nullopt);
  EXPECT_EQ(finding.subject.line, 196);
}

}  // namespace
}  // namespace xlaprof

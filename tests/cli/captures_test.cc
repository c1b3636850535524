// Tests what a report must find in each bundled real capture: in the whole capture, and with only
// one of its sources. The table lists the faults that were planted in the recorded program
// (tests/golden/ORIGIN.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kCaptures = fs::path(XLAPROF_SOURCE_DIR) / "tests/golden/captures";

json Report(const std::string& paths) {
  std::string command = std::string(XLAPROF_PROGRAM) + " report --format json " + paths + " 2>&1";
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 1 << 16> buffer;
  while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), got);
  int status = pclose(pipe);
  EXPECT_EQ(status, 0) << command << "\n" << out;
  json report = json::parse(out, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(report.is_discarded()) << out.substr(0, 2000);
  return report;
}

// The sources of a capture that a case reads.
enum Source { kAll, kLog, kDump, kMetrics, kLastMetrics, kXSpace };
std::string PathsOf(const std::string& capture, Source source) {
  if (source == kAll) return (kCaptures / capture).string();
  const char* const endings[] = {"",
                                 "pt_xla_debug.log.zst",
                                 "save_tensors.txt.0.zst",
                                 "metrics_per_step.txt.zst",
                                 "metrics_report.txt.zst",
                                 ".xplane.pb.zst"};
  for (const auto& entry : fs::recursive_directory_iterator(kCaptures / capture)) {
    if (entry.path().string().ends_with(endings[source])) return entry.path().string();
  }
  ADD_FAILURE() << capture << " has no " << endings[source];
  return "";
}

struct Expected {
  std::string kind;
  std::string reason;               // "" means any
  std::vector<std::string> states;  // empty means any
  int64_t line = 0;                 // 0 means any
  int64_t count = 0;                // 0 means any
  std::string scope, op;            // "" means any; a part of the text is enough
  std::string severity = "";        // "" means warning or error, and * means any
};

std::string Text(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

bool Matches(const json& finding, const Expected& want) {
  const json& reason = finding["reason"];
  if (finding["kind"] != want.kind) return false;
  if (want.severity.empty() && finding["severity"] == "info") return false;
  if (!want.severity.empty() && want.severity != "*" && finding["severity"] != want.severity)
    return false;
  if (!want.reason.empty() && (!reason.is_object() || reason["type"] != want.reason)) return false;
  if (!want.states.empty()) {
    if (!reason.is_object()) return false;
    if (std::find(want.states.begin(), want.states.end(), Text(reason["state"])) ==
        want.states.end())
      return false;
  }
  if (want.line != 0 && finding["subject"]["line"] != want.line) return false;
  if (want.count != 0 && finding["count"] != want.count) return false;
  if (Text(finding["subject"]["scope"]).find(want.scope) == std::string::npos) return false;
  if (Text(finding["subject"]["op"]).find(want.op) == std::string::npos) return false;
  return true;
}

struct Case {
  std::string capture;
  Source source = kAll;
  std::vector<Expected> expected;
  bool nothing_else_above_info = true;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.capture << " source " << c.source; }

class Captures : public testing::TestWithParam<Case> {};

TEST_P(Captures, ReachTheirFindings) {
  const Case& c = GetParam();
  json report = Report(PathsOf(c.capture, c.source));
  std::string all;
  for (const json& finding : report["findings"]) {
    all += "\n  " + Text(finding["severity"]) + " " + Text(finding["kind"]) + " count " +
           finding["count"].dump() + " " + finding["subject"].dump() + " " +
           (finding["reason"].is_object()
                ? Text(finding["reason"]["type"]) + " " + Text(finding["reason"]["state"])
                : "") +
           ": " + Text(finding["title"]);
  }
  std::vector<bool> used(report["findings"].size(), false);
  for (const Expected& want : c.expected) {
    bool found = false;
    for (size_t i = 0; i < used.size() && !found; ++i) {
      if (!used[i] && Matches(report["findings"][i], want)) used[i] = found = true;
    }
    EXPECT_TRUE(found) << "missing: " << want.kind << " " << want.reason << " line " << want.line
                       << " count " << want.count << " among" << all;
  }
  if (!c.nothing_else_above_info) return;
  for (size_t i = 0; i < used.size(); ++i) {
    const json& finding = report["findings"][i];
    // Info findings may come with any finding, because no line is at fault for them.
    if (used[i] || finding["severity"] == "info") continue;
    ADD_FAILURE() << "unexpected: " << Text(finding["kind"]) << ": " << Text(finding["title"])
                  << "\namong" << all;
  }
}

const std::vector<std::string> kOngoing = {"ongoing"};

INSTANTIATE_TEST_SUITE_P(
    Whole, Captures,
    testing::Values(
        Case{"train_mnist_clean",
             kAll,
             {{.kind = "recompilation", .states = {"warm_up"}, .severity = "info"}}},
        Case{"recompile_dynamic_batch",
             kAll,
             {{.kind = "recompilation", .reason = "shape_change", .states = kOngoing, .line = 7}}},
        Case{"recompile_python_scalar",
             kAll,
             {{.kind = "recompilation",
               .reason = "constant_change",
               .states = kOngoing,
               .line = 10}}},
        Case{"recompile_loop_index_text",
             kAll,
             {{.kind = "recompilation",
               .reason = "constant_change",
               .states = kOngoing,
               .line = 11}}},
        Case{"recompile_loop_index_hlo",
             kAll,
             {{.kind = "recompilation",
               .reason = "constant_change",
               .states = kOngoing,
               .line = 11}}},
        Case{"fallback_nonzero_item",
             kAll,
             {{.kind = "fallback", .line = 10, .count = 12, .op = "aten::nonzero"},
              {.kind = "sync_point", .line = 13, .count = 12}}},
        Case{"fallback_debug_1",
             kAll,
             {{.kind = "fallback", .line = 10, .count = 12, .op = "aten::nonzero"},
              {.kind = "sync_point", .line = 13, .count = 12}}},
        Case{"fallback_unlowered_op",
             kAll,
             {{.kind = "fallback", .line = 9, .count = 10, .op = "aten::histc"}}},
        Case{"gap_host_watermark",
             kAll,
             {{.kind = "device_gap", .line = 13, .count = 5, .scope = "pipe_watermark"},
              {.kind = "sync_point", .line = 13, .count = 5}}},
        Case{"graph_break_print",
             kAll,
             {{.kind = "sync_point", .line = 9, .count = 10},
              {.kind = "sync_point", .line = 11, .count = 10},
              {.kind = "sync_point", .line = 14, .count = 10},
              {.kind = "graph_fragmentation"}}},
        Case{"jax_recompile",
             kAll,
             {{.kind = "recompilation",
               .reason = "shape_change",
               .states = {"ongoing", "settled"},
               .line = 18,
               .count = 3}},
             false},
        Case{"tpu_inference",
             kAll,
             {{.kind = "device_wait", .op = "copy-done"},
              {.kind = "incomplete_capture", .reason = "no_step_markers", .severity = "info"}},
             false}));

INSTANTIATE_TEST_SUITE_P(
    LogAlone, Captures,
    testing::Values(
        Case{"train_mnist_clean", kLog, {}},
        Case{"recompile_dynamic_batch", kLog, {{.kind = "recompilation", .states = kOngoing}}},
        Case{"recompile_python_scalar", kLog, {{.kind = "recompilation", .states = kOngoing}}},
        Case{"fallback_nonzero_item",
             kLog,
             {{.kind = "sync_point", .line = 10, .count = 12},
              {.kind = "sync_point", .line = 13, .count = 12}}},
        Case{"fallback_debug_1", kLog, {{.kind = "fallback", .op = "aten::nonzero"}}, false},
        Case{"gap_host_watermark", kLog, {{.kind = "sync_point", .line = 13, .count = 5}}},
        Case{"graph_break_print",
             kLog,
             {{.kind = "sync_point", .line = 9},
              {.kind = "sync_point", .line = 11},
              {.kind = "sync_point", .line = 14},
              {.kind = "graph_fragmentation"}}}));

INSTANTIATE_TEST_SUITE_P(
    DumpAlone, Captures,
    testing::Values(
        Case{"train_mnist_clean", kDump, {}},
        Case{"recompile_dynamic_batch",
             kDump,
             {{.kind = "recompilation", .reason = "shape_change", .states = kOngoing, .line = 7}}},
        Case{"recompile_python_scalar",
             kDump,
             {{.kind = "recompilation",
               .reason = "constant_change",
               .states = kOngoing,
               .line = 10}}},
        Case{"recompile_loop_index_text",
             kDump,
             {{.kind = "recompilation", .reason = "unprinted_change", .states = kOngoing}}},
        Case{"recompile_loop_index_hlo",
             kDump,
             {{.kind = "recompilation",
               .reason = "constant_change",
               .states = kOngoing,
               .line = 11}}},
        Case{"gap_host_watermark", kDump, {{.kind = "sync_point", .line = 13, .count = 5}}}));

INSTANTIATE_TEST_SUITE_P(
    MetricsAlone, Captures,
    testing::Values(Case{"train_mnist_clean", kMetrics, {}},
                    Case{"train_mnist_clean", kLastMetrics, {}},
                    Case{"recompile_dynamic_batch",
                         kMetrics,
                         {{.kind = "recompilation", .states = kOngoing}},
                         false},
                    Case{"recompile_python_scalar",
                         kLastMetrics,
                         {{.kind = "recompilation", .states = {"unknown"}}},
                         false},
                    Case{"fallback_nonzero_item",
                         kLastMetrics,
                         {{.kind = "fallback", .count = 12, .op = "aten::nonzero"},
                          {.kind = "sync_point", .count = 12}},
                         false},
                    Case{"fallback_unlowered_op",
                         kLastMetrics,
                         {{.kind = "fallback", .count = 10, .op = "aten::histc"}},
                         false},
                    Case{"graph_break_print",
                         kLastMetrics,
                         {{.kind = "sync_point"}, {.kind = "graph_fragmentation"}},
                         false}));

INSTANTIATE_TEST_SUITE_P(
    XSpaceAlone, Captures,
    testing::Values(
        Case{"train_mnist_clean", kXSpace, {}},
        // The window of five steps has one recompile: it is found with its line, but it is not a
        // pattern.
        Case{"recompile_dynamic_batch",
             kXSpace,
             {{.kind = "recompilation", .reason = "shape_change", .line = 7, .severity = "*"}},
             false},
        Case{"recompile_python_scalar",
             kXSpace,
             {{.kind = "recompilation", .reason = "constant_change", .line = 10}},
             false},
        Case{"recompile_loop_index_text",
             kXSpace,
             {{.kind = "recompilation", .reason = "constant_change"}},
             false},
        Case{"gap_host_watermark",
             kXSpace,
             {{.kind = "device_gap", .count = 5, .scope = "pipe_watermark"},
              {.kind = "sync_point", .count = 5}}}));

// The expected busy time is the union of `XLA Modules` between the first and the last, as a share
// of that span. The figures come from the capture's own source.
TEST(CapturesFigures, BusyTimeOfTheTpus) {
  json report = Report(PathsOf("tpu_inference", kAll));
  std::map<std::string, double> busy;
  for (const json& device : report["summary"]["devices"]) {
    busy[device["name"]] =
        100.0 * device["busy_ns"].get<double>() / device["span_ns"].get<double>();
  }
  ASSERT_EQ(busy.size(), 4u);
  EXPECT_NEAR(busy["TPU:0"], 85.14, 0.1);
  EXPECT_NEAR(busy["TPU:1"], 87.16, 0.1);
  EXPECT_NEAR(busy["TPU:2"], 87.18, 0.1);
  EXPECT_NEAR(busy["TPU:3"], 87.16, 0.1);
}

// Holistic Trace Analysis reports for the whole file: idle 7,567 us of 480,029 us.
TEST(CapturesFigures, IdleTimeOfAGpu) {
  std::string path;
  for (const auto& entry : fs::directory_iterator(kCaptures / "kineto")) {
    if (entry.path().filename().string().starts_with("rank-0.")) path = entry.path().string();
  }
  json report = Report(path);
  ASSERT_EQ(report["summary"]["devices"].size(), 1u);
  const json& device = report["summary"]["devices"][0];
  EXPECT_EQ(device["span_ns"].get<int64_t>() / 1000, 480'029);
  EXPECT_EQ((device["span_ns"].get<int64_t>() - device["busy_ns"].get<int64_t>()) / 1000, 7'574);
}

TEST(CapturesFigures, TwoRanksOfAJobAreOneRun) {
  std::string paths;
  for (int rank : {0, 1})
    paths += " " + (kCaptures / "kineto" / ("sampled_rank-" + std::to_string(rank))).string() +
             ".json.gz";
  json report = Report(paths);
  EXPECT_EQ(report["summary"]["devices"].size(), 2u);
  EXPECT_EQ(report["issues"].size(), 0u) << report["issues"];
  bool kernel_wait = false;
  for (const json& finding : report["findings"]) {
    kernel_wait |= finding["kind"] == "device_gap" && finding["reason"]["type"] == "kernel_wait";
  }
  EXPECT_TRUE(kernel_wait) << report["findings"];
}

}  // namespace

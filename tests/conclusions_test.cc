// Tests the conclusions from everything in tests/ that can be reported on: each case of golden/
// (captures, stores, and the rows of each capture.sql) and each input that a fuzzer once found. A
// case is read as a whole, and each of its files alone.
//
// Each finding is reduced to its claims (severity, kind, reason, state, place, count, cost, saving,
// and the finding that explains it), so that its words may change but its claims may not. The test
// also states into which runs a directory is divided, and which of them is read.
//
// The expectation of tests/golden/SUITE is tests/golden/conclusions/SUITE.txt. A folder of
// tests/golden/plans has a layout.txt, which describes a directory of bundled files.
//
// Everything is read in this process, because starting the program some 900 times takes minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzers/report/report.h"
#include "cli/input_options.h"
#include "profiler/store/sql_script.h"
#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kRegressions = kGolden.parent_path() / "fuzz/regressions";
constexpr std::string_view kRows = "capture.sql", kLayout = "layout.txt";
constexpr std::string_view kRegressionSuite = "fuzz_regressions";

// Returns 1234567 as "1,234,567".
std::string Grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = int(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(size_t(at), ",");
  return digits;
}

std::string Text(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Returns "name value" if there is a value.
std::string Figure(const char* name, const json& value) {
  if (value.is_null()) return "";
  return std::string("  ") + name + " " +
         (value.is_number_integer() ? Grouped(value.get<int64_t>()) : Text(value));
}

// Returns the known parts of a place, such as "body train.py:7 scope train.1 op aten::nonzero".
std::string PlaceOf(const json& subject) {
  std::string place;
  auto add = [&](const std::string& part) { place += (place.empty() ? "" : " ") + part; };
  if (!subject["function"].is_null()) add(Text(subject["function"]));
  if (!subject["file"].is_null()) {
    const std::string file = fs::path(Text(subject["file"])).filename().string();
    add(subject["line"].is_null() ? file : file + ":" + Text(subject["line"]));
  }
  for (const char* name : {"scope", "op"}) {
    if (!subject[name].is_null()) add(std::string(name) + " " + Text(subject[name]));
  }
  return place;
}

// Returns the kind and the reason, such as "recompilation shape_change ongoing".
std::string NameOf(const json& finding) {
  std::string name = Text(finding["kind"]);
  if (const json& reason = finding["reason"]; reason.is_object()) {
    name += " " + Text(reason["type"]);
    if (!reason["state"].is_null()) name += " " + Text(reason["state"]);
    if (!reason["step"].is_null()) name += " step " + Text(reason["step"]);
  }
  return name;
}

std::string ClaimsOf(const json& finding, const std::map<std::string, const json*>& findings) {
  std::string text = "  " + Text(finding["severity"]) + " " + NameOf(finding) + "\n";
  if (const std::string place = PlaceOf(finding["subject"]); !place.empty())
    text += "    at " + place + "\n";
  const std::string figures = Figure("count", finding["count"]) +
                              Figure("cost_ns", finding["cost_ns"]) +
                              Figure("saving_ns", finding["saving_ns"]);
  if (!figures.empty()) text += "  " + figures + "\n";
  if (const auto root = findings.find(Text(finding["because_of"])); root != findings.end()) {
    const std::string place = PlaceOf((*root->second)["subject"]);
    text +=
        "    because of " + NameOf(*root->second) + (place.empty() ? "" : " at " + place) + "\n";
  }
  return text;
}

// Returns the JSON of `report`, which is made in the working directory, or null for an input that
// cannot be reported on.
json Report(const InputOptions& input) {
  std::string text;
  const absl::Status status = WithInput(input, [&](Store& store) -> absl::Status {
    Run run(store);
    XP_TRY(LetReadSources(SourceRoots(input, {}), run));
    XP_TRY(const xlaprof::Report report, MakeReport(run));
    text = ReportJson(report);
    return absl::OkStatus();
  });
  if (!status.ok()) return nullptr;
  json report = json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(report.is_discarded()) << text.substr(0, 200);
  return report;
}

std::string Conclusions(const json& report) {
  if (report.is_null()) return "  exit status 2\n";
  std::string text;
  for (const json& issue : report["issues"]) {
    text += "  issue " + Text(issue["severity"]) + " " + Text(issue["code"]) + " of " +
            fs::path(Text(issue["path"])).filename().string() + Figure("count", issue["count"]) +
            "\n";
  }
  std::map<std::string, const json*> findings;  // by fingerprint
  for (const json& finding : report["findings"])
    findings.emplace(Text(finding["fingerprint"]), &finding);
  for (const json& finding : report["findings"]) text += ClaimsOf(finding, findings);
  return text.empty() ? "  nothing found\n" : text;
}

// Returns the imported files, one line each.
std::string FilesOf(const json& report) {
  std::vector<std::string> lines;
  for (const json& source : report["sources"]) {
    if (source["imported"] == true)
      lines.push_back("    " + Text(source["format"]) + "  " + Text(source["path"]) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// Returns the runs that the working directory holds, with the files of each, and the files that
// were made from others.
std::string Plan(const json& report) {
  if (report.is_null()) return "  exit status 2\n";
  std::string text;
  for (const json& run : report["summary"]["runs"]) {
    const std::string label = Text(run["label"]);
    const bool chosen = run["selected"] == true;
    text += std::string(chosen ? "  chosen " : "  other ") + label + "\n";
    text += FilesOf(chosen ? report : Report({.paths = {"."}, .run = label, .as_format = {}}));
  }
  std::string derived;
  for (const json& source : report["sources"]) {
    if (!source["derived_from"].is_null()) {
      derived +=
          "  derived " + Text(source["path"]) + " from " + Text(source["derived_from"]) + "\n";
    }
  }
  return text + derived;
}

bool IsInput(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with("expected") && name != "args" && name != kRows;
}

// Returns the files below `folder` as relative paths, in order.
std::vector<std::string> InputsOf(const fs::path& folder) {
  std::vector<std::string> inputs;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && IsInput(entry.path()))
      inputs.push_back(fs::relative(entry.path(), folder).string());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

// Makes the directory that a layout.txt describes. Each line has the path of a file there, the file
// below tests/golden that has its bytes, and how many hours ago it was written.
void MakeLayout(const fs::path& layout, const fs::path& folder) {
  std::ifstream lines(layout);
  const fs::file_time_type now = fs::file_time_type::clock::now();
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string path, bytes;
    int hours_ago = 0;
    ASSERT_TRUE(words >> path >> bytes >> hours_ago) << layout << ": " << line;
    fs::create_directories((folder / path).parent_path());
    // A second source is appended, in the way that a run is appended to an earlier run's log.
    std::ofstream out(folder / path, std::ios::binary | std::ios::app);
    out << std::ifstream(kGolden / bytes, std::ios::binary).rdbuf();
    ASSERT_TRUE(out.good()) << bytes;
    out.close();
    fs::last_write_time(folder / path, now - std::chrono::hours(hours_ago));
  }
}

// Copies the files of a case into `folder`, so that they have the same age on each machine.
void CopyInputs(const fs::path& of_case, const fs::path& folder) {
  const auto written = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& input : InputsOf(of_case)) {
    fs::create_directories((folder / input).parent_path());
    fs::copy_file(of_case / input, folder / input);
    fs::last_write_time(folder / input, written);
  }
}

// Makes the store of the rows in capture.sql and returns its name.
std::string MakeStore(const fs::path& rows, const fs::path& folder) {
  const fs::path path = folder / "capture.xlaprof";
  auto store = Store::Create(path);
  EXPECT_TRUE(store.ok()) << store.status();
  const absl::Status status = store.ok() ? RunSqlScript(*store, ReadFile(rows)) : store.status();
  EXPECT_TRUE(status.ok()) << rows << ": " << status;
  return path.filename().string();
}

// Returns the conclusions from a case, whose files are put into the working directory.
std::string Concluded(const fs::path& of_case) {
  const fs::path here = fs::current_path();
  if (fs::exists(of_case / kLayout)) {
    MakeLayout(of_case / kLayout, here);
    return "runs\n" + Plan(Report({.paths = {"."}, .run = {}, .as_format = {}}));
  }
  CopyInputs(of_case, here);
  std::vector<std::string> inputs = InputsOf(of_case);
  if (fs::exists(of_case / kRows)) {
    inputs.insert(inputs.begin(), MakeStore(of_case / kRows, here));
    return "whole\n" + Conclusions(Report({.paths = inputs, .run = {}, .as_format = {}}));
  }
  const json whole = Report({.paths = {"."}, .run = {}, .as_format = {}});
  std::string text = "runs\n" + Plan(whole) + "whole\n" + Conclusions(whole);
  if (inputs.size() == 1) return text;
  for (const std::string& input : inputs)
    text += input + "\n" + Conclusions(Report({.paths = {input}, .run = {}, .as_format = {}}));
  return text;
}

// Returns the folders of the cases of a suite, in order.
std::vector<fs::path> CasesOf(const std::string& suite) {
  const fs::path folder = suite == kRegressionSuite ? kRegressions : kGolden / suite;
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() &&
        (fs::exists(entry.path() / kRows) || !InputsOf(entry.path()).empty()))
      cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::vector<std::string> Suites() {
  std::vector<std::string> suites = {std::string(kRegressionSuite)};
  for (const auto& suite : fs::directory_iterator(kGolden)) {
    const std::string name = suite.path().filename().string();
    if (suite.is_directory() && !CasesOf(name).empty()) suites.push_back(name);
  }
  std::sort(suites.begin(), suites.end());
  return suites;
}

class ConcludedFrom : public testing::TestWithParam<std::string> {};

TEST_P(ConcludedFrom, WhatIsExpected) {
  const fs::path before = fs::current_path();
  std::string text;
  for (const fs::path& of_case : CasesOf(GetParam())) {
    std::string scratch = (fs::temp_directory_path() / "xlaprof-conclusions-XXXXXX").string();
    ASSERT_NE(mkdtemp(scratch.data()), nullptr);
    fs::current_path(scratch);
    text += "=== " + of_case.filename().string() + "\n" + Concluded(of_case);
    fs::current_path(before);
    fs::remove_all(scratch);
  }
  ExpectFile(kGolden / "conclusions" / (GetParam() + ".txt"), text);
}

INSTANTIATE_TEST_SUITE_P(Suites, ConcludedFrom, testing::ValuesIn(Suites()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace xlaprof

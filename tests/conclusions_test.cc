// Tests the conclusions from each bundled capture: from the whole of it, and from each of its files
// alone. Every finding is reduced to its claims (kind, reason, state, severity, place, count, cost,
// saving), so that its words may change but its claims may not. Also tests into which runs every
// directory of files is divided, and which of them is read.
//
// The expectation of tests/golden/SUITE/CASE is tests/golden/conclusions/SUITE/CASE.txt. A folder
// of tests/golden/plans has a layout.txt, which describes a directory of bundled files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/golden_file.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

std::string FindingLine(const json& finding) {
  std::string reason;
  if (const json& r = finding["reason"]; r.is_object()) {
    reason = " " + Text(r["type"]);
    if (!r["state"].is_null()) reason += " " + Text(r["state"]);
    if (!r["step"].is_null()) reason += " step " + Text(r["step"]);
  }
  const std::string place = PlaceOf(finding["subject"]);
  const std::string figures = Figure("count", finding["count"]) +
                              Figure("cost_ns", finding["cost_ns"]) +
                              Figure("saving_ns", finding["saving_ns"]);
  return "  " + Text(finding["severity"]) + " " + Text(finding["kind"]) + reason + "\n" +
         (place.empty() ? "" : "    at " + place + "\n") +
         (figures.empty() ? "" : "  " + figures + "\n");
}

// Returns the output of `report --format json` for `arguments` in `folder`, or null if the program
// exits with 2.
json Report(const fs::path& folder, const std::string& arguments, const fs::path& scratch) {
  const std::string out = (scratch / "report.json").string();
  const Ran ran =
      RunShell("(cd '" + folder.string() + "' && " XLAPROF_PROGRAM " report --format json " +
                   arguments + ") >'" + out + "'",
               scratch);
  if (ran.status == 2) return nullptr;
  EXPECT_EQ(ran.status, 0) << arguments << "\n" << ran.out;
  std::ifstream file(out, std::ios::binary);
  json report = json::parse(file, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(report.is_discarded()) << arguments;
  return report;
}

std::string Quoted(const std::string& path) { return "'" + path + "'"; }

std::string Conclusions(const json& report) {
  if (report.is_null()) return "  exit status 2\n";
  std::string text;
  for (const json& issue : report["issues"]) {
    text += "  issue " + Text(issue["severity"]) + " " + Text(issue["code"]) + " of " +
            fs::path(Text(issue["path"])).filename().string() + Figure("count", issue["count"]) +
            "\n";
  }
  for (const json& finding : report["findings"]) text += FindingLine(finding);
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

// Returns the runs that a directory holds, with the files of each, and the files that were made
// from others.
std::string Plan(const fs::path& folder, const json& report, const fs::path& scratch) {
  if (report.is_null()) return "  exit status 2\n";
  std::string text;
  for (const json& run : report["summary"]["runs"]) {
    const std::string label = Text(run["label"]);
    const bool chosen = run["selected"] == true;
    text += std::string(chosen ? "  chosen " : "  other ") + label + "\n";
    text += FilesOf(chosen ? report : Report(folder, ". --run " + Quoted(label), scratch));
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
  return !name.starts_with("expected") && name != "args";
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

// Returns SUITE/CASE of every folder that holds input, in order.
std::vector<std::string> ConclusionCases() {
  std::vector<std::string> cases;
  for (const auto& suite : fs::directory_iterator(kGolden)) {
    if (!suite.is_directory() || suite.path().filename() == "conclusions") continue;
    for (const auto& folder : fs::directory_iterator(suite)) {
      if (!folder.is_directory()) continue;
      const bool has_rows = fs::exists(folder.path() / "capture.sql");
      if (has_rows || InputsOf(folder.path()).empty()) continue;
      cases.push_back(fs::relative(folder.path(), kGolden).string());
    }
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

class ConcludedFrom : public testing::TestWithParam<std::string> {};

// Makes the directory of a case in `folder`, so that the files have the same age on each machine.
void MakeDirectory(const fs::path& of_case, const fs::path& folder) {
  if (fs::exists(of_case / "layout.txt")) return MakeLayout(of_case / "layout.txt", folder);
  const auto written = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& input : InputsOf(of_case)) {
    fs::create_directories((folder / input).parent_path());
    fs::copy_file(of_case / input, folder / input);
    fs::last_write_time(folder / input, written);
  }
}

std::string Concluded(const std::string& name, const fs::path& scratch) {
  const fs::path of_case = kGolden / name, folder = scratch / "in";
  MakeDirectory(of_case, folder);
  const json whole = Report(folder, ".", scratch);
  std::string text = "runs\n" + Plan(folder, whole, scratch);
  if (fs::exists(of_case / "layout.txt")) return text;
  text += "whole\n" + Conclusions(whole);
  const std::vector<std::string> inputs = InputsOf(of_case);
  if (inputs.size() == 1) return text;
  for (const std::string& input : inputs)
    text += input + "\n" + Conclusions(Report(folder, Quoted(input), scratch));
  return text;
}

TEST_P(ConcludedFrom, WhatIsExpected) {
  std::string name = (fs::temp_directory_path() / "xlaprof-conclusions-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path scratch = name;
  const std::string text = Concluded(GetParam(), scratch);
  fs::remove_all(scratch);
  ExpectFile(kGolden / "conclusions" / (GetParam() + ".txt"), text);
}

INSTANTIATE_TEST_SUITE_P(Cases, ConcludedFrom, testing::ValuesIn(ConclusionCases()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace xlaprof

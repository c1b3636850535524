// Tests the conclusions from everything in tests/ that can be reported on (every_input.h). A case is
// read as a whole, and each of its files alone. The test also states into which runs a directory is
// divided, and which of them is read.
//
// The expectation of tests/golden/SUITE is tests/golden/conclusions/SUITE.txt. A folder of
// tests/golden/plans has a layout.txt, which describes a directory of bundled files.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/every_input.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns the imported files, one line each.
std::string FilesOf(const json& report) {
  std::vector<std::string> lines;
  for (const json& source : report["sources"]) {
    if (source["imported"] == true)
      lines.push_back("    " + JsonText(source["format"]) + "  " +
                      JsonText(source["path"]) + "\n");
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
    const std::string label = JsonText(run["label"]);
    const bool chosen = run["selected"] == true;
    text += std::string(chosen ? "  chosen " : "  other ") + label + "\n";
    text += FilesOf(chosen ? report : ReportOn({.paths = {"."}, .run = label, .as_format = {}}));
  }
  std::string derived;
  for (const json& source : report["sources"]) {
    if (!source["derived_from"].is_null()) {
      derived +=
          "  derived " + JsonText(source["path"]) + " from " + JsonText(source["derived_from"]) + "\n";
    }
  }
  return text + derived;
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

// Returns the conclusions from a case, whose files are put into the working directory.
std::string Concluded(const GoldenCase& of_case) {
  if (IsLayout(of_case)) {
    MakeLayout(of_case.path / "layout.txt", fs::current_path());
    return "runs\n" + Plan(ReportOn({.paths = {"."}, .run = {}, .as_format = {}}));
  }
  const std::vector<std::string> inputs = PutInputs(of_case);
  if (of_case.HasRows())
    return "whole\n" + Conclusions(ReportOn({.paths = inputs, .run = {}, .as_format = {}}));
  const json whole = ReportOn({.paths = {"."}, .run = {}, .as_format = {}});
  std::string text = "runs\n" + Plan(whole) + "whole\n" + Conclusions(whole);
  if (inputs.size() == 1) return text;
  for (const std::string& input : inputs)
    text += input + "\n" + Conclusions(ReportOn({.paths = {input}, .run = {}, .as_format = {}}));
  return text;
}

class ConcludedFrom : public testing::TestWithParam<std::string> {};

TEST_P(ConcludedFrom, WhatIsExpected) {
  std::string text;
  for (const GoldenCase& of_case : CasesOf(GetParam())) {
    text += "=== " + of_case.name + "\n";
    InScratch([&] { text += Concluded(of_case); });
  }
  ExpectFile(kGolden / "conclusions" / (GetParam() + ".txt"), text);
}

INSTANTIATE_TEST_SUITE_P(Suites, ConcludedFrom, testing::ValuesIn(Suites()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace xlaprof

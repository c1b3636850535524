// Runs and records an example, and reads its report.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/examples/line_of.h"
#include "tests/run_program.h"

namespace xlaprof {

class RecordedExample : public ProgramTest {
 protected:
  // Records the command, and returns its report.
  nlohmann::json ReportOf(const std::string& command) {
    std::filesystem::remove(folder_ / "run.xlaprof");
    const Ran ran = RunShell("XLAPROF_RECORD=run.xlaprof " + command, folder_);
    EXPECT_EQ(ran.status, 0) << ran.out;
    const Ran report = Run("report run.xlaprof --format json");
    EXPECT_EQ(report.status, 0) << report.out;
    return nlohmann::json::parse(report.out);
  }

  // Returns the first finding of this kind and reason above info; null if there is none.
  static nlohmann::json Fault(const nlohmann::json& report, const std::string& kind,
                              const std::string& reason) {
    for (const nlohmann::json& finding : report["findings"]) {
      if (finding["kind"] == kind && finding["reason"]["type"] == reason &&
          finding["severity"] != "info")
        return finding;
    }
    return nullptr;
  }

  // Expects that a finding is about the line of an example that has `text`.
  static void ExpectLine(const nlohmann::json& finding, const std::string& file,
                         const std::string& text) {
    ASSERT_TRUE(finding.is_object());
    EXPECT_EQ(finding["subject"]["line"], LineOf(file, text)) << finding.dump(1);
    EXPECT_TRUE(finding["subject"]["file"].get<std::string>().ends_with("examples/" + file))
        << finding.dump(1);
    EXPECT_GT(finding["cost_ns"], 0);
  }

  // Expects that docs/examples.md shows what the report says, apart from figures.
  static void ExpectOnPage(const nlohmann::json& finding) {
    std::ifstream file(XLAPROF_SOURCE_DIR "/docs/examples.md");
    std::string page, word;
    while (file >> word) page += word + " ";
    EXPECT_NE(page.find(finding["advice"].get<std::string>()), page.npos) << finding["advice"];
    const std::string place =
        std::filesystem::path(finding["subject"]["file"].get<std::string>()).filename().string() +
        ":" + std::to_string(finding["subject"]["line"].get<int64_t>());
    EXPECT_NE(page.find(place), page.npos) << place;
  }
};

}  // namespace xlaprof

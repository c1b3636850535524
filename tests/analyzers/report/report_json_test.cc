#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/analyzers/report/report_sample.h"

namespace xlaprof {
namespace {

using nlohmann::json;

std::vector<std::string> Keys(const json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(ReportJson, HasTheNamesOfTheInterface) {
  json report = json::parse(ReportJson(SampleReport()));
  EXPECT_THAT(Keys(report), testing::UnorderedElementsAre("xlaprof", "origin", "sources", "summary",
                                                          "findings", "not_checked", "issues"));
  EXPECT_TRUE(report["sources"][0].contains("links_to"));
  for (const char* key :
       {"steps", "wall_ns", "step_p50_ns", "step_p99_ns", "tracing_ns", "compile_count",
        "compile_ns", "execution_count", "execute_ns", "transfer_ns", "input_ns", "device_busy_ns",
        "device_idle_ns", "coverage"}) {
    EXPECT_TRUE(report["summary"].contains(key)) << key;
  }
  const json& finding = report["findings"][0];
  for (const char* key : {"kind", "severity", "title", "subject", "count", "per_step", "cost_ns",
                          "saving_ns", "reason", "advice", "evidence", "fingerprint"}) {
    EXPECT_TRUE(finding.contains(key)) << key;
  }
  EXPECT_THAT(Keys(finding["subject"]),
              testing::UnorderedElementsAre("file", "line", "function", "starts_function", "scope",
                                            "op", "graph_hash"));
  EXPECT_THAT(Keys(finding["reason"]), testing::IsSupersetOf({"type", "state", "step", "node",
                                                              "before", "after", "location"}));
}

TEST(ReportJson, UnknownIsNullAndNeverZero) {
  json report = json::parse(ReportJson(SampleReport()));
  EXPECT_TRUE(report["summary"]["input_ns"].is_null());
  EXPECT_TRUE(report["findings"][1]["cost_ns"].is_null());
  EXPECT_TRUE(report["findings"][1]["reason"].is_null());
  EXPECT_TRUE(report["findings"][0]["reason"]["step"].is_null());
  EXPECT_TRUE(report["findings"][0]["subject"]["op"].is_null());
  EXPECT_TRUE(report["sources"][3]["format"].is_null());
  EXPECT_EQ(report["findings"][0]["cost_ns"], 400'000'000);
  EXPECT_EQ(report["findings"][0]["severity"], "warning");
  EXPECT_EQ(report["findings"][0]["evidence"][0]["rows"], (std::vector<int64_t>{3, 4}));
}

TEST(ReportJson, SteadyStep) {
  Report report = SampleReport();
  json steady = json::parse(ReportJson(report))["summary"]["steady_step"];
  EXPECT_EQ(steady["tracing_ns"], 45'000'000);
  EXPECT_EQ(steady["input_ns"], 0);  // the host was recorded, so no input time is really zero
  report.steady.host.clear();
  EXPECT_TRUE(json::parse(ReportJson(report))["summary"]["steady_step"]["input_ns"].is_null());
  report.steady = {};
  EXPECT_TRUE(json::parse(ReportJson(report))["summary"]["steady_step"].is_null());
}

TEST(ReportJson, AbsoluteTimesAreText) {
  json report = json::parse(ReportJson(SampleReport()));
  EXPECT_EQ(report["summary"]["base_epoch_ns"], "1790000000000000000");
}

TEST(ReportJson, EmptyReportHasEmptyLists) {
  json report = json::parse(ReportJson(Report()));
  for (const char* key : {"sources", "findings", "issues"}) EXPECT_EQ(report[key], json::array());
  EXPECT_EQ(report["summary"]["coverage"], json::array());
  EXPECT_TRUE(report["summary"]["steps"].is_null());
}

TEST(ReportJson, InvalidUtf8DoesNotThrow) {
  json report = json::parse(ReportJson(HostileReport()));
  EXPECT_THAT(report["findings"][0]["title"].get<std::string>(), testing::HasSubstr("\uFFFD"));
}

TEST(FindingJson, IsTheObjectOfTheReportOnOneLine) {
  std::string line = FindingJson(SampleReport().findings[0]);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line), json::parse(ReportJson(SampleReport()))["findings"][0]);
}

}  // namespace
}  // namespace xlaprof

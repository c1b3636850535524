// Compares whole reports with texts, which stand beside their cases in tests/golden
// (golden_case.h). At most 30 cases have one: together they show each layout, and a finding of each
// kind. conclusions_test.cc compares the claims of all cases, and analyzers/words/said/ has all
// other words.
//
//   SUITE/CASE.txt          what `xlaprof report` prints, and exit status 0
//   SUITE/CASE.error.txt    what it prints on stderr, and exit status 2
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

fs::path TextOf(const GoldenCase& of_case, bool error) {
  return kGolden / of_case.suite / (of_case.name + (error ? ".error.txt" : ".txt"));
}

std::vector<GoldenCase> CasesWithText() {
  std::vector<GoldenCase> cases = GoldenCases();
  std::erase_if(cases, [](const GoldenCase& one) {
    return !fs::exists(TextOf(one, false)) && !fs::exists(TextOf(one, true));
  });
  return cases;
}

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, PrintsWhatIsExpected) {
  const GoldenCase& of_case = GetParam();
  const bool error = fs::exists(TextOf(of_case, true));
  std::string scratch = fs::temp_directory_path() / "xlaprof-golden-XXXXXX";
  ASSERT_NE(mkdtemp(scratch.data()), nullptr);
  std::string folder = scratch, inputs;
  if (of_case.HasRows()) {
    const absl::StatusOr<Store> store = of_case.MakeStore(fs::path(scratch) / "capture.xlaprof");
    ASSERT_TRUE(store.ok()) << store.status();
    inputs = " capture.xlaprof";
  } else {
    folder = of_case.path;
    for (const auto& entry : fs::directory_iterator(folder))
      inputs += " " + entry.path().filename().string();
  }
  const std::string command =
      fmt::format("cd {} && COLUMNS=100 {} report --colour never{} >{}/out 2>{}/err", folder,
                  XLAPROF_PROGRAM, inputs, scratch, scratch);
  const int status = std::system(command.c_str());
  const std::string printed = ReadFile(fs::path(scratch) / (error ? "err" : "out"));
  EXPECT_EQ(WEXITSTATUS(status), error ? 2 : 0) << command << "\n"
                                                << ReadFile(fs::path(scratch) / "err");
  fs::remove_all(scratch);
  ExpectFile(TextOf(of_case, error), printed);
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(CasesWithText()),
                         [](const testing::TestParamInfo<GoldenCase>& info) {
                           return info.param.suite + "_" + info.param.name;
                         });

TEST(GoldenTexts, AreFew) { EXPECT_LE(CasesWithText().size(), 30u); }

// A text whose case was renamed or removed would be compared with nothing.
TEST(GoldenTexts, BelongToCases) {
  for (const auto& entry : fs::recursive_directory_iterator(kGolden)) {
    const fs::path suite = entry.path().parent_path(), file = entry.path().filename();
    if (entry.path().extension() != ".txt" || suite.parent_path() != kGolden ||
        suite.filename() == "conclusions")
      continue;
    const std::string name = file.string().substr(0, file.string().find('.'));
    const std::vector<GoldenCase> cases = CasesIn(suite);
    EXPECT_EQ(std::ranges::count(cases, name, &GoldenCase::name), 1) << entry.path();
  }
}

TEST(CasesOfRows, FailsForAFault) {
  const auto fault = [](std::string_view text) {
    return std::string(Message(CasesOfRows("file", text).status()));
  };
  EXPECT_EQ(fault("-- case a reads=4\n{reads} {steps}\n"), "a: {steps} has no value");
  EXPECT_EQ(fault("-- case a reads=4\n-- case b reads=3 steps=2\n{reads}\n"),
            "b: steps=2 is not used");
  EXPECT_EQ(fault("-- case a\n-- case a\n"), "-- case a: no name, or that of another case");
  EXPECT_EQ(fault("-- case a reads\n"), "-- case a reads: reads is no NAME=VALUE");
  const auto cases = CasesOfRows("file", "f32[8]{0} {1,0} {\"a\": {}} {");
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_EQ(cases->at(0).name, "file");
  EXPECT_EQ(cases->at(0).rows, "f32[8]{0} {1,0} {\"a\": {}} {");
}

}  // namespace
}  // namespace xlaprof

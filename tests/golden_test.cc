// Runs the cases in tests/golden: each folder SUITE/CASE with an expected.txt or expected_error.txt
// is a test.
//
//   capture.sql           readable rows, from which a store is made and reported on
//   args                  more arguments of `xlaprof report`, on one line
//   any other file        an input, as it is
//   expected.txt          what the program prints, and exit status 0
//   expected_error.txt    what it prints on stderr, and exit status 2
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "profiler/store/sql_script.h"
#include "profiler/store/store.h"
#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Cases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden)) {
    if (entry.path().filename() == "expected.txt" ||
        entry.path().filename() == "expected_error.txt")
      cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, PrintsWhatIsExpected) {
  const fs::path expected = GetParam(), folder = expected.parent_path();
  const bool error = expected.filename() == "expected_error.txt";
  std::string scratch = fs::temp_directory_path() / "xlaprof-golden-XXXXXX";
  ASSERT_NE(mkdtemp(scratch.data()), nullptr);
  std::string inputs, arguments;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (name == "capture.sql") {
      auto store = Store::Create(fs::path(scratch) / "capture.xlaprof");
      ASSERT_TRUE(store.ok()) << store.status();
      absl::Status status = RunSqlScript(*store, ReadFile(entry.path()));
      ASSERT_TRUE(status.ok()) << status;
      inputs += " " + scratch + "/capture.xlaprof";
    } else if (name == "args") {
      std::getline(std::stringstream(ReadFile(entry.path())), arguments);
    } else if (!name.starts_with("expected")) {
      inputs += " " + name;
    }
  }
  std::string command =
      fmt::format("cd {} && COLUMNS=100 {} report --colour never {} {} >{}/out 2>{}/err",
                  folder.string(), XLAPROF_PROGRAM, inputs, arguments, scratch, scratch);
  int status = std::system(command.c_str());
  std::string printed = ReadFile(fs::path(scratch) / (error ? "err" : "out"));
  for (size_t at; (at = printed.find(scratch)) != std::string::npos;)
    printed.replace(at, scratch.size(), "SCRATCH");
  EXPECT_EQ(WEXITSTATUS(status), error ? 2 : 0) << command << "\n"
                                                << ReadFile(fs::path(scratch) / "err");
  fs::remove_all(scratch);
  ExpectFile(expected, printed);
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<fs::path>& info) {
                           std::string name =
                               fs::relative(info.param.parent_path(), kGolden).string();
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace xlaprof

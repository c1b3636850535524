// The cases in tests/golden: inputs of the program, about which tests state what must be concluded.
//
//   SUITE/CASE/...      the files of a case, as they are
//   SUITE/NAME.sql      the rows of a store, for one case or several that differ by a few values
//
// A file of rows may begin with a line for each of its cases, with the case's name and its values:
//
//   -- case just_fires reads=4 steps=40
//   -- case just_does_not_fire reads=3 steps=40
//
// In the rest of the file, {reads} is 4 in the first case and 3 in the second. All cases have the
// same names of values, and the rest uses each. Without such lines the file is one case, which has
// the file's name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

inline const std::filesystem::path kGolden =
    std::filesystem::path(XLAPROF_SOURCE_DIR) / "tests/golden";

struct GoldenCase {
  std::string suite, name;
  std::filesystem::path path;  // the folder of its files, or the file of its rows
  std::string rows;            // the statements that insert them, "" for a case of files

  bool HasRows() const { return !rows.empty(); }
  std::string FullName() const { return suite + "/" + name; }
  // Returns its files as paths relative to the folder, in order.
  std::vector<std::string> Files() const;
  // Returns a store with its rows: at the path, or a temporary one.
  absl::StatusOr<Store> MakeStore() const;
  absl::StatusOr<Store> MakeStore(const std::filesystem::path& at) const;
};

// Returns the cases of a file of rows, whose name is `name`. Fails if a {word} of the file has no
// value in a case, if a value is not used, or if two cases have one name.
absl::StatusOr<std::vector<GoldenCase>> CasesOfRows(std::string_view name, std::string_view text);

// Returns the cases in a folder of tests, in the order of their names. Ends the program, after it
// has said why, if a file of rows has a fault.
std::vector<GoldenCase> CasesIn(const std::filesystem::path& suite);

// Returns the cases of all suites of tests/golden, in order.
std::vector<GoldenCase> GoldenCases();

// Returns the case with this full name. Ends the program if there is none.
GoldenCase FindGoldenCase(std::string_view full_name);

}  // namespace xlaprof

// Finds out which framework the run's program uses.
#include "analyzers/analyzer.h"

namespace xlaprof {
namespace {

// Returns whether most of the user's lines are C++; nothing if no line is known.
absl::StatusOr<std::optional<bool>> LinesAreCpp(const Run& run) {
  XP_TRY(std::optional<int64_t> more_cpp_than_python, run.store().One<int64_t>(R"(
             SELECT sum(iif(file LIKE '%.py', -1, file LIKE '%.cc' OR file LIKE '%.cpp' OR
                            file LIKE '%.cxx' OR file LIKE '%.h' OR file LIKE '%.hpp'))
             FROM site HAVING count(*) > 0)"));
  if (!more_cpp_than_python) return std::optional<bool>();
  return std::optional<bool>(*more_cpp_than_python > 0);
}

}  // namespace

absl::StatusOr<Framework> FrameworkOf(const Run& run) {
  XP_TRY(const std::optional<bool> lines_are_cpp, LinesAreCpp(run));
  if (lines_are_cpp) return *lines_are_cpp ? Framework::kCpp : Framework::kUnknown;
  XP_TRY(auto recordings,
         run.store().One<int64_t>(
             "SELECT count(*) FROM source WHERE imported AND format = 'recording'"));
  XP_TRY(auto others, run.store().One<int64_t>(
                          "SELECT count(*) FROM source WHERE imported AND format <> 'recording'"));
  return recordings.value_or(0) > 0 && others.value_or(0) == 0 ? Framework::kCpp
                                                               : Framework::kUnknown;
}

}  // namespace xlaprof

// Finds out which framework the run's program uses.
#include <absl/strings/ascii.h>

#include <set>

#include "analyzers/analyzer.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Returns whether most of the user's lines are C++, or nothing if no line is known.
std::optional<bool> LinesAreCpp(const Sites& sites) {
  bool knows_lines = false;
  int64_t more_cpp_than_python = 0;
  for (const auto& [id, site] : sites.by_id) {
    if (!site.file) continue;
    knows_lines = true;
    const std::string file = absl::AsciiStrToLower(*site.file);
    auto ends = [&](std::string_view extension) { return file.ends_with(extension); };
    if (ends(".py")) {
      --more_cpp_than_python;
    } else if (ends(".cc") || ends(".cpp") || ends(".cxx") || ends(".h") || ends(".hpp")) {
      ++more_cpp_than_python;
    }
  }
  if (!knows_lines) return {};
  return more_cpp_than_python > 0;
}

}  // namespace

absl::StatusOr<Framework> FrameworkOf(const Run& run) {
  XP_TRY(const Sites* sites, run.Get<Sites>());
  if (const std::optional<bool> lines_are_cpp = LinesAreCpp(*sites))
    return *lines_are_cpp ? Framework::kCpp : Framework::kUnknown;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  return contents->formats == std::set<std::string>{"recording"} ? Framework::kCpp
                                                                 : Framework::kUnknown;
}

}  // namespace xlaprof

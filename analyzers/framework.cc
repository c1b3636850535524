// Finds out which framework the run's program uses.
#include <absl/strings/ascii.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analyzers/analyzer.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/jax_operation.h"
#include "analyzers/run/tables.h"
#include "profiler/vocabulary/programs.h"

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

// Returns the framework of most named programs. If no graph has a name that tells it, the host's calls
// count.
absl::StatusOr<Framework> FrameworkOfPrograms(const Run& run) {
  std::map<Framework, int64_t> programs;
  const auto add = [&](std::string_view name) {
    const Framework framework = FrameworkOfProgram(name);
    if (framework != Framework::kUnknown) ++programs[framework];
  };
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  for (const auto& [id, graph] : graphs->by_id) {
    if (!graph.number)
      add(graph.name.value_or(""));  // otherwise it is named as the user's function
  }
  if (programs.empty()) {
    XP_TRY(const JaxCalls* calls, run.Get<JaxCalls>());
    std::ranges::for_each(calls->names, add);
  }
  const auto most =
      std::ranges::max_element(programs, {}, [](const auto& of) { return of.second; });
  return most == programs.end() ? Framework::kUnknown : most->first;
}

}  // namespace

absl::StatusOr<Framework> FrameworkOf(const Run& run) {
  XP_TRY(const Sites* sites, run.Get<Sites>());
  const std::optional<bool> lines_are_cpp = LinesAreCpp(*sites);
  if (lines_are_cpp.value_or(false)) return Framework::kCpp;
  XP_TRY(const Sources* sources, run.Get<Sources>());
  std::set<Framework> written_by;
  for (const SourceRow& source : sources->rows) {
    if (source.imported) written_by.insert(source.framework.value_or(Framework::kUnknown));
  }
  for (const Framework framework :
       {Framework::kPytorchXla, Framework::kJax, Framework::kTorchtpu, Framework::kGaudi}) {
    if (written_by.contains(framework)) return framework;
  }
  if (!lines_are_cpp.has_value() && written_by == std::set{Framework::kCpp}) return Framework::kCpp;
  XP_TRY(const Framework of_programs, FrameworkOfPrograms(run));
  if (of_programs != Framework::kUnknown) return of_programs;
  if (written_by.contains(Framework::kPytorch)) return Framework::kPytorch;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  const bool has_torch_compile = std::ranges::any_of(
      graphs->by_id, [](const auto& graph) { return graph.second.number.has_value(); });
  return contents->has_torch_ops || has_torch_compile ? Framework::kPytorch : Framework::kUnknown;
}

}  // namespace xlaprof

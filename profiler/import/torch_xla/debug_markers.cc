#include "profiler/import/torch_xla/debug_markers.h"

#include <algorithm>
#include <utility>

namespace xlaprof {

Marker FindBlock(std::string_view text, size_t from) {
  static constexpr std::string_view kAnalysis = "Analysis:";
  static constexpr std::pair<std::string_view, Block> kKinds[] = {
      {"Post Compilation ", kPost},
      {"Unexpected Execution ", kUnexpected},
      {"Compilation ", kCompilation},
      {"Execution ", kExecution}};
  for (size_t at = text.find(kAnalysis, from); at != std::string_view::npos;
       at = text.find(kAnalysis, at + 1)) {
    for (const auto& [word, block] : kKinds) {
      if (at >= from + word.size() && text.substr(at - word.size(), word.size()) == word) {
        return {at - word.size(), at + kAnalysis.size(), block};
      }
    }
  }
  return {};
}

Marker FindProfiler(std::string_view text, size_t from) {
  const size_t at = text.find(kProfiler, from);
  return at == std::string_view::npos ? Marker{} : Marker{at, at + kProfiler.size(), kBlocks};
}

bool IsRuler(std::string_view text, char mark) {
  constexpr size_t kShortest = 20;  // the rest of the 80 may be lost, or a progress bar may follow
  if (text.size() < kShortest) return false;
  text = text.substr(0, kShortest);
  return std::all_of(text.begin(), text.end(), [&](char c) { return c == mark; });
}

}  // namespace xlaprof

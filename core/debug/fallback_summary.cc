#include "core/debug/fallback_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/debug/frames.h"

namespace xlaprof::lazy::debug {
namespace {

struct Fallbacks {
  std::mutex mutex;
  std::map<std::pair<std::string, std::vector<std::string>>, int64_t> counts;  // by op and frames
};
Fallbacks& TheFallbacks() {
  static Fallbacks& fallbacks = *new Fallbacks;
  return fallbacks;
}

}  // namespace

void AddFallback(std::string_view op, const std::vector<std::string>& frames) {
  Fallbacks& fallbacks = TheFallbacks();
  std::lock_guard lock(fallbacks.mutex);
  ++fallbacks.counts[{std::string(BareName(op)), frames}];
}

std::string FallbackSummary() {
  Fallbacks& fallbacks = TheFallbacks();
  std::lock_guard lock(fallbacks.mutex);
  std::vector<const decltype(fallbacks.counts)::value_type*> entries;
  for (const auto& entry : fallbacks.counts) entries.push_back(&entry);
  if (entries.empty()) return "";
  std::stable_sort(entries.begin(), entries.end(),
                   [](auto* a, auto* b) { return a->second > b->second; });
  std::string text = fmt::format(
      "{:=<80}\nUnlowered Op usage summary (more of these ops, lower performance)\n"
      "Note: _local_scalar_dense typically indicates CPU context access\n{:-<80}\n",
      "", "");
  for (const auto* entry : entries) {
    const auto& [op, frames] = entry->first;
    text +=
        fmt::format("FRAME (count={}):\nUnlowered Op: \"{}\"\nPython Frames:\n", entry->second, op);
    for (const std::string& frame : frames) text += fmt::format("  {}\n", frame);
    text += '\n';
  }
  return text + fmt::format("{:=<80}\n", "");
}

}  // namespace xlaprof::lazy::debug

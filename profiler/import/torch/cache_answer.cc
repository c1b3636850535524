// The payload is one line of JSON, of up to 60 KB, because it lists what the key was made of:
//   {"cache_status_detailed": "hit", "time_saved_ms": 22347.0, "key": "arvuz...", "cache_state": "hit", "components": [...]}
// Only what stands before the components is read.
#include "profiler/import/torch/cache_answer.h"

#include <cmath>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

struct CacheName {
  std::string_view prefix;
  ProgramCache cache;
};
constexpr CacheName kCaches[] = {{"aotautograd_cache_", ProgramCache::kAotAutograd},
                                 {"fx_graph_cache_", ProgramCache::kInductor}};

// Returns what follows `"name": ` up to the end of the value: a number, or a text without its quotes.
std::string_view ValueOf(std::string_view object, std::string_view name) {
  const std::string label = fmt::format("\"{}\": ", name);
  const size_t at = object.find(label);
  if (at == kNone) return "";
  std::string_view value = object.substr(at + label.size());
  if (!value.starts_with('"')) return value.substr(0, value.find_first_of(",}"));
  value.remove_prefix(1);
  return value.substr(0, value.find('"'));
}

}  // namespace

std::optional<CacheAnswer> ParseCacheAnswer(std::string_view artifact, std::string_view payload) {
  for (const auto& [prefix, cache] : kCaches) {
    if (!artifact.starts_with(prefix)) continue;
    CacheAnswer answer{.cache = cache,
                       .result = ParseWord<CacheResult>(artifact.substr(prefix.size()))};
    if (answer.result == CacheResult::kUnknown) return {};
    const std::string_view object = payload.substr(0, payload.find("\"components\""));
    answer.key = ToUtf8(ValueOf(object, "key"));
    if (answer.result == CacheResult::kHit) {
      const auto saved_ms = ParseReal(ValueOf(object, "time_saved_ms"));
      if (saved_ms && *saved_ms >= 0 && *saved_ms < 0x1p40)
        answer.saved_ns = std::llround(*saved_ms * 1e6);
    }
    return answer;
  }
  return {};
}

}  // namespace xlaprof

#include "profiler/import/jax/jax_log_cache.h"

#include <algorithm>
#include <cctype>

#include "profiler/import/graph/jit_call_site.h"

namespace xlaprof {

void JaxCacheLog::Add(const JaxLogLine& line, int origin, int compile, TextPosition place) {
  const bool is_hit = line.kind == JaxLogLine::kPersistentHit;
  if (!is_hit) {
    constexpr size_t kMostOpen = 256;  // a log of misses only must not be searched again and again
    std::vector<size_t>& open = open_[origin];
    if (open.size() >= kMostOpen) open.erase(open.begin());
    open.push_back(lookups_.size());
  }
  lookups_.push_back({.origin = origin,
                      .place = place,
                      .compile = compile,
                      .is_hit = is_hit,
                      .program = std::string(line.function),
                      .key = std::string(line.key),
                      .is_stored = {},
                      .why = {},
                      .least_ns = {}});
}

void JaxCacheLog::Complete(const JaxLogLine& line, int origin) {
  std::vector<size_t>& open = open_[origin];
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](size_t index) {
    const JaxLookup& lookup = lookups_[index];
    if (!line.key.empty() && !lookup.key.empty()) return lookup.key == line.key;
    return line.function.empty() || lookup.program == line.function;
  });
  if (found == open.rend()) return;
  JaxLookup& lookup = lookups_[*found];
  // JAX may announce that it writes a program, and report afterwards that this failed.
  lookup.is_stored = line.kind == JaxLogLine::kWritten;
  if (*lookup.is_stored) return;
  lookup.why = line.why;
  lookup.least_ns = line.least_ns;
  open.erase(std::next(found).base());
}

void JaxCacheLog::Move(int from, int to, int64_t first_line) {
  for (size_t i = lookups_.size(); i-- > 0 && lookups_[i].place.line >= first_line;) {
    if (lookups_[i].origin == from) lookups_[i].origin = to;
  }
  std::vector<size_t>& open = open_[from];
  const auto moved = std::ranges::stable_partition(
      open, [&](size_t index) { return lookups_[index].origin == from; });
  open_[to].assign(moved.begin(), moved.end());
  open.erase(moved.begin(), moved.end());
}

bool IsModuleOf(std::string_view module, std::string_view function) {
  const std::string_view name = FunctionOfModule(module);
  return std::ranges::equal(name, function, [](char of_module, char of_function) {
    return of_module == of_function ||
           (of_module == '_' && !std::isalnum(static_cast<unsigned char>(of_function)));
  });
}

}  // namespace xlaprof

#include "profiler/import/jax/jax_log_repeats.h"

#include <optional>

#include "base/numbers.h"
#include "profiler/import/jax/jax_log_line.h"
#include "profiler/import/text/lines.h"

namespace xlaprof {
namespace {

// Replaces digits by 0, because times and thread ids change from line to line.
std::string Pattern(std::string_view prefix) {
  std::string pattern(prefix);
  for (char& c : pattern) c = IsDigit(c) ? '0' : c;
  return pattern;
}

// Returns whether a prefix has a time of the day with a fraction of a second: 00:05:13,030 or
// 00:05:13.041932.
bool HasFractionOfSecond(std::string_view prefix) {
  constexpr std::string_view kCommaTime = "00:00:00,000", kPointTime = "00:00:00.000";
  const std::string pattern = Pattern(prefix);
  return pattern.find(kCommaTime) != std::string::npos ||
         pattern.find(kPointTime) != std::string::npos;
}

}  // namespace

bool BeginsWithRepeats(std::string_view bytes) {
  constexpr std::string_view kMeasured = "Finished ";
  constexpr size_t kSearchedBytes = 1 << 20;
  bytes = bytes.substr(0, kSearchedBytes);
  std::string first;
  // The first of these words may be the program's own, so the search begins at its line.
  const size_t at = bytes.find(kMeasured);
  if (at == std::string_view::npos) return false;
  Lines lines(bytes.substr(bytes.rfind('\n', at) + 1));
  while (lines.Next()) {
    const std::optional<JaxLogLine> line = ParseJaxLogLine(lines.line());
    if (!line) continue;
    const std::string_view message = lines.line().substr(line->begin);
    if (!first.empty()) return message == first;
    if (line->is_exact) first = message;
  }
  return false;
}

bool RepeatedRecords::IsRepeated(std::string_view prefix, std::string_view message, bool is_exact,
                                 bool is_cut) {
  const bool is_same =
      is_cut ? message_.starts_with(message) && !message.empty() : message_ == message;
  if (is_same) {
    const bool is_repeated = Pattern(prefix) != Pattern(prefix_) || is_exact || repeats_ ||
                             (prefix == prefix_ && HasFractionOfSecond(prefix));
    if (is_exact) repeats_ = exact_was_repeated_ = true;
    if (is_repeated) return true;
  } else if (is_exact) {
    repeats_ = exact_was_repeated_;
    exact_was_repeated_ = false;
  }
  message_ = message;
  prefix_ = prefix;
  return false;
}

}  // namespace xlaprof

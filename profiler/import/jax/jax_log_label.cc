#include "profiler/import/jax/jax_log_label.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/numbers.h"
#include "profiler/import/jax/jax_log_line.h"
#include "profiler/import/text/lines.h"

namespace xlaprof {
namespace {

constexpr int64_t kLinesLookedAt = 4096, kFewestLines = 4;
constexpr double kNearlyAll = 0.9;  // the launcher's own lines have no label
constexpr size_t kLongestLabel = 80;
constexpr size_t kLongestNumber = 8;  // longer ones are times and ids of threads

// Recognises absl's date: W1124.
bool IsAbslDate(std::string_view token) {
  return token.size() == 5 && std::string_view("IWEF").find(token[0]) != std::string_view::npos &&
         std::all_of(token.begin() + 1, token.end(), IsDigit);
}

// Returns the token that `line` begins with, leaving out times. A bracket extends to its partner.
JaxLogLabels::Parts Cut(std::string_view line) {
  std::string_view rest = line;
  while (true) {
    size_t end = 0;
    if (rest.starts_with('[') || rest.starts_with('('))
      end = std::min(rest.find(rest[0] == '[' ? ']' : ')'), rest.size());
    end = std::min(rest.find(' ', end), rest.size());
    const std::string_view token = rest.substr(0, end);
    if (token.empty() || token.size() > kLongestLabel || IsAbslDate(token)) return {};
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (IsTime(token)) continue;
    const size_t bar = rest.find_first_not_of(' ');
    if (bar != rest.npos && rest[bar] == '|' && (bar + 1 == rest.size() || rest[bar + 1] == ' ')) {
      rest.remove_prefix(std::min(bar + 2, rest.size()));
      return {line.substr(size_t(token.data() - line.data()), size_t(rest.data() - token.data())),
              rest};
    }
    return {token, rest};
  }
}

// Removes the stream from mpirun's label, because one process writes to both streams.
std::string WithoutStream(std::string_view label) {
  std::string name(label);
  for (std::string_view stream : {"<stdout>", "<stderr>"}) {
    if (const size_t at = name.find(stream); at != name.npos) name.erase(at, stream.size());
  }
  return name;
}

std::string PatternOf(std::string_view label) {
  std::string pattern;
  size_t digits = 0;
  for (char c : WithoutStream(label)) {
    digits = IsDigit(c) ? digits + 1 : 0;
    if (digits > kLongestNumber) return "";
    if (digits == 0) pattern += c;
    if (digits == 1) pattern += '0';
  }
  return pattern;
}

// Returns whether a pattern ends as labels do and words do not.
bool IsMarked(std::string_view pattern) {
  const size_t last = pattern.find_last_not_of(' ');
  return last != pattern.npos && std::string_view(":])>|").find(pattern[last]) != pattern.npos;
}

}  // namespace

JaxLogLabels::JaxLogLabels(std::string_view bytes) {
  struct Seen {
    int64_t lines = 0;
    std::set<std::string> labels, came_back;  // labels that came back after another one
    std::string last;
  };
  std::map<std::string, Seen> by_pattern;
  int64_t lines = 0;
  for (LogTexts texts(bytes); lines < kLinesLookedAt && texts.Next();) {
    if (Trim(texts.text()).empty()) continue;
    ++lines;
    const std::string_view label = Cut(texts.text()).label;
    std::string pattern = PatternOf(label);
    if (pattern.empty()) continue;
    Seen& seen = by_pattern[std::move(pattern)];
    ++seen.lines;
    std::string name = WithoutStream(label);
    const bool is_new = seen.labels.insert(name).second;
    if (!is_new && name != seen.last) seen.came_back.insert(name);
    seen.last = std::move(name);
  }
  for (const auto& [pattern, seen] : by_pattern) {
    if (lines < kFewestLines || double(seen.lines) < kNearlyAll * double(lines)) continue;
    const size_t labels = seen.labels.size();
    if (labels == 1 && !IsMarked(pattern)) continue;
    pattern_ = pattern, several_ = labels > 1;
    counts_ = several_ && 2 * seen.came_back.size() <= labels;
  }
}

JaxLogLabels::Parts JaxLogLabels::Of(std::string_view line) const {
  if (pattern_.empty()) return {.label = {}, .text = line};
  Parts parts = Cut(line);
  if (PatternOf(parts.label) != pattern_) return {.label = {}, .text = line};
  if (counts_ && OriginOfPrefix(parts.label) == LogOrigin()) parts.label = {};
  return parts;
}

LogOrigin JaxLogLabels::OriginOf(std::string_view label) const {
  LogOrigin origin = OriginOfPrefix(label);
  if (!several_ || origin != LogOrigin()) return origin;
  std::string name = WithoutStream(label);
  name.erase(name.find_last_not_of(" :|") + 1);
  origin.rank = ParseCount(name);
  if (!origin.rank) {
    origin.host = std::move(name);
  }
  return origin;
}

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

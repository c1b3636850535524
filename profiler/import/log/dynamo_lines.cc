#include "profiler/import/log/dynamo_lines.h"

#include <algorithm>

#include "base/numbers.h"

namespace xlaprof {
namespace {

constexpr std::string_view kDigits = "0123456789";

// Reads the last [3/36] or [3/36_1] of a prefix.
std::optional<DynamoId> IdIn(std::string_view prefix) {
  const size_t slash = prefix.rfind('/'), open = prefix.rfind('[', slash);
  if (slash == kNone || open == kNone) return {};
  const std::string_view frame = prefix.substr(open + 1, slash - open - 1),
                         rest = prefix.substr(slash + 1);
  const size_t end = rest.find_first_not_of(kDigits);
  if (frame.empty() || frame.find_first_not_of(kDigits) != kNone || end == 0 || end == kNone ||
      (rest[end] != ']' && rest[end] != '_'))
    return {};
  const OptInt number = ParseCount(frame), program = ParseCount(rest.substr(0, end));
  if (!number || !program) return {};
  return DynamoId{.frame = *number, .program = *program};
}

// Reads 12 of "V1124 23:12:40.1 12 torch/_dynamo/guards.py:2813]".
OptInt PidIn(std::string_view prefix) {
  std::string_view before, last;
  while (!prefix.empty()) {
    const size_t end = std::min(prefix.find(' '), prefix.size());
    const std::string_view token = prefix.substr(0, end);
    prefix.remove_prefix(std::min(end + 1, prefix.size()));
    const bool is_number = !token.empty() && token.find_first_not_of(kDigits) == kNone;
    if (is_number && IsTime(last) && before.size() >= 5 &&
        before.substr(before.size() - 4).find_first_not_of(kDigits) == kNone)
      return ParseCount(token);
    before = last, last = token;
  }
  return {};
}

}  // namespace

DynamoPrefix ParseDynamoPrefix(std::string_view prefix) {
  DynamoPrefix parsed{.origin = OriginOfPrefix(prefix), .id = IdIn(prefix)};
  if (!parsed.origin.pid) parsed.origin.pid = PidIn(prefix);
  constexpr size_t kLongestPrefix = 1000;
  parsed.text = Trim(prefix.substr(0, kLongestPrefix));
  return parsed;
}

void DynamoOrigins::Note(const LogOrigin& origin) {
  all_.insert(origin);
  if (origin.pid && origin.rank) ranks_.try_emplace(*origin.pid, *origin.rank);
}

LogOrigin DynamoOrigins::WithRank(LogOrigin origin) const {
  if (origin.rank || !origin.pid) return origin;
  if (const auto rank = ranks_.find(*origin.pid); rank != ranks_.end()) origin.rank = rank->second;
  return origin;
}

void DynamoOrigins::Finish() {
  std::set<LogOrigin> ranked;
  for (const LogOrigin& origin : all_) ranked.insert(WithRank(origin));
  for (const LogOrigin& origin : ranked) ++processes_[WithoutPid(origin)];
}

bool DynamoOrigins::IsOnlyProcess(const LogOrigin& origin) const {
  const auto alike = processes_.find(WithoutPid(origin));
  return alike == processes_.end() || alike->second == 1;
}

LogOrigin DynamoOrigins::WithoutPid(LogOrigin origin) {
  origin.pid.reset();
  return origin;
}

namespace {

// Returns whether a bracket or a quotation in `text` has no end.
bool HasOpenBracket(std::string_view text) {
  return std::ranges::count(text, '(') > std::ranges::count(text, ')') ||
         std::ranges::count(text, '[') > std::ranges::count(text, ']');
}

}  // namespace

void DynamoEnd::Take(const LogTexts& texts) {
  const std::string_view line = texts.text();
  const TextPosition here{texts.offset(), texts.number()};
  if (!Trim(line).empty()) goes_on_.reset();
  // [__recompiles], [__guards] and others
  const size_t mark = line.find("[__");
  const bool is_last = !texts.ended() && !texts.is_decoded();
  if (mark == kNone) {
    const auto rest = is_last ? prefixes_.RestAfter(line) : std::nullopt;
    if (rest && rest->empty()) torn_ = here;
    return;
  }
  const size_t end = line.find("] ", mark);
  const std::string_view text = line.substr(end == kNone ? line.size() : end + 2);
  if (is_last) {
    if (text.empty() || HasOpenBracket(text)) torn_ = here;
    return;
  }
  prefixes_.Note(line.substr(0, line.size() - text.size()));
  const bool begins_guards = text.starts_with("TREE_GUARD_MANAGER:");
  const bool ends_guards = text.starts_with("Guard eval latency");
  const bool names_function = text.starts_with("Recompiling function ");
  if (begins_guards || ends_guards || names_function) {
    const LogOrigin origin = ParseDynamoPrefix(line.substr(0, mark)).origin;
    if (begins_guards) {
      open_guards_[origin] = here;
    } else {
      open_guards_.erase(origin);
    }
    saw_end_of_guards_ |= ends_guards;
  }
  // The failures follow. torch 2.0 prints them in the same line.
  if ((names_function && text.find("triggered by ") == kNone) ||
      text.find("triggered by the following guard failure(s):") != kNone)
    goes_on_ = here;
}

std::optional<TextPosition> DynamoEnd::Cut() const {
  if (torn_) return torn_;
  if (goes_on_) return goes_on_;
  if (!saw_end_of_guards_ || open_guards_.empty()) return {};
  return open_guards_.begin()->second;
}

}  // namespace xlaprof

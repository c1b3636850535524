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

}  // namespace xlaprof

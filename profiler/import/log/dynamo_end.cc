#include "profiler/import/log/dynamo_end.h"

#include <algorithm>

#include "profiler/import/log/dynamo_lines.h"

namespace xlaprof {
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

#include "base/source_place.h"

#include "base/numbers.h"

namespace xlaprof {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Takes `:number` off the end of `*text`.
std::optional<int64_t> TakeNumberAtEnd(std::string_view* text) {
  const size_t colon = text->rfind(':');
  if (colon == kNone) return std::nullopt;
  const std::optional<int64_t> number = ParseCount(text->substr(colon + 1));
  if (number) *text = text->substr(0, colon);
  return number;
}

std::string TextOf(std::string_view file, std::optional<int64_t> line) {
  if (!line) return std::string(file);
  std::string text(file.empty() ? "?" : file);
  text += ':';
  text += std::to_string(*line);
  return text;
}

}  // namespace

SourcePlace SourcePlace::Parse(std::string_view text) {
  SourcePlace place;
  if (const size_t open = text.rfind(" ("); open != kNone && text.ends_with(')')) {
    place.function = text.substr(open + 2, text.size() - open - 3);
    text = text.substr(0, open);
  } else if (const size_t at = text.find('@'); at != kNone && text.find('/') >= at) {
    // An @ after a slash belongs to the path.
    place.function = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  std::optional<int64_t> line = TakeNumberAtEnd(&text);
  // Two numbers are a line and its column.
  if (const auto before = line ? TakeNumberAtEnd(&text) : std::nullopt) line = before;
  if (line.value_or(0) > 0) place.line = line;
  place.file = text;
  return place;
}

// Reads "$monitor.py:18 update". Built-in functions have no line: "$numpy asarray".
static SourcePlace ParseTracedCall(std::string_view name) {
  name.remove_prefix(1);
  const size_t space = name.find(' ');
  const size_t colon = name.substr(0, space).rfind(':');
  if (space == kNone || colon == kNone || colon == 0) return {};
  const std::optional<int64_t> line = ParseCount(name.substr(colon + 1, space - colon - 1));
  if (!line) return {};
  return {.file = std::string(name.substr(0, colon)),
          .line = line,
          .function = std::string(name.substr(space + 1)),
          .starts_function = true};
}

SourcePlace SourcePlace::ParsePythonCall(std::string_view name) {
  if (name.starts_with('$')) return ParseTracedCall(name);
  constexpr std::string_view kClose = "): ";
  const size_t close = name.rfind(kClose);
  const size_t open = close == kNone ? kNone : name.rfind('(', close);
  if (open == kNone || open == 0) return {};
  // The function's name may contain `): ` too, so the place ends at the first one after the
  // bracket.
  const size_t end = name.find(kClose, open);
  const std::optional<int64_t> line = ParseCount(name.substr(open + 1, end - open - 1));
  if (!line) return {};
  return {.file = std::string(name.substr(0, open)),
          .line = line,
          .function = std::string(name.substr(end + kClose.size())),
          .starts_function = true};
}

bool SourcePlace::IsLineOf(const SourcePlace& other) const {
  return line && line == other.line && basename() == other.basename();
}

std::string_view SourcePlace::basename() const {
  return std::string_view(file).substr(file.find_last_of("/\\") + 1);
}

std::string SourcePlace::text() const { return TextOf(file, line); }
std::string SourcePlace::ShortText() const { return TextOf(basename(), line); }

std::string SourcePlace::TextWithFunction() const {
  return function.empty() ? text() : function + "@" + text();
}

}  // namespace xlaprof

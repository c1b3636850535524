#include "profiler/import/text/markup.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace xlaprof {
namespace {

// Returns the character of the entity of HTML that begins at `at`, and sets `past` to the place after
// it. Returns 0 if there is none, or one that does not occur in logs.
char EntityAt(std::string_view text, size_t at, size_t& past) {
  static constexpr std::pair<std::string_view, char> kNames[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", ' '}};
  const size_t end = text.substr(0, at + 10).find(';', at);
  if (end == std::string_view::npos) return '\0';
  past = end + 1;
  const std::string_view name = text.substr(at + 1, end - at - 1);
  for (const auto& [known, c] : kNames) {
    if (name == known) return c;
  }
  if (!name.starts_with('#')) return '\0';
  const bool hex = name.starts_with("#x") || name.starts_with("#X");
  const int code = ParseInteger<int>(name.substr(hex ? 2 : 1), hex ? 16 : 10).value_or(0);
  return code == 160 ? ' ' : code >= 0x20 && code < 0x7f ? char(code) : '\0';
}

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Tag {
  size_t past = 0;           // place after it; 0: no tag
  bool breaks_line = false;  // another line follows
  bool is_short = false;     // its name has one letter
};

Tag TagAt(std::string_view text, size_t at) {
  static constexpr std::string_view kInLine[] = {"span", "code", "b", "i"};
  static constexpr std::string_view kBreaking[] = {
      "br", "p",  "pre", "div", "html", "body", "td", "tr", "th", "table", "tbody",
      "li", "ul", "ol",  "hr",  "h1",   "h2",   "h3", "h4", "h5", "h6",    "blockquote"};
  constexpr size_t kLongest = 200;
  size_t name = at + 1;
  if (name < text.size() && text[name] == '/') ++name;
  size_t end = name;
  while (end < text.size() && IsWord(text[end])) ++end;
  const std::string_view word = text.substr(name, end - name);
  const bool in_line = std::ranges::find(kInLine, word) != std::end(kInLine);
  if (!in_line && std::ranges::find(kBreaking, word) == std::end(kBreaking)) return {};
  if (end == text.size() || std::string_view(" \t/>").find(text[end]) == std::string_view::npos)
    return {};
  const size_t close = text.find('>', end);
  if (close == std::string_view::npos || close - at > kLongest) return {};
  return {close + 1, !in_line, word.size() == 1};
}

}  // namespace

bool HoldsMarkup(std::string_view text) {
  size_t past = 0;
  for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    if (EntityAt(text, at, past) != '\0') return true;
  }
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const Tag tag = TagAt(text, at);
    if (tag.past > 0 && !tag.is_short) return true;
  }
  return false;
}

std::string WithoutMarkup(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '<') {
      const Tag tag = TagAt(text, i);
      if (tag.past > 0) {
        if (tag.breaks_line) out += '\n';
        i = tag.past;
        continue;
      }
    } else if (text[i] == '&') {
      size_t past = 0;
      if (const char c = EntityAt(text, i, past); c != '\0') {
        out += c;
        i = past;
        continue;
      }
    }
    out += text[i++];
  }
  return out;
}

}  // namespace xlaprof

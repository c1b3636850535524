#include "profiler/import/torch_xla/report_lines.h"

#include <algorithm>
#include <charconv>

namespace xlaprof {
namespace {

// Where a field of a report may begin.
constexpr std::string_view kFields[] = {
    "Metric: ",    "Counter: ", "TotalSamples: ", "Accumulator: ",
    "ValueRate: ", "Rate: ",    "Percentiles: ",  "Value: "};

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The next field from `from` on; npos when there is none.
size_t NextField(std::string_view text, size_t from) {
  size_t next = std::string_view::npos;
  for (std::string_view field : kFields) {
    for (size_t at = text.find(field, from); at != std::string_view::npos && at < next;
         at = text.find(field, at + 1)) {
      const bool escaped = at >= 2 && text[at - 2] == '\\' && text[at - 1] == 'n';
      if (at == 0 || !IsWord(text[at - 1]) || escaped) next = at;
    }
  }
  return next;
}

// "aten::x\n  " of a Python string -> "aten::x", with the quote behind the last.
std::string_view WithoutEscapedEnd(std::string_view text) {
  const size_t end = text.find("\\n");
  return end == std::string_view::npos ? text : text.substr(0, end);
}

// The character that an entity stands for; 0 when it is none of those that occur in reports.
char Entity(std::string_view name) {
  static constexpr std::pair<std::string_view, char> kNames[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", ' '}};
  for (const auto& [known, c] : kNames) {
    if (name == known) return c;
  }
  if (!name.starts_with('#')) return 0;
  const bool hex = name.starts_with("#x") || name.starts_with("#X");
  int code = 0;
  const char* first = name.data() + (hex ? 2 : 1);
  auto [end, error] = std::from_chars(first, name.data() + name.size(), code, hex ? 16 : 10);
  if (error != std::errc() || end != name.data() + name.size()) return 0;
  return code == 160 ? ' ' : code >= 0x20 && code < 0x7f ? char(code) : '\0';
}

// Past the tag at `at`; `at` itself when no tag begins there.
size_t PastTag(std::string_view text, size_t at) {
  static constexpr std::string_view kTags[] = {"br",   "p",    "pre", "code", "div", "span",
                                               "html", "body", "td",  "tr",   "b",   "i"};
  constexpr size_t kLongest = 200;
  size_t name = at + 1;
  if (name < text.size() && text[name] == '/') ++name;
  size_t end = name;
  while (end < text.size() && IsWord(text[end])) ++end;
  const std::string_view word = text.substr(name, end - name);
  if (std::find(std::begin(kTags), std::end(kTags), word) == std::end(kTags)) return at;
  const size_t close = text.find('>', end);
  return close == std::string_view::npos || close - at > kLongest ? at : close + 1;
}

}  // namespace

std::string WithoutMarkup(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '<') {
      const size_t past = PastTag(text, i);
      if (past > i) {
        if (text.substr(i).starts_with("<br")) out += '\n';
        i = past;
        continue;
      }
    } else if (text[i] == '&') {
      const size_t end = text.substr(0, std::min(text.size(), i + 10)).find(';', i);
      const char c = end == std::string_view::npos ? '\0' : Entity(text.substr(i + 1, end - i - 1));
      if (c != '\0') {
        out += c;
        i = end + 1;
        continue;
      }
    }
    out += text[i++];
  }
  return out;
}

std::string_view ReportLines::Keep(std::string text) { return kept_.emplace_back(std::move(text)); }

bool ReportLines::Next() {
  if (again_) {
    again_ = false;
    return true;
  }
  if (pieces_.empty()) {
    if (!texts_.Next()) return false;
    Split(texts_.text());
    if (pieces_.empty()) {
      line_ = texts_.text();
      return true;
    }
  }
  line_ = pieces_.back();
  pieces_.pop_back();
  return true;
}

void ReportLines::SplitFields(std::string_view line) {
  const size_t field = NextField(line, 0);
  size_t next = field == std::string_view::npos ? field : NextField(line, field + 1);
  const bool one = next == std::string_view::npos;
  size_t begin = 0;
  while (next != std::string_view::npos) {
    pieces_.push_back(WithoutEscapedEnd(line.substr(begin, next - begin)));
    begin = next;
    next = NextField(line, begin + 1);
  }
  const std::string_view last = line.substr(begin);
  pieces_.push_back(one ? last : WithoutEscapedEnd(last));
}

// Leaves `pieces_` empty where the line is one of the text and of the report.
void ReportLines::Split(std::string_view text) {
  // Most lines hold one field and are taken as they are.
  const size_t colon = text.find(": ");
  const bool several =
      colon != std::string_view::npos && text.find(": ", colon + 1) != std::string_view::npos;
  const bool marked_up =
      text.find('<') != std::string_view::npos || text.find('&') != std::string_view::npos;
  if (!several && !marked_up && !texts_.is_decoded()) return;
  std::string plain = marked_up ? WithoutMarkup(text) : "";
  const bool changed = marked_up && plain != text;
  if (!changed && !texts_.is_decoded()) {
    const size_t first = NextField(text, 0);
    if (first == std::string_view::npos || NextField(text, first + 1) == std::string_view::npos)
      return;
  }
  std::string_view rest = text;
  if (changed) {
    rest = Keep(std::move(plain));
  } else if (texts_.is_decoded()) {
    rest = Keep(std::string(text));
  }
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());  // of a <br>
    SplitFields(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::reverse(pieces_.begin(), pieces_.end());
}

}  // namespace xlaprof

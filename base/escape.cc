#include "base/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace xlaprof {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

struct Range {
  int32_t first, last;
};

// Characters that move the cursor, change the direction of what follows, break the line, or are
// invisible.
constexpr Range kControls[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},     {0x115f, 0x1160},
    {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool IsControl(int32_t code) {
  if (code >= 0x20 && code < 0x7f) return false;
  return std::ranges::any_of(
      kControls, [&](const Range& range) { return range.first <= code && code <= range.last; });
}

// Appends an escape such as \x7f, \u200b or \U000e0001.
void AppendEscaped(std::string& out, int32_t code) {
  const auto end = std::back_inserter(out);
  if (code < 0x100)
    fmt::format_to(end, "\\x{:02x}", code);
  else if (code <= 0xffff)
    fmt::format_to(end, "\\u{:04x}", code);
  else
    fmt::format_to(end, "\\U{:08x}", code);
}

// JSON's escapes have four digits, so a character beyond U+FFFF becomes a surrogate pair.
std::string JsonEscaped(int32_t code) {
  if (code <= 0xffff) return fmt::format("\\u{:04x}", code);
  const int32_t rest = code - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

Character CharacterAt(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return at + i < text.size() ? uint8_t(text[at + i]) : 0; };
  uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  int length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || at + size_t(length) > text.size()) return {};
  int32_t code = lead & (0xff >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(size_t(i)) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(size_t(i)) & 0x3f);
  }
  constexpr int32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (unsigned char byte : bytes) fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  return hex;
}

std::string Printable(std::string_view text, bool keep_newlines) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    if (c.code == '\n') {
      out += keep_newlines ? "\n" : "\\n";
    } else if (c.code == '\t') {
      out += "\\t";
    } else if (c.code < 0) {
      AppendEscaped(out, uint8_t(text[at]));
    } else if (IsControl(c.code)) {
      AppendEscaped(out, c.code);
    } else {
      out += text.substr(at, size_t(c.bytes));
    }
    at += size_t(c.bytes);
  }
  return out;
}

// Entities are used rather than backslashes, because they work in all three places. An underscore
// inside a word does not mark emphasis, and most names have one.
std::string MarkdownText(std::string_view raw) {
  const std::string text = Printable(raw);
  auto is_word = [&](size_t at) {
    return at < text.size() && (IsAlnum(text[at]) || text[at] == '_');
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool inside_word = text[i] == '_' && i > 0 && is_word(i - 1) && is_word(i + 1);
    if (std::string_view("<>&`*_~[]#|@\\$").find(text[i]) != std::string_view::npos &&
        !inside_word) {
      out += fmt::format("&#{};", int(text[i]));
    } else {
      out += text[i];
    }
  }
  // GitHub turns bare addresses into links.
  for (std::string_view start : {"://", "www."}) {
    std::string harmless = start == "www." ? "www&#46;" : "&#58;//";
    for (size_t at = out.find(start); at != std::string::npos;
         at = out.find(start, at + harmless.size()))
      out.replace(at, start.size(), harmless);
  }
  return out;
}

std::string MarkdownFenced(std::string_view language, std::string_view body) {
  size_t longest = 0, run = 0;
  for (char c : body) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  return fmt::format("{}{}\n{}\n{}\n", fence, language, body, fence);
}

std::string TerminalSafeJson(std::string json) {
  auto unsafe = [](std::string_view text, size_t at, Character* c) {
    *c = CharacterAt(text, at);
    return c->code >= 0x7f && IsControl(c->code);
  };
  std::string out;
  size_t copied = 0;
  for (size_t at = 0; at < json.size();) {
    Character c{.code = json[at], .bytes = 1};
    if (uint8_t(json[at]) >= 0x7f && unsafe(json, at, &c)) {
      out.append(json, copied, at - copied);
      out += JsonEscaped(c.code);
      copied = at + size_t(c.bytes);
    }
    at += size_t(c.bytes);
  }
  if (copied == 0) return json;
  return out.append(json, copied);
}

std::string CsvText(std::string_view text, CsvTexts texts) {
  const bool formula = texts == CsvTexts::kNoFormulas && !text.empty() &&
                       std::string_view("=+-@\t\r").find(text[0]) != text.npos;
  bool quoted = text.empty() || formula;
  std::string out = formula ? "'" : "";
  for (size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    quoted |= c.code == ',' || c.code == '"' || c.code == '\r' || c.code == '\n';
    if (c.code == '"') out += '"';
    out += c.code < 0 ? kReplacement : text.substr(at, size_t(c.bytes));
    at += size_t(c.bytes);
  }
  return quoted ? fmt::format("\"{}\"", out) : out;
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kHarmless = "%+,-./:=@_";
  auto harmless = [&](char c) { return IsAlnum(c) || kHarmless.find(c) != kHarmless.npos; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), harmless)) return std::string(text);
  bool odd = false;
  std::string plain, escaped;
  for (size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    const std::string_view bytes = text.substr(at, size_t(c.bytes));
    if (c.code < 0 || IsControl(c.code)) {
      odd = true;
      for (char byte : bytes) escaped += fmt::format("\\{:03o}", uint8_t(byte));
    } else {
      if (c.code == '\'' || c.code == '\\') escaped += '\\';
      escaped += bytes;
      plain += c.code == '\'' ? "'\\''" : bytes;
    }
    at += size_t(c.bytes);
  }
  return odd ? fmt::format("$'{}'", escaped) : fmt::format("'{}'", plain);
}

}  // namespace xlaprof

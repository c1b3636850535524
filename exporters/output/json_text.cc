#include "exporters/output/json_text.h"

#include <array>
#include <cstdint>

namespace xlaprof {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The bytes that need no escape: printable ASCII except the two characters that JSON escapes.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain = {};
  for (int c = 0x20; c < 0x7f; ++c) plain[size_t(c)] = c != '"' && c != '\\';
  return plain;
}();

// Returns the length of the character that begins at `at`, a byte of at least 0x80: 2 to 4. If it
// is invalid, returns minus the number of bytes that one U+FFFD replaces. The second byte's range
// excludes overlong forms, surrogates and values above U+10FFFF (table 3-7 of the Unicode
// standard).
int CharacterBytes(std::string_view text, size_t at) {
  const uint8_t first = uint8_t(text[at]);
  const int bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return -1;
  uint8_t low = 0x80, high = 0xbf;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  for (int i = 1; i < bytes; ++i) {
    if (at + size_t(i) >= text.size()) return -i;
    const uint8_t next = uint8_t(text[at + size_t(i)]);
    if (next < low || next > high) return -i;
    low = 0x80, high = 0xbf;
  }
  return bytes;
}

void AppendEscape(char c, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      *out += "\\\"";
      break;
    case '\\':
      *out += "\\\\";
      break;
    case '\n':
      *out += "\\n";
      break;
    case '\t':
      *out += "\\t";
      break;
    case '\r':
      *out += "\\r";
      break;
    default:
      *out += "\\u00";
      *out += kHex[uint8_t(c) >> 4];
      *out += kHex[uint8_t(c) & 15];
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  size_t at = 0;
  while (at < text.size()) {
    size_t begin = at;
    while (at < text.size() && kPlain[uint8_t(text[at])]) ++at;
    out->append(text, begin, at - begin);
    if (at == text.size()) break;
    if (uint8_t(text[at]) < 0x80) {
      AppendEscape(text[at++], out);
      continue;
    }
    const int bytes = CharacterBytes(text, at);
    if (bytes < 0) {
      *out += kReplacement;
    } else {
      out->append(text, at, size_t(bytes));
    }
    at += size_t(bytes < 0 ? -bytes : bytes);
  }
  *out += '"';
}

std::string JsonString(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

}  // namespace xlaprof

#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

// Returns the length of the valid sequence that `text` begins with, or 0 if it is invalid.
size_t Sequence(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

size_t ValidUtf8Prefix(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    size_t length = Sequence(text.substr(i));
    if (length == 0) break;
    i += length;
  }
  return i;
}

std::string ToUtf8(std::string_view text, int64_t* bad) {
  std::string out;
  out.reserve(text.size());
  size_t kept = 0;  // bytes that are in `out`, unchanged or replaced
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = text[i] == '\0' ? 0 : Sequence(text.substr(i)); length > 0) {
      i += length;
      continue;
    }
    out += text.substr(kept, i - kept);
    out += "\xef\xbf\xbd";
    kept = ++i;
    if (bad != nullptr) ++*bad;
  }
  out += text.substr(kept);
  return out;
}

std::string ToBoundedUtf8(std::string_view text) {
  constexpr size_t kMostBytes = 1000;
  if (text.size() <= kMostBytes) return ToUtf8(text);
  return ToUtf8(text.substr(0, kMostBytes)) + "...";
}

void AppendUtf8(uint32_t code, std::string& text) {
  auto add = [&](uint32_t byte) { text += char(uint8_t(byte)); };
  auto follows = [&](int shift) { add(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) return add(0xc0 | code >> 6), follows(0);
  if (code < 0x10000) return add(0xe0 | code >> 12), follows(6), follows(0);
  add(0xf0 | code >> 18), follows(12), follows(6), follows(0);
}

size_t AppendUtf16(std::string_view utf16, std::endian order, std::string& text) {
  auto unit = [&](size_t at) {
    const uint32_t first = uint8_t(utf16[at]), second = uint8_t(utf16[at + 1]);
    return order == std::endian::big ? first << 8 | second : second << 8 | first;
  };
  auto is_first_half = [](uint32_t code) { return code >= 0xd800 && code < 0xdc00; };
  auto is_other_half = [](uint32_t code) { return code >= 0xdc00 && code < 0xe000; };
  size_t at = 0;
  for (; at + 2 <= utf16.size(); at += 2) {
    uint32_t code = unit(at);
    if (is_first_half(code)) {
      if (at + 4 > utf16.size()) break;
      if (const uint32_t other = unit(at + 2); is_other_half(other)) {
        code = 0x10000 + ((code - 0xd800) << 10) + (other - 0xdc00);
        at += 2;
      }
    }
    AppendUtf8(code, text);
  }
  return at;
}

}  // namespace xlaprof

#include "profiler/import/utf8.h"

#include <algorithm>
#include <cstdint>

namespace xlaprof {
namespace {

// The length of the valid sequence that `text` begins with, 0 if it is invalid.
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

std::string ToUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t valid = ValidUtf8Prefix(text);
    out += text.substr(0, valid);
    text.remove_prefix(valid);
    if (text.empty()) break;
    out += "\xef\xbf\xbd";
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace xlaprof

// Appends LEB128 integers and little-endian doubles to a string.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlaprof {

static_assert(std::endian::native == std::endian::little);

inline void PutVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(char(value | 0x80));
    value >>= 7;
  }
  out->push_back(char(value));
}

// Uses zigzag encoding, in which small negative numbers stay small.
inline void PutSigned(int64_t value, std::string* out) {
  PutVarint((uint64_t(value) << 1) ^ uint64_t(value >> 63), out);
}

// Returns a - b. The result wraps, because ids of damaged stores may be far apart.
inline int64_t Apart(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }

inline void PutDouble(double value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(value));
}

inline void PutText(std::string_view text, std::string* out) {
  PutVarint(text.size(), out);
  out->append(text);
}

}  // namespace xlaprof

// The hash FNV-1a with 64 bits, which is the same on every machine and in every version. Its values
// are stored and printed.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325, kFnvPrime = 0x100000001b3;

// Continues `hash` with the bytes of `text`.
constexpr uint64_t FnvOfBytes(uint64_t hash, std::string_view text) {
  for (char c : text) hash = (hash ^ uint8_t(c)) * kFnvPrime;
  return hash;
}

// Continues `hash` with `text` and an end mark, so that ("ab", "c") and ("a", "bc") differ. UTF-8
// text never has the byte of the mark.
constexpr uint64_t Fnv(uint64_t hash, std::string_view text) {
  return (FnvOfBytes(hash, text) ^ 0xff) * kFnvPrime;
}

}  // namespace xlaprof

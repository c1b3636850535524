// Computes 128-bit hashes of graphs. They are the same in every process and build, because they are
// names in logs, dumps and the persistent cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace xlaprof::lazy {

struct Hash {
  uint64_t high = 0, low = 0;
  auto operator<=>(const Hash&) const = default;

  // Returns torch_xla's text: lower-case hex, the high half without leading zeros.
  std::string ToText() const;
};

// Mixes a number into a hash by two crossed multiplications of 64 by 64 to 128 bits.
constexpr Hash Mix(Hash hash, uint64_t value) {
  auto multiply = [](uint64_t a, uint64_t b) { return static_cast<unsigned __int128>(a) * b; };
  const auto a = multiply(hash.low ^ value ^ 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93 ^ hash.high);
  const auto b = multiply(hash.high + value + 0xa0761d6478bd642f, 0xe7037ed1a0b428db + hash.low);
  return {uint64_t(a >> 64) ^ uint64_t(b), uint64_t(a) ^ uint64_t(b >> 64)};
}
constexpr Hash Mix(Hash hash, Hash other) { return Mix(Mix(hash, other.low), other.high); }
constexpr Hash Mix(Hash hash, std::string_view text) {
  hash = Mix(hash, text.size());
  for (; !text.empty(); text.remove_prefix(std::min<size_t>(8, text.size()))) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8 && i < text.size(); ++i) word |= uint64_t(uint8_t(text[i])) << 8 * i;
    hash = Mix(hash, word);
  }
  return hash;
}
inline Hash Mix(Hash hash, std::span<const int64_t> values) {
  hash = Mix(hash, values.size());
  for (int64_t value : values) hash = Mix(hash, uint64_t(value));
  return hash;
}

// Supports abseil's hash containers.
template <typename H>
H AbslHashValue(H h, const Hash& hash) {
  return H::combine(std::move(h), hash.low);
}

}  // namespace xlaprof::lazy

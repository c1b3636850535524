// Pieces of JSON put where a pointer points; each function returns where its piece ends. They may
// write up to kPieceBlock bytes more, which the next piece overwrites.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlaprof {

inline constexpr size_t kPieceBlock = 32;
// The longest number of 64 bits, with sign and point.
inline constexpr size_t kIntegerBytes = 22;

// Text behind which kPieceBlock more bytes may be read: copied by the block, it costs a fraction of
// a memcpy.
class Piece : public std::string_view {
 public:
  Piece() = default;
  Piece(const char* data, size_t size) : std::string_view(data, size) {}
  Piece First(size_t bytes) const { return {data(), bytes}; }
  Piece Behind(size_t bytes) const { return {data() + bytes, size() - bytes}; }
};

// A piece that owns its text.
class OwnPiece {
 public:
  OwnPiece() = default;
  explicit OwnPiece(std::string text) : size_(text.size()), text_(std::move(text)) {
    text_.append(kPieceBlock, ' ');
  }
  Piece get() const { return {text_.data(), size_}; }

 private:
  size_t size_ = 0;
  std::string text_;
};

inline char* Put(char* to, Piece piece) {
  const char* from = piece.data();
  char* end = to + piece.size();
  for (; to < end; to += kPieceBlock, from += kPieceBlock) std::memcpy(to, from, kPieceBlock);
  return end;
}

template <size_t kSize>
char* Put(char* to, const char (&literal)[kSize]) {
  std::memcpy(to, literal, kSize - 1);
  return to + kSize - 1;
}

// The 8 digits of a number below 10^8 as values, the first in the lowest byte.
inline uint64_t EightDigits(uint32_t number) {
  const uint64_t fours = number / 10000 | uint64_t(number % 10000) << 32;
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007f0000007f;
  const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
  const uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f;
  return tens | (twos - tens * 10) << 8;
}

inline char* PutDigits(char* to, uint64_t number) {
  constexpr uint64_t kZeros = 0x3030303030303030, kLimit = 100'000'000;
  if (number >= kLimit) [[unlikely]] {
    to = PutDigits(to, number / kLimit);
    const uint64_t text = EightDigits(uint32_t(number % kLimit)) | kZeros;
    std::memcpy(to, &text, 8);
    return to + 8;
  }
  const uint64_t digits = EightDigits(uint32_t(number));
  // Digits in front of the first that is not 0; a number has at least one.
  const int skipped = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  const uint64_t text = (digits | kZeros) >> (8 * skipped);
  std::memcpy(to, &text, 8);
  return to + 8 - skipped;
}

// `ns` as microseconds with three decimals.
inline char* PutMicros(char* to, uint64_t ns) {
  to = PutDigits(to, ns / 1000);
  const uint32_t rest = uint32_t(ns % 1000);
  const uint32_t text =
      '.' | ('0' + rest / 100) << 8 | ('0' + rest / 10 % 10) << 16 | ('0' + rest % 10) << 24;
  std::memcpy(to, &text, 4);
  return to + 4;
}

}  // namespace xlaprof

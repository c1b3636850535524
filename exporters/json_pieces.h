// Pieces of JSON put where a pointer points; each function returns where its piece ends. They may
// write up to kPieceBlock bytes more, which the next piece overwrites.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlaprof {

inline constexpr size_t kPieceBlock = 64;
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

char* PutManyDigits(char* to, uint64_t number);

inline constexpr uint64_t kEightZeros = 0x3030303030303030, kEightDigits = 100'000'000;

inline char* PutDigits(char* to, uint64_t number) {
  if (number >= kEightDigits) [[unlikely]]
    return PutManyDigits(to, number);
  const uint64_t digits = EightDigits(uint32_t(number));
  // Digits in front of the first that is not 0; a number has at least one.
  const int skipped = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  const uint64_t text = (digits | kEightZeros) >> (8 * skipped);
  std::memcpy(to, &text, 8);
  return to + 8 - skipped;
}

// Of a number of more than 8 digits.
[[gnu::noinline]] inline char* PutManyDigits(char* to, uint64_t number) {
  to = PutDigits(to, number / kEightDigits);
  const uint64_t text = EightDigits(uint32_t(number % kEightDigits)) | kEightZeros;
  std::memcpy(to, &text, 8);
  return to + 8;
}

// `.000` to `.999`.
inline constexpr auto kDecimals = [] {
  std::array<std::array<char, 4>, 1000> all{};
  for (int i = 0; i < 1000; ++i)
    all[size_t(i)] = {'.', char('0' + i / 100), char('0' + i / 10 % 10), char('0' + i % 10)};
  return all;
}();

// `ns` as microseconds with three decimals.
inline char* PutMicros(char* to, uint64_t ns) {
  to = PutDigits(to, ns / 1000);
  std::memcpy(to, &kDecimals[ns % 1000], 4);
  return to + 4;
}

}  // namespace xlaprof

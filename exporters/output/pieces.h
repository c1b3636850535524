// Puts pieces of output where a pointer points. Each function returns the end of its piece. A
// function may write up to kPieceBlock bytes beyond that, which the next piece overwrites.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlaprof {

inline constexpr size_t kPieceBlock = 64;

// Text behind which kPieceBlock more bytes may be read. It is copied in blocks, which costs a
// fraction of a memcpy.
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

}  // namespace xlaprof

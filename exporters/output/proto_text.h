// Writes Protobuf's wire format in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace xlaprof {

inline size_t VarintBytes(uint64_t value) {
  return size_t(std::bit_width(value | 1) * 9 + 64) / 64;  // a seventh of the bits, rounded up
}

inline char* PutVarint(char* to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = char(value | 0x80);
  *to++ = char(value);
  return to;
}

// A message to which fields are appended one by one.
class ProtoText {
 public:
  void Varint(uint32_t field, uint64_t value) {
    EndAt(PutVarint(PutVarint(Room(kMaxTag + kMaxVarint), field << 3), value));
  }
  void Fixed64(uint32_t field, uint64_t value) {
    char* to = PutVarint(Room(kMaxTag + sizeof value), field << 3 | 1);
    for (size_t i = 0; i < sizeof value; ++i) *to++ = char(value >> (8 * i));
    EndAt(to);
  }
  void Double(uint32_t field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  // Appends a field of strings, bytes or messages.
  void Bytes(uint32_t field, std::string_view value) {
    BytesHead(field, value.size());
    if (value.empty()) return;  // copying from a null view is undefined
    char* to = Room(value.size());
    std::memcpy(to, value.data(), value.size());
    EndAt(to + value.size());
  }
  // Appends only the head of such a field. The `size` bytes follow.
  void BytesHead(uint32_t field, size_t size) {
    EndAt(PutVarint(PutVarint(Room(kMaxTag + kMaxVarint), field << 3 | 2), size));
  }
  // Appends a message of two varints, so short that its length takes one byte.
  void Varints(uint32_t field, uint32_t first, uint64_t first_value, uint32_t second,
               uint64_t second_value) {
    char* length = PutVarint(Room(3 * kMaxTag + 2 * kMaxVarint + 1), field << 3 | 2);
    char* to = PutVarint(PutVarint(length + 1, first << 3), first_value);
    to = PutVarint(PutVarint(to, second << 3), second_value);
    *length = char(to - length - 1);
    EndAt(to);
  }
  void Clear() { size_ = 0; }
  // Returns the message. The view is valid until the next change.
  std::string_view bytes() const { return {buffer_.data(), size_}; }

 private:
  static constexpr size_t kMaxTag = 5, kMaxVarint = 10;

  char* Room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) [[unlikely]]
      buffer_.resize(size_ + bytes + buffer_.size());
    return buffer_.data() + size_;
  }
  void EndAt(const char* to) { size_ = size_t(to - buffer_.data()); }

  std::string buffer_;  // its first size_ bytes are the message's
  size_t size_ = 0;
};

// Returns `text` as a valid proto3 string, with U+FFFD for each byte that is not UTF-8.
std::string ProtoString(std::string_view text);

}  // namespace xlaprof

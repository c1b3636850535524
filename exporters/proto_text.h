// Protobuf's wire format in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof {

// A message, appended field by field.
class ProtoText {
 public:
  void Varint(uint32_t field, uint64_t value) {
    Tag(field, 0);
    Raw(value);
  }
  void Fixed64(uint32_t field, uint64_t value) {
    Tag(field, 1);
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = char(value >> (8 * i));
    bytes_.append(bytes, 8);
  }
  void Double(uint32_t field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  // Of strings, bytes and messages.
  void Bytes(uint32_t field, std::string_view value) {
    BytesHead(field, value.size());
    bytes_ += value;
  }
  // The same, where the `size` bytes follow.
  void BytesHead(uint32_t field, size_t size) {
    Tag(field, 2);
    Raw(size);
  }
  void Clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  void Tag(uint32_t field, uint32_t type) { Raw(uint64_t(field) << 3 | type); }
  void Raw(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(char(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(char(value));
  }

  std::string bytes_;
};

// `text` as proto3's strings must be: U+FFFD for each byte that is no UTF-8.
std::string ProtoString(std::string_view text);

}  // namespace xlaprof

// Decodes protobuf messages in place: nothing is copied, and no read goes beyond the given bytes.
// This is hand-written because an XSpace is millions of 20-byte events.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace xlaprof::wire {

enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads the fields of one message, in the order in which they were written.
//
// A field is a varint tag (number << 3 | type) and its value. A field that cannot be read stops the reader. cut() is true then if a value
// reaches beyond the end, bad() if the bytes are not protobuf, and position() is where that field
// begins.
class Reader {
 public:
  Reader() = default;
  explicit Reader(std::string_view bytes)
      : p_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(p_ + bytes.size()), field_(p_) {}

  // Moves to the next field. Returns false at the end, and on the first field that cannot be read.
  [[gnu::always_inline]] bool Next() {
    if (p_ == end_) [[unlikely]]
      return false;
    field_ = p_;
    uint64_t tag;
    if (*p_ < 0x80) [[likely]] {
      tag = *p_++;
    } else if (!Varint(&tag)) {
      return false;
    }
    number_ = uint32_t(tag >> 3);
    type_ = uint32_t(tag & 7);
    if (number_ == 0 || tag > UINT32_MAX) [[unlikely]]
      return Bad();
    switch (type_) {
      case kVarint:
        return Varint(&value_);
      case kBytes:
        if (!Varint(&value_)) return false;
        if (value_ > uint64_t(end_ - p_)) [[unlikely]] {
          rest_ = {reinterpret_cast<const char*>(p_), size_t(end_ - p_)};
          return Cut();
        }
        bytes_ = {reinterpret_cast<const char*>(p_), size_t(value_)};
        p_ += value_;
        return true;
      case kFixed64:
        return Fixed(8);
      case kFixed32:
        return Fixed(4);
      default:
        return Bad();
    }
  }

  uint32_t number() const { return number_; }
  uint32_t type() const { return type_; }
  bool Is(uint32_t number, Type type) const { return number_ == number && type_ == type; }
  // Returns the value of a varint or fixed number, or the length of bytes.
  uint64_t uint() const { return value_; }
  int64_t int64() const { return int64_t(value_); }
  double real() const { return std::bit_cast<double>(value_); }
  std::string_view bytes() const { return bytes_; }

  bool cut() const { return cut_; }
  bool bad() const { return bad_; }
  // Returns the part of a bytes field that is there, after cut() inside it.
  std::string_view rest() const { return rest_; }
  // The place where the field begins.
  const char* position() const { return reinterpret_cast<const char*>(field_); }

 private:
  [[gnu::always_inline]] bool Varint(uint64_t* out) {
    if (p_ != end_ && *p_ < 0x80) [[likely]] {
      *out = *p_++;
      return true;
    }
    return LongVarint(out);
  }
  bool LongVarint(uint64_t* out) {
    if (end_ - p_ >= 8) [[likely]] {
      uint64_t word;
      std::memcpy(&word, p_, 8);
      if (uint64_t ends = ~word & 0x8080808080808080; ends != 0) [[likely]] {
        // This takes up to eight bytes at once: the groups of seven bits below the first end,
        // pushed together.
        word &= ends ^ (ends - 1);
        word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
        word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
        *out = (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
        p_ += std::countr_zero(ends) / 8 + 1;
        return true;
      }
    }
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (p_ == end_) [[unlikely]]
        return Cut();
      uint8_t byte = *p_++;
      if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) {
        *out = value;
        return true;
      }
    }
    return Bad();
  }
  bool Fixed(size_t size) {
    if (uint64_t(end_ - p_) < size) return Cut();
    value_ = 0;
    std::memcpy(&value_, p_, size);
    p_ += size;
    return true;
  }
  bool Cut() {
    cut_ = true;
    p_ = end_;
    return false;
  }
  bool Bad() {
    bad_ = true;
    p_ = end_;
    return false;
  }

  const uint8_t* p_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* field_ = nullptr;
  uint32_t number_ = 0, type_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_, rest_;
  bool cut_ = false, bad_ = false;
};

// A field that a message's decoder reads: its number, the member that takes its value, and the
// member that says that it was there. The type of the member gives the type of the field: bytes for
// texts, fixed64 for double, and else a varint.
template <uint32_t kNumber, auto kMember, auto kHas = nullptr>
struct Field {
  // Takes the value of the field that the reader is at. Returns false if it is another field.
  template <class Message>
  static bool Take(const Reader& in, Message* message) {
    auto& member = message->*kMember;
    using Value = std::remove_reference_t<decltype(member)>;
    if constexpr (std::is_same_v<Value, std::string_view>) {
      if (!in.Is(kNumber, kBytes)) return false;
      member = in.bytes();
    } else if constexpr (std::is_same_v<Value, double>) {
      if (!in.Is(kNumber, kFixed64)) return false;
      member = in.real();
    } else {
      if (!in.Is(kNumber, kVarint)) return false;
      member = Value(in.uint());
    }
    if constexpr (!std::is_null_pointer_v<decltype(kHas)>) message->*kHas = true;
    return true;
  }
};

// Reads these fields of a message into members of `out`, the usual ones first, and calls other(in)
// for each other field. Returns false if the message cannot be read; what was read until there is
// kept.
template <class... Fields, class Message, class Other>
bool ReadFields(std::string_view message, Message* out, Other&& other) {
  Reader in(message);
  while (in.Next()) {
    if (!(Fields::Take(in, out) || ...)) other(in);
  }
  return !in.bad() && !in.cut();
}
// Does the same with members that are cleared before.
template <class... Fields, class Message, class Other>
bool DecodeFields(std::string_view message, Message* out, Other&& other) {
  *out = {};
  return ReadFields<Fields...>(message, out, other);
}
template <class... Fields, class Message>
bool DecodeFields(std::string_view message, Message* out) {
  return DecodeFields<Fields...>(message, out, [](const Reader&) {});
}

}  // namespace xlaprof::wire

// Decodes the protobuf messages of an XSpace in place: nothing is copied, nothing is allocated, and
// no read goes beyond the given bytes. This is hand-written because an XSpace is millions of
// 20-byte events.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace xlaprof::wire {

enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads the fields of one message, in the order in which they were written.
//
// A field is a varint tag (number << 3
// type) and its value. A field that cannot be read stops the reader. cut() is true then if a value
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

// XStat: 1 metadata_id, and one of 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref (id of a stat
// metadata, whose name is the value), 8 compressed_str (gzip).
struct Stat {
  enum Kind : uint8_t { kNone, kDouble, kUint, kInt, kText, kBytes, kRef, kGzip };
  int64_t metadata_id = 0;
  Kind kind = kNone;
  uint64_t number = 0;  // for kDouble, its bits
  std::string_view bytes;
  double real() const { return std::bit_cast<double>(number); }
  int64_t int64() const { return int64_t(number); }
};
// Returns false if the message cannot be read; what was read until there is kept.
inline bool Decode(std::string_view message, Stat* stat) {
  Reader in(message);
  *stat = {};
  auto set = [&](Stat::Kind kind) { stat->kind = kind, stat->number = in.uint(); };
  auto set_bytes = [&](Stat::Kind kind) { stat->kind = kind, stat->bytes = in.bytes(); };
  while (in.Next()) {
    switch (in.number() << 3 | in.type()) {
      case 1 << 3 | kVarint:
        stat->metadata_id = in.int64();
        break;
      case 2 << 3 | kFixed64:
        set(Stat::kDouble);
        break;
      case 3 << 3 | kVarint:
        set(Stat::kUint);
        break;
      case 4 << 3 | kVarint:
        set(Stat::kInt);
        break;
      case 5 << 3 | kBytes:
        set_bytes(Stat::kText);
        break;
      case 6 << 3 | kBytes:
        set_bytes(Stat::kBytes);
        break;
      case 7 << 3 | kVarint:
        set(Stat::kRef);
        break;
      case 8 << 3 | kBytes:
        set_bytes(Stat::kGzip);
        break;
      default:
        break;
    }
  }
  return !in.bad() && !in.cut();
}

// XEvent: 1 metadata_id, 2 offset_ps or 5 num_occurrences, 3 duration_ps, 4 stats*.
struct Event {
  int64_t metadata_id = 0;
  int64_t offset_ps = 0, duration_ps = 0;
  int64_t occurrences = 0;
  bool aggregated = false;  // num_occurrences was given: it has no time of its own
};
// Calls each_stat(message) for each statistic. Returns false if the event cannot be read; what was
// read until there is kept.
template <class EachStat>
bool Decode(std::string_view message, Event* event, EachStat&& each_stat) {
  Reader in(message);
  *event = {};
  while (in.Next()) {
    switch (in.number() << 3 | in.type()) {
      case 1 << 3 | kVarint:
        event->metadata_id = in.int64();
        break;
      case 2 << 3 | kVarint:
        event->offset_ps = in.int64(), event->aggregated = false;
        break;
      case 3 << 3 | kVarint:
        event->duration_ps = in.int64();
        break;
      case 5 << 3 | kVarint:
        event->occurrences = in.int64(), event->aggregated = true;
        break;
      case 4 << 3 | kBytes:
        each_stat(in.bytes());
        break;
      default:
        break;
    }
  }
  return !in.bad() && !in.cut();
}

// Decodes name, start and length only. It stops when it has met all three, which mostly come first.
inline void DecodeHead(std::string_view message, Event* event) {
  Reader in(message);
  *event = {};
  for (uint32_t missing = 1 << 1 | 1 << 2 | 1 << 3; missing != 0 && in.Next();) {
    if (in.type() != kVarint || in.number() > 3) continue;
    if (in.number() == 1) event->metadata_id = in.int64();
    if (in.number() == 2) event->offset_ps = in.int64();
    if (in.number() == 3) event->duration_ps = in.int64();
    missing &= ~(1u << in.number());
  }
}

// XEventMetadata: 1 id, 2 name, 3 metadata, 4 display_name, 5 stats*, 6 child_id*.
struct EventMetadata {
  int64_t id = 0;
  std::string_view name, display_name;
};
bool Decode(std::string_view message, EventMetadata* metadata);

// XStatMetadata: 1 id, 2 name, 3 description.
struct StatMetadata {
  int64_t id = 0;
  std::string_view name, description;
};
bool Decode(std::string_view message, StatMetadata* metadata);

// Entry of a map<int64, message>: 1 key, 2 value.
struct MapEntry {
  int64_t key = 0;
  std::string_view value;
};
bool Decode(std::string_view message, MapEntry* entry);

// XLine without its events: 1 id, 2 name, 3 timestamp_ns, 4 events*, 9 duration_ps, 10 display_id,
// 11 display_name.
struct Line {
  int64_t id = 0, timestamp_ns = 0, display_id = 0;
  std::string_view name, display_name;
  int64_t events = 0;
};
bool Decode(std::string_view message, Line* line);

}  // namespace xlaprof::wire

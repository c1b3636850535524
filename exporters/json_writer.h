// JSON text, written fast: a buffer in front of a sink, and numbers without printf. It puts no
// commas and balances nothing.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "exporters/json_pieces.h"
#include "exporters/sink.h"

namespace xlaprof {

// Integers up to here are exact as doubles, which is what most readers of JSON hold them in; larger
// ones are written as strings.
inline constexpr int64_t kMaxJsonInteger = int64_t{1} << 53;

class JsonWriter {
 public:
  // `sink` outlives the writer. `buffer_bytes`: some hundreds at least.
  explicit JsonWriter(Sink& sink, size_t buffer_bytes = 1 << 18) : sink_(sink) {
    Resize(buffer_bytes);
  }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  // Where `bytes` may be put (exporters/json_pieces.h); EndAt says how far they were.
  char* Room(size_t bytes) {
    if (size_t(end_ - at_) < bytes) [[unlikely]]
      MakeRoom(bytes);
    return at_;
  }
  void EndAt(char* to) { at_ = to; }

  void Raw(std::string_view text) {
    if (size_t(end_ - at_) < text.size()) [[unlikely]] {
      Flush();
      if (size_t(end_ - at_) < text.size()) return Write(text);
    }
    if (text.empty()) return;  // of a view of nothing, nothing may be copied
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void Raw(Piece text) { at_ = Put(Room(text.size()), text); }
  template <size_t kSize>
  void Raw(const char (&literal)[kSize]) {
    at_ = Put(Room(kSize), literal);
  }
  void Integer(int64_t value) {
    if (value >= 0) return Unsigned(uint64_t(value));
    if (value < -kMaxJsonInteger) return Quoted(value);
    Number(value);
  }
  void Unsigned(uint64_t value) {
    if (value > uint64_t(kMaxJsonInteger)) return Quoted(value);
    Number(value);
  }
  // The shortest text that reads back as `value`, and as a double; JSON has no NaN and infinities,
  // so they are strings.
  void Real(double value) {
    if (!std::isfinite(value))
      return Raw(std::isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    char* from = Room(kRealBytes);
    at_ = std::to_chars(from, from + kRealBytes, value).ptr;
    for (const char* c = from; c < at_; ++c) {
      if (*c == '.' || *c == 'e') return;
    }
    *at_++ = '.';
    *at_++ = '0';
  }
  // `ns` as microseconds with three decimals.
  void Micros(uint64_t ns) { at_ = PutMicros(Room(kIntegerBytes), ns); }

  // Everything to the sink, which stays open. The first error, after which nothing was written.
  absl::Status Finish() {
    Flush();
    return status_;
  }
  bool ok() const { return status_.ok(); }

 private:
  static constexpr size_t kRealBytes = 40;

  void Number(uint64_t value) { at_ = PutDigits(Room(kIntegerBytes), value); }
  void Number(int64_t value) {
    char* to = Room(kIntegerBytes);
    *to = '-';
    at_ = PutDigits(to + (value < 0), value < 0 ? 0 - uint64_t(value) : uint64_t(value));
  }
  template <class T>
  void Quoted(T value) {
    Raw("\"");
    Number(value);
    Raw("\"");
  }
  [[gnu::noinline]] void MakeRoom(size_t bytes) {
    Flush();
    if (size_t(end_ - at_) < bytes) Resize(bytes);
  }
  void Resize(size_t bytes) {
    buffer_.resize(bytes + kPieceBlock);
    at_ = buffer_.data();
    end_ = at_ + bytes;
  }
  void Flush() {
    Write({buffer_.data(), size_t(at_ - buffer_.data())});
    at_ = buffer_.data();
  }
  void Write(std::string_view bytes) {
    if (status_.ok() && !bytes.empty()) status_ = sink_.Write(bytes);
  }

  Sink& sink_;
  std::vector<char> buffer_;
  char *at_, *end_;  // behind `end_` is a block that pieces may run into
  absl::Status status_;
};

}  // namespace xlaprof

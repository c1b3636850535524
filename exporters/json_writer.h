// JSON text, written fast: a buffer in front of a sink, and numbers without printf. It puts no
// commas and balances nothing.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "exporters/sink.h"

namespace xlaprof {

// Integers up to here are exact as doubles, which is what most readers of JSON hold them in; larger
// ones are written as strings.
inline constexpr int64_t kMaxJsonInteger = int64_t{1} << 53;

class JsonWriter {
 public:
  // `sink` outlives the writer. `buffer_bytes`: some hundreds at least.
  explicit JsonWriter(Sink& sink, size_t buffer_bytes = 1 << 18)
      : sink_(sink), buffer_(buffer_bytes) {
    at_ = buffer_.data();
    end_ = buffer_.data() + buffer_.size();
  }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void Raw(std::string_view text) {
    if (size_t(end_ - at_) < text.size()) [[unlikely]] {
      if (!Flush(text)) return;
    }
    if (text.empty()) return;  // of a view of nothing, nothing may be copied
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  // The same with the character at `at` replaced.
  void Raw(std::string_view text, size_t at, char by) {
    Raw(text);
    at_[ptrdiff_t(at) - ptrdiff_t(text.size())] = by;
  }
  void Integer(int64_t value) {
    if (value > kMaxJsonInteger || value < -kMaxJsonInteger) return Quoted(value);
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
    char* from = Room();
    at_ = std::to_chars(from, from + kNumberBytes, value).ptr;
    for (const char* c = from; c < at_; ++c) {
      if (*c == '.' || *c == 'e') return;
    }
    *at_++ = '.';
    *at_++ = '0';
  }
  // `ns` as microseconds with three decimals.
  void Micros(uint64_t ns) {
    char* to = Room();
    const uint64_t micros = ns / 1000;
    const uint32_t rest = uint32_t(ns % 1000);
    // A division of 32 bits costs a third of one of 64.
    to = micros <= UINT32_MAX ? std::to_chars(to, to + kNumberBytes, uint32_t(micros)).ptr
                              : std::to_chars(to, to + kNumberBytes, micros).ptr;
    to[0] = '.';
    to[1] = char('0' + rest / 100);
    to[2] = char('0' + rest / 10 % 10);
    to[3] = char('0' + rest % 10);
    at_ = to + 4;
  }

  // Everything to the sink, which stays open. The first error, after which nothing was written.
  absl::Status Finish() {
    Flush({});
    return status_;
  }
  bool ok() const { return status_.ok(); }

 private:
  static constexpr size_t kNumberBytes = 40;

  char* Room() {
    if (end_ - at_ < ptrdiff_t(kNumberBytes)) [[unlikely]]
      Flush({});
    return at_;
  }
  template <class T>
  void Number(T value) {
    char* to = Room();
    at_ = std::to_chars(to, to + kNumberBytes, value).ptr;
  }
  template <class T>
  void Quoted(T value) {
    Raw("\"");
    Number(value);
    Raw("\"");
  }
  // Empties the buffer. True: there is room for `text`; false: it was written, too.
  bool Flush(std::string_view text) {
    Write({buffer_.data(), size_t(at_ - buffer_.data())});
    at_ = buffer_.data();
    if (text.size() <= buffer_.size()) return true;
    Write(text);
    return false;
  }
  void Write(std::string_view bytes) {
    if (status_.ok() && !bytes.empty()) status_ = sink_.Write(bytes);
  }

  Sink& sink_;
  std::vector<char> buffer_;
  char *at_, *end_;
  absl::Status status_;
};

}  // namespace xlaprof

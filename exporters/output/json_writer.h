// Writes JSON text fast: numbers without printf. It adds no commas and balances no brackets.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "exporters/output/json_pieces.h"
#include "exporters/output/sink_buffer.h"

namespace xlaprof {

// The largest integer up to which doubles are exact. Most readers of JSON hold numbers in doubles,
// so larger ones are written as strings.
inline constexpr int64_t kMaxJsonInteger = int64_t{1} << 53;

class JsonWriter : public SinkBuffer {
 public:
  using SinkBuffer::SinkBuffer;

  void Integer(int64_t value) {
    if (value >= 0) return Unsigned(uint64_t(value));
    if (value < -kMaxJsonInteger) return Quoted(value);
    Number(value);
  }
  void Unsigned(uint64_t value) {
    if (value > uint64_t(kMaxJsonInteger)) return Quoted(value);
    Number(value);
  }
  // Writes the shortest text that reads back as `value`, and as a double. JSON has no NaN and no
  // infinities, so they become strings.
  void Real(double value) {
    if (!std::isfinite(value))
      return Raw(std::isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    char* from = Room(kRealBytes);
    char* to = std::to_chars(from, from + kRealBytes - 2, value).ptr;
    const bool is_real = std::any_of(from, to, [](char c) { return c == '.' || c == 'e'; });
    EndAt(is_real ? to : Put(to, ".0"));
  }
  // Writes `ns` as microseconds with three decimals.
  void Micros(uint64_t ns) { EndAt(PutMicros(Room(kIntegerBytes), ns)); }

 private:
  static constexpr size_t kRealBytes = 40;

  void Number(uint64_t value) { EndAt(PutDigits(Room(kIntegerBytes), value)); }
  void Number(int64_t value) {
    char* to = Room(kIntegerBytes);
    *to = '-';
    EndAt(PutDigits(to + (value < 0), value < 0 ? 0 - uint64_t(value) : uint64_t(value)));
  }
  template <class T>
  void Quoted(T value) {
    Raw("\"");
    Number(value);
    Raw("\"");
  }
};

}  // namespace xlaprof

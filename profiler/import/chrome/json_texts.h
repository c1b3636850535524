// Gives ids to the texts of a JSON file: decodes them, repairs them to UTF-8 and interns them.
// Texts that were seen recently, or have numbers, are found without looking into the store.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "profiler/import/chrome/chrome_templates.h"
#include "profiler/import/chrome/json_scan.h"
#include "profiler/import/odd_input.h"
#include "profiler/import/trace/text_cache.h"
#include "profiler/import/trace/trace_text.h"

namespace xlaprof {

class JsonTexts {
 public:
  // A text that is not plain is counted each time that it is seen.
  static bool IsPlain(const json::Value& value) {
    return !value.control() && value.raw().size() <= kMaxTraceTextBytes;
  }

  // The values of Of() point into `file`.
  JsonTexts(Store& store, std::string_view file, OddInput& odd)
      : store_(store), file_(file), odd_(odd) {}

  // Returns the id of a text, decoded. For any other value, returns the id of its text as it is.
  // The numbers of values must all come from one reader.
  absl::StatusOr<StringId> Of(const json::Value& value) {
    const uint16_t number = value.number();
    StringId known = 0;
    if (number == 0) {
      known = cache_.Find(value.raw());
    } else if (number < of_number_.size()) {
      known = of_number_[number];
    }
    if (known != 0) [[likely]]
      return known;
    return Intern(value);
  }

 private:
  absl::StatusOr<StringId> Intern(const json::Value& value);

  Store& store_;
  std::string_view file_;
  OddInput& odd_;
  TextCache cache_;
  std::vector<StringId> of_number_;  // 0: not known yet
};

// Gives small numbers to the texts that the events of a file share. A thread that takes the events
// from another one then need not look at the bytes of the texts, which are in that thread's cache.
class TextNumbers {
 public:
  static constexpr size_t kRoom = 8;

  // Returns `value` with the number of its text, or without one if all numbers are used. `member`
  // is one whose few texts take turns (kCat, kPid, kTid); they are found by their last bytes. The
  // text must stay where it is, and kRoom bytes from its first one on must be readable.
  json::Value Numbered(ChromeSlot member, json::Value value) {
    const std::string_view text = value.raw();
    uint64_t bytes;
    static_assert(sizeof bytes == kRoom);
    std::memcpy(&bytes, text.data(), sizeof bytes);
    if (text.empty() || text.size() > sizeof bytes) return NumberedLong(value);
    bytes <<= 8 * (sizeof bytes - text.size());  // the last byte is the highest
    Few& few = few_[size_t(member) * kFew + (bytes >> 56 & (kFew - 1))];
    if (few.bytes != bytes || few.size != text.size()) [[unlikely]] {
      value = NumberedLong(value);
      few = {bytes, uint16_t(text.size()), value.number()};
      return value;
    }
    return value.Numbered(few.number);
  }

 private:
  json::Value NumberedLong(json::Value value) {
    const std::string_view text = value.raw();
    uint32_t number = cache_.Find(text);
    if (number == 0) [[unlikely]] {
      if (next_ > UINT16_MAX || !JsonTexts::IsPlain(value)) return value;
      cache_.Put(text, number = next_++);
    }
    return value.Numbered(uint16_t(number));
  }

  static constexpr size_t kFew = 32;
  struct Few {
    uint64_t bytes = 0;
    uint16_t size = 0, number = 0;
  };

  TextCache cache_;
  std::array<Few, (size_t(ChromeSlot::kTid) + 1) * kFew> few_{};  // by member and last byte
  uint32_t next_ = ChromeTemplates::kMaxNodes;                    // lower ones are numbers of keys
};

}  // namespace xlaprof

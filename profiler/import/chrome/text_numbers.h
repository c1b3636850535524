// Gives small numbers to the texts that the events of a file share. A thread that takes the events
// from another one then need not look at the bytes of the texts, which are in that thread's cache.
#pragma once

#include "profiler/import/chrome/chrome_templates.h"
#include "profiler/import/chrome/json_texts.h"
#include "profiler/import/trace/text_cache.h"

namespace xlaprof {

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

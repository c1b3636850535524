// Gives ids to the texts of a JSON file: decodes them, repairs them to UTF-8 and interns them.
// Texts that were seen recently, or have numbers, are found without looking into the store.
#pragma once

#include <vector>

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

}  // namespace xlaprof

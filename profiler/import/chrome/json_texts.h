// Ids of the texts of a JSON file: decoded, repaired to UTF-8, interned. Those that were seen of
// late, or have numbers, are found without looking into the store.
#pragma once

#include <vector>

#include "profiler/import/chrome/json_scan.h"
#include "profiler/import/chrome/text_cache.h"
#include "profiler/import/odd_input.h"

namespace xlaprof {

class JsonTexts {
 public:
  // Longer texts are cut here, and counted.
  static constexpr size_t kMaxTextBytes = size_t(1) << 20;

  // What is not plain is counted each time that it is seen.
  static bool IsPlain(const json::Value& value) {
    return !value.control() && value.raw().size() <= kMaxTextBytes;
  }

  // `file` is what the values of Of() point into.
  JsonTexts(Store& store, std::string_view file, OddInput& odd)
      : store_(store), file_(file), odd_(odd) {}

  // Id of what a text stands for; of any other value, of its text as it stands. Numbers of values
  // are all of one reader.
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

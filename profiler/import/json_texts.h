// Ids of the texts of a JSON file: decoded, repaired to UTF-8, interned. The few texts that most
// events use are found by a hash of some of their bytes, without looking into the store.
#pragma once

#include <array>
#include <cstring>

#include "profiler/import/json_scan.h"
#include "profiler/import/odd_input.h"

namespace xlaprof {

class JsonTexts {
 public:
  // Longer texts are cut here, and counted.
  static constexpr size_t kMaxTextBytes = size_t(1) << 20;

  // `file` is what the values of Of() point into.
  JsonTexts(Store& store, std::string_view file, OddInput& odd)
      : store_(store), file_(file), odd_(odd) {}

  // Id of what a text stands for; of any other value, of its text as it stands.
  absl::StatusOr<StringId> Of(const json::Value& value) {
    Slot& slot = slots_[Hash(value.raw)];
    if (slot.id != 0 && slot.raw.size() == value.raw.size() &&
        std::memcmp(slot.raw.data(), value.raw.data(), value.raw.size()) == 0) [[likely]] {
      return slot.id;
    }
    return Intern(value, &slot);
  }

 private:
  static constexpr size_t kSlots = 1 << 13;
  struct Slot {
    std::string_view raw;
    StringId id = 0;
  };

  static size_t Hash(std::string_view raw) {
    uint64_t first = 0, last = 0;
    if (raw.size() >= 8) {
      std::memcpy(&first, raw.data(), 8);
      std::memcpy(&last, raw.data() + raw.size() - 8, 8);
    } else {
      std::memcpy(&first, raw.data(), raw.size());
    }
    const uint64_t mixed = (first ^ (last * 0x9e3779b97f4a7c15) ^ raw.size()) * 0xd6e8feb86659fd93;
    return size_t(mixed >> 51);
  }
  absl::StatusOr<StringId> Intern(const json::Value& value, Slot* slot);

  Store& store_;
  std::string_view file_;
  OddInput& odd_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace xlaprof

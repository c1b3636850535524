// Ids of the texts of a JSON file: decoded, repaired to UTF-8, interned. The few texts that most
// events use are found by a hash of some of their bytes, without looking into the store.
#pragma once

#include <array>
#include <bit>
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
    const Words words = WordsOf(value.raw);
    Slot& slot = slots_[words.Hash()];
    if (slot.id != 0 && slot.words == words &&
        (words.size <= 16 || std::memcmp(slot.raw, value.raw.data(), words.size) == 0)) [[likely]] {
      return slot.id;
    }
    return Intern(value, &slot);
  }

 private:
  static constexpr int kSlotBits = 13;
  // The ends of a text: all of it, up to 16 bytes.
  struct Words {
    uint64_t first = 0, last = 0;
    size_t size = 0;
    bool operator==(const Words&) const = default;
    size_t Hash() const {
      const uint64_t mixed =
          (first ^ std::rotl(last, 23) ^ size) * 0x9e3779b97f4a7c15 ^ last * 0xd6e8feb86659fd93;
      return size_t((mixed * 0x9e3779b97f4a7c15) >> (64 - kSlotBits));
    }
  };
  struct Slot {
    Words words;
    const char* raw = nullptr;
    StringId id = 0;
  };

  static Words WordsOf(std::string_view raw) {
    Words words{.size = raw.size()};
    if (raw.size() >= 8) [[likely]] {
      std::memcpy(&words.first, raw.data(), 8);
      std::memcpy(&words.last, raw.data() + raw.size() - 8, 8);
    } else {
      for (size_t i = 0; i < raw.size(); ++i) words.first |= uint64_t(uint8_t(raw[i])) << (8 * i);
    }
    return words;
  }
  absl::StatusOr<StringId> Intern(const json::Value& value, Slot* slot);

  Store& store_;
  std::string_view file_;
  OddInput& odd_;
  std::array<Slot, size_t(1) << kSlotBits> slots_{};
};

}  // namespace xlaprof

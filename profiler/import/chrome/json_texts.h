// Ids of the texts of a JSON file: decoded, repaired to UTF-8, interned. The few texts that most
// events use are found by a hash of some of their bytes, without looking into the store.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "profiler/import/chrome/json_scan.h"
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
    const std::string_view raw = value.raw();
    const Ends ends = EndsOf(raw);
    Slot* pair = &slots_[2 * ends.Hash(raw.size())];
    for (Slot* slot : {pair, pair + 1}) {
      if (slot->size == raw.size() && slot->ends == ends && slot->id != 0 &&
          (raw.size() <= sizeof(Ends) || std::memcmp(slot->raw, raw.data(), raw.size()) == 0))
          [[likely]] {
        return slot->id;
      }
    }
    return Intern(value, pair);
  }

 private:
  static constexpr int kPairBits = 12;
  // The first and last bytes of a text: all of it, up to 16 bytes.
  struct Ends {
    uint64_t first = 0, last = 0;
    bool operator==(const Ends&) const = default;
    size_t Hash(size_t size) const {
      const uint64_t mixed =
          (first ^ std::rotl(last, 23) ^ size) * 0x9e3779b97f4a7c15 ^ last * 0xd6e8feb86659fd93;
      return size_t((mixed * 0x9e3779b97f4a7c15) >> (64 - kPairBits));
    }
  };
  struct alignas(32) Slot {
    Ends ends;
    const char* raw = nullptr;
    uint32_t size = 0;
    StringId id = 0;
  };

  static Ends EndsOf(std::string_view raw) {
    Ends ends;
    if (raw.size() >= 8) [[likely]] {
      std::memcpy(&ends.first, raw.data(), 8);
      std::memcpy(&ends.last, raw.data() + raw.size() - 8, 8);
    } else {
      for (size_t i = 0; i < raw.size(); ++i) ends.first |= uint64_t(uint8_t(raw[i])) << (8 * i);
    }
    return ends;
  }
  absl::StatusOr<StringId> Intern(const json::Value& value, Slot* pair);

  Store& store_;
  std::string_view file_;
  OddInput& odd_;
  // A text is in one of two neighbours, on one cache line; the first is the one of late.
  alignas(64) std::array<Slot, size_t(2) << kPairBits> slots_{};
};

}  // namespace xlaprof

// Keeps the ids of the few texts that most events of a file use, found by a hash of some of their
// bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace xlaprof {

// Forgets texts if many of them have the same hash. Only one thread may use it.
class TextCache {
 public:
  // Returns the id that `text` was added with, or 0 if the cache does not have it.
  uint32_t Find(std::string_view text) const {
    const Ends ends = EndsOf(text);
    const Slot* pair = &slots_[2 * ends.Hash(text.size())];
    for (const Slot* slot : {pair, pair + 1}) {
      if (slot->size == text.size() && slot->ends == ends && slot->id != 0 &&
          (text.size() <= sizeof(Ends) || std::memcmp(slot->text, text.data(), text.size()) == 0))
          [[likely]] {
        return slot->id;
      }
    }
    return 0;
  }
  // Adds a text. The cache must not have it yet, and it must outlive this object; `id` is not 0.
  void Put(std::string_view text, uint32_t id) {
    const Ends ends = EndsOf(text);
    Slot* pair = &slots_[2 * ends.Hash(text.size())];
    pair[1] = pair[0];
    pair[0] = {ends, text.data(), uint32_t(text.size()), id};
  }

 private:
  static constexpr int kPairBits = 12;
  // The first and last bytes of a text, which are all of it up to 16 bytes.
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
    const char* text = nullptr;
    uint32_t size = 0;
    uint32_t id = 0;
  };

  template <class T>
  static T Load(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static Ends EndsOf(std::string_view text) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    if (text.size() >= 8) [[likely]]
      return {Load<uint64_t>(begin), Load<uint64_t>(end - 8)};
    if (text.size() >= 4) return {Load<uint32_t>(begin), Load<uint32_t>(end - 4)};
    Ends ends;
    for (const char* at = begin; at < end; ++at) ends.first = ends.first << 8 | uint8_t(*at);
    return ends;
  }

  // A text is in one of two neighbours on one cache line; the first is the more recent one.
  alignas(64) std::array<Slot, size_t(2) << kPairBits> slots_{};
};

}  // namespace xlaprof

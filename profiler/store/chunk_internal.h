// The bytes of a chunk, as its encoder and its decoder both know them. docs/formats/chunk.md has
// the full description.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace xlaprof {

// A blob is a u8 version, a u32 checksum of all that follows, and sections. A section is a u8
// codec, the varint length of its raw bytes, the varint length of its stored bytes, and the stored
// bytes. Integers are little-endian. A varint has 7 bits per byte, lowest first, and at most 10
// bytes. A section without bytes is a column that needs none.
inline constexpr uint8_t kFormatVersion = 1;
inline constexpr size_t kHeaderBytes = 5;
enum Codec : uint8_t { kRaw = 0, kZstd = 1 };
// No column needs more bytes per value: two varints of 10 and 3 bytes (a value and its place) and a
// dictionary's share.
inline constexpr size_t kMaxBytesAValue = 16;
inline constexpr size_t kMaxVarintBytes = 10;
inline constexpr size_t kMaxBytesBeside = 64;
enum PlacesMode : uint8_t { kAll = 0, kGaps = 1, kBitmap = 2 };
enum ValuesMode : uint8_t { kPlain = 0, kDelta = 1, kDictionary = 2, kFixed = 3, kWholeDelta = 4 };
enum CategoryMode : uint8_t { kOneCategory = 0, kCategoryByName = 1, kCategoryByEvent = 2 };

inline uint64_t ZigZag(int64_t v) { return (uint64_t(v) << 1) ^ uint64_t(v >> 63); }
inline int64_t UnZigZag(uint64_t v) { return int64_t((v >> 1) ^ (0 - (v & 1))); }

// Writes a varint and returns its end, but may write one byte beyond that end. It does not branch
// on whether one or two bytes are needed, because durations alternate between the two.
inline uint8_t* PutVarint(uint8_t* p, uint64_t v) {
  const uint64_t more = v >= 0x80;
  const auto both = uint16_t((v + (v & 0x3f80)) | more << 7);
  std::memcpy(p, &both, 2);
  if (v < 1 << 14) [[likely]]
    return p + 1 + more;
  while (v >= 0x80) {
    *p++ = uint8_t(v) | 0x80;
    v >>= 7;
  }
  *p++ = uint8_t(v);
  return p;
}
inline size_t VarintBytes(uint64_t v) { return size_t(std::bit_width(v | 1) + 6) / 7; }

inline uint64_t Load64(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

// Finds damage that decodes without an error, such as a page that was overwritten with another
// chunk's. It uses four lanes, so that it costs a fraction of a nanosecond per event. The checksum
// covers the count but not the time, so that an UPDATE of min_ts_ns can shift a clock.
inline uint32_t Checksum(const uint8_t* p, size_t n, uint64_t count) {
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
  uint64_t lane[4] = {count * kMix + n, kMix, ~kMix, count};
  auto mix = [](uint64_t h, uint64_t v) {
    h = (h ^ v) * kMix;
    return h ^ (h >> 32);
  };
  while (n >= 32) {
    for (int i = 0; i < 4; ++i) lane[i] = mix(lane[i], Load64(p + 8 * i));
    p += 32;
    n -= 32;
  }
  uint8_t tail[32] = {};
  if (n > 0) std::memcpy(tail, p, n);
  for (int i = 0; i < 4; ++i) lane[i] = mix(lane[i], Load64(tail + 8 * i));
  return uint32_t(mix(mix(lane[0], lane[1]), mix(lane[2], lane[3])));
}

}  // namespace xlaprof

// Encodes and decodes varints (docs/formats/chunk.md) in blocks, several at once. Decoded one after
// the other, each varint would wait for the length of the one before, and varying lengths are
// branches that a processor cannot predict. Internal to profiler/store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xlaprof {

inline constexpr size_t kVarintBlock = 2048;

// Decodes kVarintBlock varints that begin at `p` and returns where they end. Returns nullptr if
// they or the 8 bytes after them do not end before `end`, or if one of them is longer than 8 bytes;
// `out` may then hold anything.
const uint8_t* DecodeVarintBlock(const uint8_t* p, const uint8_t* end, uint64_t* out);

// Writes varints of `values` to `p` and returns where they end. Up to 4 bytes after them may be
// overwritten.
uint8_t* EncodeVarints(std::span<const uint64_t> values, uint8_t* p);

}  // namespace xlaprof

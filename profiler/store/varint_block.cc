#include "profiler/store/varint_block.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <array>
#include <bit>

#include "profiler/store/chunk_internal.h"

namespace xlaprof {
namespace {

constexpr uint64_t kTopBits = 0x8080808080808080;
// Parts of a block that are decoded side by side; more do not fit into the registers.
constexpr size_t kParts = 4, kInPart = kVarintBlock / kParts;

// Takes the top bit out of each byte: eight groups of seven bits become one number.
struct ByShifts {
  static uint64_t Squeeze(uint64_t v) {
    v = (v & 0x007f007f007f007f) | (v & 0x7f007f007f007f00) >> 1;
    v = (v & 0x00003fff00003fff) | (v & 0x3fff00003fff0000) >> 2;
    return (v & 0x000000000fffffff) | (v & 0x0fffffff00000000) >> 4;
  }
};

#ifdef __x86_64__
// Does the same with one instruction of BMI2. It is assembly, so that nothing else needs to be
// built for BMI2.
struct ByExtraction {
  static uint64_t Pick(uint64_t v, uint64_t bits) {
    uint64_t out;
    asm("pext %2, %1, %0" : "=r"(out) : "r"(v), "r"(bits));
    return out;
  }
  static uint64_t Squeeze(uint64_t v) { return Pick(v, ~kTopBits); }
};
// Returns whether this processor has BMI2. (zig's runtime library lacks __builtin_cpu_supports.)
bool HasBmi2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_BMI2) != 0;
}
const bool kCanExtract = HasBmi2();
#endif

// Returns how many of 8 bytes end a varint. (A popcount would be a call, because not every x86-64
// has it.)
size_t CountEnds(uint64_t word) {
  return size_t((((~word & kTopBits) >> 7) * 0x0101010101010101) >> 56);
}

// The beginnings of the parts, and the end of the block.
using Begins = std::array<const uint8_t*, kParts + 1>;

// Finds where the parts begin. Returns false if the bytes do not suffice.
bool FindParts(const uint8_t* p, const uint8_t* end, Begins* begins) {
  (*begins)[0] = p;
  size_t seen = 0;
  for (size_t part = 1; part <= kParts; ++part) {
    const size_t wanted = part * kInPart;
    while (true) {
      if (end - p < 16) return false;
      const size_t ends = CountEnds(Load64(p));
      if (seen + ends >= wanted) break;
      seen += ends;
      p += 8;
    }
    const uint8_t* at = p;
    for (size_t left = wanted - seen; left > 0; ++at) left -= *at < 0x80;
    (*begins)[part] = at;
  }
  return true;
}

template <class By>
bool DecodeParts(const Begins& begins, uint64_t* out) {
  const uint8_t* at[kParts];
  for (size_t part = 0; part < kParts; ++part) at[part] = begins[part];
  for (size_t i = 0; i < kInPart; ++i) {
#pragma GCC unroll 4
    for (size_t part = 0; part < kParts; ++part) {
      const uint64_t word = Load64(at[part]);
      const uint64_t ends = ~word & kTopBits;
      if (ends == 0) [[unlikely]]
        return false;
      // The mask has all bits below the lowest end; the end itself is a 0.
      out[part * kInPart + i] = By::Squeeze(word & (ends ^ (ends - 1)));
      at[part] += std::countr_zero(ends) / 8 + 1;
    }
  }
  return true;
}

}  // namespace

const uint8_t* DecodeVarintBlock(const uint8_t* p, const uint8_t* end, uint64_t* out) {
  Begins begins;
  if (!FindParts(p, end, &begins)) return nullptr;
  if (begins[kParts] == p + kVarintBlock) {
    for (size_t i = 0; i < kVarintBlock; ++i) out[i] = p[i];  // a byte each
  } else {
#ifdef __x86_64__
    const bool sound =
        kCanExtract ? DecodeParts<ByExtraction>(begins, out) : DecodeParts<ByShifts>(begins, out);
#else
    const bool sound = DecodeParts<ByShifts>(begins, out);
#endif
    if (!sound) return nullptr;
  }
  return begins[kParts];
}

uint8_t* EncodeVarints(std::span<const uint64_t> values, uint8_t* p) {
  size_t i = 0;
#ifdef __x86_64__
  for (; kCanExtract && i + 4 <= values.size(); i += 4) {
    const uint64_t *v = &values[i], all = v[0] | v[1] | v[2] | v[3];
    if (all >= 1 << 14) [[unlikely]] {
      for (size_t k = 0; k < 4; ++k) p = PutVarint(p, v[k]);
      continue;
    }
    // Each value takes two bytes; then the upper bytes that are 0 are taken out.
    const uint64_t four = v[0] | v[1] << 16 | v[2] << 32 | v[3] << 48;
    const uint64_t high = (four & 0x3f803f803f803f80) << 1;
    const uint64_t two = (high + 0x7f007f007f007f00) & 0x8000800080008000;
    const uint64_t bytes = (four & 0x007f007f007f007f) | high | two >> 8;
    const uint64_t packed =
        ByExtraction::Pick(bytes, 0x00ff00ff00ff00ff | two | (two - (two >> 7)));
    std::memcpy(p, &packed, 8);
    p += 4 + ((two >> 15) * 0x0001000100010001 >> 48);
  }
#endif
  for (; i < values.size(); ++i) p = PutVarint(p, values[i]);
  return p;
}

}  // namespace xlaprof

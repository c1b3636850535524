// Tests that varints decoded in blocks equal varints decoded one by one, without reading a byte too
// far.
#include "profiler/store/varint_block.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "profiler/store/chunk_internal.h"

namespace xlaprof {
namespace {

std::vector<uint8_t> Pack(const std::vector<uint64_t>& numbers) {
  std::vector<uint8_t> bytes(numbers.size() * 10);
  uint8_t* p = bytes.data();
  for (uint64_t number : numbers) p = PutVarint(p, number);
  bytes.resize(size_t(p - bytes.data()));
  return bytes;
}

// Decodes `bytes` in memory of exactly their size, so that a sanitizer detects every read beyond
// them.
const uint8_t* Decode(const std::vector<uint8_t>& bytes, std::vector<uint64_t>* out,
                      std::unique_ptr<uint8_t[]>* kept) {
  kept->reset(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), kept->get());
  out->assign(kVarintBlock, 0);
  return DecodeVarintBlock(kept->get(), kept->get() + bytes.size(), out->data());
}

TEST(VarintBlock, IsTheSameAsOneByOne) {
  std::mt19937_64 random(1);
  for (int max_bits : {7, 8, 14, 21, 35, 56}) {
    std::vector<uint64_t> numbers(kVarintBlock);
    for (uint64_t& number : numbers) number = random() >> (64 - 1 - random() % uint64_t(max_bits));
    std::vector<uint8_t> bytes = Pack(numbers);
    const size_t size = bytes.size();
    bytes.resize(size + 16, 0xff);
    std::vector<uint64_t> out;
    std::unique_ptr<uint8_t[]> kept;
    const uint8_t* behind = Decode(bytes, &out, &kept);
    ASSERT_NE(behind, nullptr) << max_bits;
    EXPECT_EQ(behind - kept.get(), int64_t(size));
    EXPECT_EQ(out, numbers) << max_bits;
  }
}

TEST(VarintBlock, IsWrittenTheSameAsOneByOne) {
  std::mt19937_64 random(1);
  for (int max_bits : {7, 8, 14, 15, 21, 64}) {
    for (size_t size : {0, 1, 3, 4, 5, 2048, 2051}) {
      std::vector<uint64_t> numbers(size);
      for (uint64_t& number : numbers)
        number = random() >> (64 - 1 - random() % uint64_t(max_bits));
      const std::vector<uint8_t> bytes = Pack(numbers);
      std::vector<uint8_t> out(bytes.size() + 4);
      const uint8_t* behind = EncodeVarints(numbers, out.data());
      ASSERT_EQ(behind - out.data(), int64_t(bytes.size())) << max_bits;
      out.resize(bytes.size());
      EXPECT_EQ(out, bytes) << max_bits;
    }
  }
}

TEST(VarintBlock, LeavesTheEndOfASectionToOthers) {
  std::vector<uint8_t> bytes = Pack(std::vector<uint64_t>(kVarintBlock, 300));
  std::vector<uint64_t> out;
  std::unique_ptr<uint8_t[]> kept;
  for (size_t cut : {size_t(0), size_t(1), size_t(7), bytes.size() / 2, bytes.size()}) {
    EXPECT_EQ(Decode({bytes.begin(), bytes.end() - int64_t(cut)}, &out, &kept), nullptr) << cut;
  }
}

TEST(VarintBlock, LeavesLongNumbersToOthers) {
  for (size_t place : {size_t(0), size_t(700), kVarintBlock - 1}) {
    std::vector<uint64_t> numbers(kVarintBlock, 5);
    numbers[place] = uint64_t(1) << 56;
    std::vector<uint8_t> bytes = Pack(numbers);
    bytes.resize(bytes.size() + 16);
    std::vector<uint64_t> out;
    std::unique_ptr<uint8_t[]> kept;
    EXPECT_EQ(Decode(bytes, &out, &kept), nullptr) << place;
  }
  std::vector<uint64_t> out;
  std::unique_ptr<uint8_t[]> kept;
  EXPECT_EQ(Decode(std::vector<uint8_t>(10 * kVarintBlock, 0xff), &out, &kept), nullptr);
}

}  // namespace
}  // namespace xlaprof

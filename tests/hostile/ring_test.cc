// Tests rings of killed processes after they were cut and damaged.
#include "profiler/record/ring.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fuzz/ring_target.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/expect.h"

namespace xlaprof {
namespace {

// Regression: the subtraction of the ends overflowed.
TEST(Rings, EndsOfASlotFarApart) {
  std::string bytes = RingSeeds().front();
  // The slots are the last part. The first ring, which is unused, comes before the one in use.
  const size_t slots = record::SlotsBelow(2) * sizeof(record::Slot);
  ASSERT_GT(bytes.size(), slots);
  const size_t at = bytes.size() - slots + record::SlotsBelow(1) * sizeof(record::Slot);
  const uint64_t ends[][2] = {
      {0, UINT64_MAX}, {UINT64_MAX, 1}, {uint64_t{1} << 63, UINT64_MAX >> 1}};
  for (const auto& end : ends) {
    std::memcpy(bytes.data() + at, end, sizeof end);
    EXPECT_EQ(RunRing(bytes, true), "");
  }
}

TEST(Rings, DamagedAnywhere) {
  const std::string ring = RingSeeds().front();
  EXPECT_EQ(RunRing(ring, true), "");
  ExpectAllWell(size_t(200 * HostileScale()), [&](size_t i) {
    return GuardedCase{.name = fmt::format("damaged ring {}", i), .run = [&, i] {
                         Random random(i);
                         std::string bytes = ring;
                         if (i % 8 == 0) bytes.resize(random.Below(bytes.size()));
                         if (i % 8 == 1) bytes.append(1 + random.Below(3000), 'x');
                         // Most changes are to numbers of eight bytes, which the file mostly holds.
                         for (size_t k = 0; k <= i % 5; ++k) {
                           const size_t at = random.Below(bytes.size());
                           const uint64_t number = random.Next() >> random.Below(64);
                           for (size_t b = 0; b < 8 && at + b < bytes.size(); ++b)
                             bytes[at + b] = char(number >> 8 * b);
                         }
                         return RunRing(bytes, true);
                       }};
  });
}

}  // namespace
}  // namespace xlaprof

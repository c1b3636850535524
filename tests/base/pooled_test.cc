#include "base/pooled.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace xlaprof {
namespace {

struct Thing : Pooled<Thing> {
  explicit Thing(int value) { values.fill(value); }
  std::array<int, 9> values;
};
using Things = std::vector<std::unique_ptr<Thing>>;

// Makes more objects than a thread keeps for reuse.
Things Many(int first) {
  Things things;
  for (int i = 0; i < 10'000; ++i) things.push_back(std::make_unique<Thing>(first + i));
  return things;
}

bool AreMany(const Things& things, int first) {
  for (size_t i = 0; i < things.size(); ++i)
    if (things[i]->values != Thing(first + int(i)).values) return false;
  return things.size() == 10'000;
}

TEST(Pooled, ObjectsHaveMemoryOfTheirOwn) {
  Many(0).clear();
  const Things again = Many(7);
  const Things more = Many(70'000);
  EXPECT_TRUE(AreMany(again, 7));
  EXPECT_TRUE(AreMany(more, 70'000));
}

TEST(Pooled, OneThreadMakesAndAnotherDestroys) {
  Things things = Many(0);
  std::jthread([&] {
    things.clear();
    things = Many(3);
  }).join();  // the thread's own pool ends with it, but the objects that it made do not
  EXPECT_TRUE(AreMany(things, 3));
}

#ifndef XLAPROF_SANITIZED
TEST(Pooled, MemoryIsTakenAgain) {
  Thing* first = new Thing(1);
  const void* kept = first;
  delete first;
  const std::unique_ptr<Thing> second = std::make_unique<Thing>(2);
  EXPECT_EQ(static_cast<void*>(second.get()), kept);
}
#endif

}  // namespace
}  // namespace xlaprof

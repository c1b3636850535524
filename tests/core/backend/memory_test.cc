#include "core/backend/native/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace xlaprof::lazy {
namespace {

constexpr int64_t kMb = int64_t{1} << 20;

TEST(DeviceMemory, IsKeptForTheNextOfItsSize) {
  const auto memory = MakeRef<DeviceMemory>();
  char* const first = memory->Allocate(3 * kMb);
  memory->Free(first, 3 * kMb);
  EXPECT_EQ(memory->Allocate(3 * kMb - 100), first);
  EXPECT_EQ(memory->in_use(), 3 * kMb - 100);
  EXPECT_EQ(memory->most_in_use(), 3 * kMb);
  memory->Free(first, 3 * kMb - 100);
}

TEST(DeviceMemory, SizesThatNobodyAsksForMakeRoom) {
  const auto memory = MakeRef<DeviceMemory>();
  std::vector<char*> all;
  for (int i = 0; i < 100; ++i) all.push_back(memory->Allocate(kMb));
  for (char* one : all) memory->Free(one, kMb);  // the peak of memory in use is kept
  for (int i = 0; i < 5; ++i) {
    char* const other = memory->Allocate(50 * kMb);
    memory->Free(other, 50 * kMb);
    char* const again = memory->Allocate(50 * kMb);
    EXPECT_EQ(again, other);
    memory->Free(again, 50 * kMb);
  }
  EXPECT_EQ(memory->in_use(), 0);
}

TEST(DeviceMemory, HasAnEnd) {
  EXPECT_EQ(MakeRef<DeviceMemory>()->Allocate(int64_t{1} << 60), nullptr);
  EXPECT_EQ(MakeRef<DeviceMemory>()->Allocate(-1), nullptr);
}

}  // namespace
}  // namespace xlaprof::lazy

#include "base/whole.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace xlaprof {
namespace {

TEST(Whole, CutsTheFraction) {
  EXPECT_EQ(Whole(0), 0);
  EXPECT_EQ(Whole(1.9), 1);
  EXPECT_EQ(Whole(-1.9), -1);
  EXPECT_EQ(Whole(0x1p53), int64_t{1} << 53);
}

TEST(Whole, IsBoundedWhereACastIsUndefined) {
  constexpr int64_t kMost = int64_t{1} << 60;
  for (double huge : {0x1p60, 2.36118e20, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Whole(huge), kMost) << huge;
    EXPECT_EQ(Whole(-huge), -kMost) << huge;
  }
  EXPECT_EQ(Whole(std::nan("")), 0);
}

}  // namespace
}  // namespace xlaprof

#include "profiler/import/join/sequence.h"

#include <gtest/gtest.h>

#include <random>

namespace xlaprof {
namespace {

size_t LcsLength(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<std::vector<size_t>> t(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]);
    }
  }
  return t[a.size()][b.size()];
}

TEST(CommonSubsequence, IsCommonOrderedAndLongest) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    auto make = [&] {
      std::vector<int64_t> v(random() % 20);
      for (int64_t& x : v) x = random() % 4;
      return v;
    };
    std::vector<int64_t> a = make(), b = make();
    auto pairs = CommonSubsequence(a, b);
    int last_a = -1, last_b = -1;
    for (auto [i, j] : pairs) {
      ASSERT_GT(i, last_a);
      ASSERT_GT(j, last_b);
      ASSERT_EQ(a[i], b[j]);
      last_a = i, last_b = j;
    }
    ASSERT_EQ(pairs.size(), LcsLength(a, b));
  }
}

TEST(CommonSubsequence, PairsTheEndsOfWhatDiffersTooMuch) {
  std::vector<int64_t> a{1, 2}, b{1, 2};
  for (int i = 0; i < 3000; ++i) a.push_back(10 + i), b.push_back(100'000 + i);
  a.push_back(3), b.push_back(3);
  EXPECT_EQ(CommonSubsequence(a, b).size(), 3u);
}

}  // namespace
}  // namespace xlaprof

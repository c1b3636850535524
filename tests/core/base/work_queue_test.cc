#include "core/base/work_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace xlaprof {
namespace {

struct Square {
  int root = 0, square = 0;
};

std::vector<int> SquaresOf(int count, int worth_thread_from) {
  WorkQueue<Square> queue([](Square& piece) { piece.square = piece.root * piece.root; });
  std::vector<int> squares;
  auto take = [&] {
    squares.push_back(queue.Oldest().square);
    queue.Release();
  };
  for (int i = 0; i < count; ++i) {
    queue.Next().root = i;
    queue.Submit(i >= worth_thread_from);
    if (queue.full()) take();
  }
  while (!queue.empty()) take();
  return squares;
}

TEST(WorkQueue, GivesPiecesBackInOrder) {
  const std::vector<int> now = SquaresOf(1000, 1000);
  ASSERT_EQ(now.size(), 1000u);
  EXPECT_EQ(now[999], 999 * 999);
  EXPECT_EQ(SquaresOf(1000, 0), now);
  EXPECT_EQ(SquaresOf(1000, 500), now);
}

TEST(WorkQueue, EndsWithPiecesLeft) {
  for (int round = 0; round < 100; ++round) {
    WorkQueue<Square> queue([](Square& piece) { piece.square = piece.root; });
    while (!queue.full()) queue.Submit(true);
  }
}

}  // namespace
}  // namespace xlaprof

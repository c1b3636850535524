#include "base/work_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace xlaprof {
namespace {

struct Square {
  int root = 0, square = 0;
};

using Squares = WorkQueue<Square, 4>;
void Work(Square& piece) { piece.square = piece.root * piece.root; }

// Returns the squares of 0 to 999; from the root `first_large` on, pieces are large.
std::vector<int> SquaresOf(Squares& queue, int first_large) {
  std::vector<int> squares;
  auto take = [&] {
    squares.push_back(queue.Oldest().square);
    queue.Release();
  };
  for (int i = 0; i < 1000; ++i) {
    queue.Next().root = i;
    queue.Submit(/*is_large=*/i >= first_large);
    if (queue.full()) take();
  }
  while (!queue.empty()) take();
  return squares;
}

TEST(WorkQueue, GivesPiecesBackInOrder) {
  std::vector<int> expected;
  for (int i = 0; i < 1000; ++i) expected.push_back(i * i);
  for (int first_large : {0, 1, 500, 1000}) {
    Squares queue(Work);
    EXPECT_EQ(SquaresOf(queue, first_large), expected) << first_large;
    EXPECT_EQ(SquaresOf(queue, 1000), expected) << "small pieces after " << first_large;
  }
}

TEST(WorkQueue, SmallPiecesNeedNoThread) {
  const std::thread::id here = std::this_thread::get_id();
  std::vector<std::thread::id> workers;
  Squares queue([&](Square&) { workers.push_back(std::this_thread::get_id()); });
  SquaresOf(queue, 999);
  ASSERT_EQ(workers.size(), 1000u);
  EXPECT_EQ(workers[0], here);
  EXPECT_EQ(workers[998], here);
  EXPECT_NE(workers[999], here);
}

TEST(WorkQueue, EndsWithPiecesLeft) {
  for (int round = 0; round < 100; ++round) {
    Squares queue(Work);
    while (!queue.full()) queue.Submit(/*is_large=*/round % 2 == 0);
  }
}

}  // namespace
}  // namespace xlaprof

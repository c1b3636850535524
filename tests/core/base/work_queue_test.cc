#include "core/base/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace xlaprof {
namespace {

struct Square {
  int root = 0, square = 0;
};

using Squares = WorkQueue<Square, 4>;
void Work(Square& piece) { piece.square = piece.root * piece.root; }

std::vector<int> SquaresOf(int count, int from, Worker worker_from, Squares& queue) {
  std::vector<int> squares;
  auto take = [&] {
    squares.push_back(queue.Oldest().square);
    queue.Release();
  };
  for (int i = 0; i < count; ++i) {
    queue.Next().root = i;
    queue.Submit(i < from ? Worker::kOwner : worker_from);
    if (queue.full()) take();
  }
  while (!queue.empty()) take();
  return squares;
}

std::vector<int> SquaresOf(int count, int from, Worker worker_from) {
  Squares queue(Work);
  return SquaresOf(count, from, worker_from, queue);
}

TEST(WorkQueue, GivesPiecesBackInOrder) {
  const std::vector<int> now = SquaresOf(1000, 1000, Worker::kThread);
  ASSERT_EQ(now.size(), 1000u);
  EXPECT_EQ(now[999], 999 * 999);
  for (Worker worker : {Worker::kThread, Worker::kAnyone}) {
    EXPECT_EQ(SquaresOf(1000, 0, worker), now);
    EXPECT_EQ(SquaresOf(1000, 500, worker), now);
  }
}

TEST(WorkQueue, AnyThreadMayHelp) {
  const std::vector<int> now = SquaresOf(20000, 20000, Worker::kOwner);
  for (Worker worker : {Worker::kThread, Worker::kAnyone, Worker::kOwner}) {
    Squares queue(Work);
    std::atomic<bool> done{false};
    std::thread helper([&] {
      while (!done) queue.Help();
    });
    EXPECT_EQ(SquaresOf(20000, 5000, worker, queue), now);
    done = true;
    helper.join();
    EXPECT_FALSE(queue.Help());
  }
}

TEST(WorkQueue, WhoWaitsDoesSomethingElseMeanwhile) {
  int pieces = 0;
  Squares other(Work);
  Squares queue(
      [&](Square& piece) {
        Work(piece);
        std::this_thread::yield();
      },
      [&] { return ++pieces < 1000; });
  EXPECT_EQ(SquaresOf(1000, 0, Worker::kThread, queue), SquaresOf(1000, 0, Worker::kOwner, other));
}

TEST(WorkQueue, EndsWithPiecesLeft) {
  for (int round = 0; round < 100; ++round) {
    Squares queue(Work);
    while (!queue.full()) queue.Submit(round % 2 == 0 ? Worker::kThread : Worker::kAnyone);
  }
}

}  // namespace
}  // namespace xlaprof

#include "core/metrics/thread_cells.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "core/metrics/metrics.h"

namespace xlaprof::lazy::metrics {
namespace {

// There are more threads than cells, and all exist at once.
TEST(ThreadCells, ManyThreadsLoseNothing) {
  ThreadCells cells;
  constexpr int kThreads = 40;
  std::barrier all_there(kThreads);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      cells.Add(1);
      all_there.arrive_and_wait();
      for (int i = 0; i < 999; ++i) cells.Add(1);
    });
  }
  threads.clear();
  EXPECT_EQ(cells.sum(), kThreads * 1000);
}

TEST(ThreadCells, WhatAThreadLeftStays) {
  ThreadCells cells;
  for (int t = 0; t < 40; ++t) std::jthread([&] { cells.Add(t); });
  EXPECT_EQ(cells.sum(), 39 * 40 / 2);
}

TEST(Counter, BeginsAnewAfterClear) {
  Counter& counter = Counter::Of("ThreadCellsTest");
  counter.Add(5);
  std::jthread([&] { counter.Add(7); }).join();
  EXPECT_EQ(counter.value(), 12);
  counter.Clear();
  EXPECT_EQ(counter.value(), 0);
  counter.Add(2);
  EXPECT_EQ(counter.value(), 2);
}

}  // namespace
}  // namespace xlaprof::lazy::metrics

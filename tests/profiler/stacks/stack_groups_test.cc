// Tests how threads are grouped, and in which order the groups come.
#include "profiler/stacks/stack_groups.h"

#include <gmock/gmock.h>

namespace xlaprof::stacks {
namespace {

using testing::ElementsAre;

ThreadStack Main(int64_t pid, const std::string& function) {
  return {.pid = pid, .tid = pid, .is_main = true, .frames = {{function, "train.py", 1}}};
}
ThreadStack Worker(int64_t pid, std::vector<Frame> frames) {
  return {.pid = pid, .tid = pid + 1, .name = "worker", .frames = std::move(frames)};
}

std::vector<std::string> Order(const std::vector<StackGroup>& groups) {
  std::vector<std::string> order;
  for (const StackGroup& group : groups)
    order.push_back(fmt::format("{} {}{}", group.threads.size(), group.frames()[0].function,
                                group.is_idle ? " idle" : ""));
  return order;
}

// Rank 2 is elsewhere than the ranks that wait for it.
TEST(StackGroups, TheRankThatTheOthersWaitForComesFirst) {
  std::vector<ProcessInfo> processes = {{.pid = 1, .command = "torchrun"}};
  std::vector<ThreadStack> threads = {Main(1, "monitor")};
  for (int rank = 0; rank < 4; ++rank) {
    const int64_t pid = 10 + 10 * rank;
    processes.push_back({.pid = pid, .parent = 1, .rank = rank});
    threads.push_back(Main(pid, rank == 2 ? "load" : "allreduce"));
    threads.push_back(
        Worker(pid, {{"_worker", "/usr/lib/python3.11/concurrent/futures/thread.py", 81}}));
    threads.push_back(Worker(pid, {{"upload", "train.py", 4}}));
  }
  EXPECT_THAT(Order(GroupStacks(threads, processes)),
              ElementsAre("1 load", "3 allreduce", "1 monitor", "4 upload", "4 _worker idle"));
}

TEST(StackGroups, ALineMakesADifference) {
  std::vector<ThreadStack> threads = {Main(1, "f"), Main(2, "f")};
  EXPECT_EQ(GroupStacks(threads, {}).size(), 1u);
  threads[1].frames[0].line = 2;
  EXPECT_EQ(GroupStacks(threads, {}).size(), 2u);
}

TEST(StackGroups, OnlyWorkersOfPoolsAreIdle) {
  const std::string lib = "/usr/lib/python3.11/";
  const Frame run{"Thread.run", lib + "threading.py", 982};
  const Frame wait{"Condition.wait", lib + "threading.py", 327};
  const Frame get{"Queue.get", lib + "queue.py", 171};
  EXPECT_TRUE(
      IsIdleWorker(Worker(1, {{"_worker", lib + "concurrent/futures/thread.py", 81}, run})));
  // Its task waits.
  EXPECT_FALSE(IsIdleWorker(Worker(
      1, {wait, {"task", "train.py", 3}, {"_worker", lib + "concurrent/futures/thread.py", 81}})));
  // Nobody knows what this thread of the user's waits for.
  EXPECT_FALSE(IsIdleWorker(Worker(1, {wait, get, {"load", "train.py", 3}, run})));
  ThreadStack loader = Worker(1, {{"select", lib + "selectors.py", 1},
                                  {"wait", lib + "multiprocessing/connection.py", 1},
                                  {"Queue.get", lib + "multiprocessing/queues.py", 1},
                                  {"_worker_loop", "/x/torch/utils/data/_utils/worker.py", 1}});
  loader.is_main = true;
  EXPECT_TRUE(IsIdleWorker(loader));
  const std::vector<Frame> eigen = {{"futex_wait", "futex-internal.c", 57},
                                    {"Eigen::ThreadPoolTempl<E>::WaitForWork", "", 0}};
  EXPECT_TRUE(IsIdleWorker(Worker(1, eigen)));
  // It works on a task.
  EXPECT_FALSE(IsIdleWorker(Worker(1, {{"Eigen::internal::gebp_kernel", "", 0}, eigen[1]})));
  EXPECT_FALSE(IsIdleWorker(Worker(1, {})));
}

}  // namespace
}  // namespace xlaprof::stacks

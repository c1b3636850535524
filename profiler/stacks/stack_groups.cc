#include "profiler/stacks/stack_groups.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace xlaprof::stacks {
namespace {

constexpr std::string_view kRecorderThread = "xlaprof record";

// A worker of Python's pools waits in the function that takes its next task.
struct PythonWorker {
  std::string_view file, function;
};
constexpr PythonWorker kPythonWorkers[] = {{"concurrent/futures/thread.py", "_worker"},
                                           {"concurrent/futures/process.py", "_process_worker"},
                                           {"multiprocessing/pool.py", "worker"},
                                           {"torch/utils/data/_utils/worker.py", "_worker_loop"}};
// Python's queues, in which they wait.
constexpr std::string_view kQueueFiles[] = {"/queue.py",
                                            "/threading.py",
                                            "/selectors.py",
                                            "multiprocessing/queues.py",
                                            "multiprocessing/connection.py",
                                            "multiprocessing/synchronize.py"};
// Functions in which workers of native pools wait for work, and for nothing else.
constexpr std::string_view kNativeWaits[] = {
    "WaitForWork",             // Eigen's pool, which XLA and TensorFlow use
    "gomp_team_barrier_wait",  // OpenMP (GCC)
    "gomp_barrier_wait",
    "gomp_thread_start",
    "__kmp_fork_barrier",  // OpenMP (GCC, LLVM)
    "blas_thread_server",  // OpenBLAS
    "cq_next",
    "pollset_work"  // gRPC
};
// Functions at the top of a stack while a thread of a native pool sleeps.
constexpr std::string_view kSleeps[] = {"futex",    "cond_wait",  "cond_timedwait",
                                        "sem_wait", "epoll_wait", "poll",
                                        "do_wait",  "do_spin",    "syscall"};

bool Sleeps(const Frame& frame) {
  return std::ranges::any_of(kSleeps, [&](std::string_view name) {
    return frame.function.find(name) != std::string::npos;
  });
}

}  // namespace

bool IsIdleWorker(const ThreadStack& thread) {
  if (thread.name == kRecorderThread) return true;
  if (thread.frames.empty()) return false;
  // The worker's function is innermost, or calls only the queue from which it takes its tasks. A
  // worker process does so in its main thread.
  for (const Frame& frame : thread.frames) {
    const auto is_in = [&](std::string_view file) { return frame.file.ends_with(file); };
    if (std::ranges::any_of(kPythonWorkers, [&](const PythonWorker& worker) {
          return frame.function == worker.function && is_in(worker.file);
        }))
      return true;
    if (std::ranges::none_of(kQueueFiles, is_in)) break;
  }
  if (thread.is_main) return false;
  if (!Sleeps(thread.frames.front())) return false;
  return std::ranges::any_of(thread.frames, [](const Frame& frame) {
    return std::ranges::any_of(kNativeWaits, [&](std::string_view name) {
      return frame.function.find(name) != std::string::npos;
    });
  });
}

std::vector<StackGroup> GroupStacks(std::vector<ThreadStack> threads,
                                    const std::vector<ProcessInfo>& processes) {
  std::map<int64_t, const ProcessInfo*> by_pid;
  for (const ProcessInfo& process : processes) by_pid[process.pid] = &process;
  std::map<std::tuple<bool, std::vector<Frame>>, StackGroup> groups;
  for (ThreadStack& thread : threads) {
    const bool is_idle = IsIdleWorker(thread);
    StackGroup& group = groups[{is_idle, thread.frames}];
    group.is_idle = is_idle;
    group.has_main |= thread.is_main;
    group.threads.push_back(std::move(thread));
  }
  using Order = std::tuple<bool, bool, bool, size_t, int64_t>;
  std::vector<std::pair<Order, StackGroup>> ordered;
  for (auto& [key, group] : groups) {
    std::set<int64_t> pids;
    bool has_rank = false;
    for (const ThreadStack& thread : group.threads) {
      pids.insert(thread.pid);
      const auto process = by_pid.find(thread.pid);
      has_rank |= process != by_pid.end() && process->second->rank;
    }
    const size_t count = group.has_main && has_rank ? pids.size() : 0;
    const Order order{group.is_idle, !group.has_main, !has_rank, count, *pids.begin()};
    ordered.emplace_back(order, std::move(group));
  }
  std::ranges::stable_sort(ordered, {}, [](const auto& one) { return one.first; });
  std::vector<StackGroup> out;
  for (auto& [order, group] : ordered) out.push_back(std::move(group));
  return out;
}

}  // namespace xlaprof::stacks

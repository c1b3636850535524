// Groups the threads of all processes whose stacks are equal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiler/stacks/process_tree.h"
#include "profiler/stacks/thread_stack.h"

namespace xlaprof::stacks {

struct StackGroup {
  std::vector<ThreadStack> threads;  // at least one, with equal frames
  bool has_main = false;             // one of them is the main thread of its process
  bool is_idle = false;              // they are workers of a known pool, which wait for work
  const std::vector<Frame>& frames() const { return threads.front().frames; }
};

// Returns the groups, the most interesting first: main threads of ranks, other main threads, other
// threads, then idle ones. Among main threads of ranks, the stack of the fewest comes first, because
// the rank that the others wait for is elsewhere.
std::vector<StackGroup> GroupStacks(std::vector<ThreadStack> threads,
                                    const std::vector<ProcessInfo>& processes);

// Returns whether a thread is a worker that waits for work: one of a pool of Python or of
// PyTorch's DataLoader, of Eigen (XLA), OpenMP, OpenBLAS or gRPC, or the recorder's own thread. Any other thread that waits
// may be what hangs.
bool IsIdleWorker(const ThreadStack& thread);

}  // namespace xlaprof::stacks

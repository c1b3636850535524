#include "core/exec/at_exit.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/fork.h"
#include "core/exec/device.h"
#include "core/exec/graph_lock.h"

namespace xlaprof::lazy::at_exit {
namespace {

constinit std::atomic<bool> has_ended{false};

void FinishAll() {
  for (Device* device : Device::Made()) device->Finish();
}

// Lives in the main thread's thread_local memory, which exit() destroys before anything else.
struct MainThread {
  ~MainThread() {
    if (!is_forked) FinishAll();
  }
};

// Is a handler of exit().
void End() {
  if (is_forked || has_ended) return;
  // Is never released. Other threads may still record operations while exit() runs on this one.
  // They stop at their next operation, because it might need what is destroyed next.
  [[maybe_unused]] static const GraphLock& for_good = *new GraphLock;
  FinishAll();
  has_ended = true;
  for (Device* device : Device::Made()) device->EndThread();
}

}  // namespace

void FinishBeforeWhatExists() {
  if (!has_ended) std::atexit(End);
}

void WatchMainThread() {
  constinit thread_local bool is_watched = false;
  if (is_watched) return;
  is_watched = true;
  if (getpid() != gettid()) return;
  thread_local MainThread main_thread;
  (void)main_thread;
}

absl::Status Status() {
  if (!has_ended) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the program has ended: exit() is destroying static objects, and the devices have stopped. "
      "Compute what a destructor needs before main returns, for example with sync(true)");
}

}  // namespace xlaprof::lazy::at_exit

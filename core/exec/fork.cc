#include "core/exec/fork.h"

#include <pthread.h>

#include <optional>

#include "core/exec/graph_lock.h"

namespace xlaprof::lazy {
namespace {

// The thread that forks holds a GraphLock meanwhile. Otherwise the fork could find it held by a
// thread that it does not have, and could not even destroy its tensors.
thread_local std::optional<GraphLock> lock;

void BeforeFork() { lock.emplace(); }
void AfterForkInParent() { lock.reset(); }
void AfterForkInChild() {
  lock.reset();
  is_forked = true;
}

}  // namespace

void WatchForks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

}  // namespace xlaprof::lazy

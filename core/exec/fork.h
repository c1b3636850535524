// Knows forks. A fork has none of its parent's threads, so the work of its devices would never run.
#pragma once

namespace xlaprof::lazy {

// True in a process that was forked after the runtime had been used, and in its forks.
inline constinit bool is_forked = false;
// Sets that in each fork from now on. Each device calls it.
void WatchForks();

}  // namespace xlaprof::lazy

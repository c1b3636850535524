// Knows forks. A fork has none of its parent's threads, so the work of its devices would never run,
// and a lock that such a thread held is never free again.
#pragma once

namespace xlaprof {

// True in a process that was forked after the runtime had been used, and in its forks. Such a
// process can only destroy what its parent made. It takes no lock for that: nothing is looked up
// there any more, so an object stays where the parent looked it up.
inline constinit bool is_forked = false;
// Sets that in each fork from now on. Each device calls it.
void WatchForks();

}  // namespace xlaprof

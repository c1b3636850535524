#include "base/fork.h"

#include <pthread.h>

namespace xlaprof {

void WatchForks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
}

}  // namespace xlaprof

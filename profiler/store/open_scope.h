// A scope of a recorded program that has not ended: it is open in a running process, or it was open
// when its process was killed.
#pragma once

#include <string>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

// An event that was open when its process was killed has no duration. This argument says for how
// many ns it had been open when the process was last seen.
inline constexpr char kOpenNsArgument[] = "open_ns";

struct OpenScope {
  std::string name;
  OptInt step;       // the number of the step, if it is one
  OptInt open_ns;    // for how long it has been open, or had been at the kill; none: not known
  std::string file;  // the place that opened it; "" if it is not known
  int64_t line = 0;
};

// The open scopes of one thread, the outermost first.
struct OpenThread {
  std::string name;  // "" if it has none
  OptInt tid;
  bool ended = false;  // the thread has ended and left them open
  std::vector<OpenScope> scopes;
};

}  // namespace xlaprof

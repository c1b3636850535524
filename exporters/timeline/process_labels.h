// What tells a process from others of the job.
#pragma once

#include <string>

#include "profiler/store/store.h"

namespace xlaprof {

// "rank 0, host7, pid 12": what is known of these; may be empty.
inline std::string ProcessLabels(const OptText& host, OptInt pid, OptInt rank) {
  std::string labels;
  auto add = [&](const std::string& text) { labels += (labels.empty() ? "" : ", ") + text; };
  if (rank) add(fmt::format("rank {}", *rank));
  if (host) add(*host);
  if (pid) add(fmt::format("pid {}", *pid));
  return labels;
}

}  // namespace xlaprof

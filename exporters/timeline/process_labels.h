// Labels a process to distinguish it from others of the job.
#pragma once

#include <string>

#include "profiler/store/store.h"

namespace xlaprof {

// Returns what is known of these, for example "rank 0, host7, pid 12". May be empty.
inline std::string ProcessLabels(const OptText& host, OptInt pid, OptInt rank) {
  std::string labels;
  auto add = [&](const std::string& text) { labels += (labels.empty() ? "" : ", ") + text; };
  if (rank) add(fmt::format("rank {}", *rank));
  if (host) add(*host);
  if (pid) add(fmt::format("pid {}", *pid));
  return labels;
}

}  // namespace xlaprof

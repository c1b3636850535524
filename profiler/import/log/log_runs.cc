#include "profiler/import/log/log_runs.h"

namespace xlaprof {

absl::StatusOr<LogProcesses::Process*> LogProcesses::Of(int run, const LogOrigin& origin, int nth) {
  auto [found, added] = processes_.try_emplace({run, origin, nth});
  Process& process = found->second;
  if (added) {
    XP_TRY(process.id, context_.store.Add(ProcessRow{.source_id = context_.source_id,
                                                     .segment = run,
                                                     .host = origin.host,
                                                     .pid = origin.pid,
                                                     .rank = origin.rank}));
    first_.try_emplace(run, &process);
  }
  return &process;
}

absl::StatusOr<LogProcesses::Process*> LogProcesses::Nearest(int run, const LogOrigin& origin) {
  if (origin == LogOrigin()) {
    const auto first = first_.find(run);
    if (first != first_.end()) return first->second;
  }
  return Of(run, origin);
}

}  // namespace xlaprof

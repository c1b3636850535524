// How compiled programs run: on how many devices, and how long their first execution takes.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "analyzers/run/tables.h"
#include "base/status.h"

namespace xlaprof {

// Finds on how many devices each graph ran. A lazy runtime compiles a graph once for each of them.
struct ProgramDevices {
  std::map<std::pair<int64_t, std::string>, int64_t> counts;  // by process and hash

  // Returns the number of devices, or 1 if it is not known.
  int64_t Of(int64_t process_id, const std::string& hash) const {
    const auto found = counts.find({process_id, hash});
    return found == counts.end() ? 1 : found->second;
  }

  static absl::StatusOr<ProgramDevices> Of(const Run& run);
};

// Finds how much longer a program's first execution takes than its later ones: it sets up kernels
// and writes to memory that was not used before.
class FirstExecutions {
 public:
  static absl::StatusOr<FirstExecutions> Of(const Run& run);

  // Returns how much longer the first execution of a graph after `ts_ns` took than the median of
  // its other executions on the same device, as a mean over the devices. May be negative. Returns
  // nothing if no device executed the graph twice.
  OptInt ExtraNs(OptInt graph_id, int64_t ts_ns) const;

 private:
  using Times = std::vector<std::pair<int64_t, int64_t>>;  // start and length in ns, by start

  const Graphs* graphs_ = nullptr;
  absl::flat_hash_map<std::string, std::map<std::string, Times>> times_;  // by graph and device
};

}  // namespace xlaprof

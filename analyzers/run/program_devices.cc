#include "analyzers/run/program_devices.h"

#include <algorithm>

namespace xlaprof {

absl::StatusOr<ProgramDevices> ProgramDevices::Of(const Run& run) {
  ProgramDevices devices;
  const auto take = [&](int64_t process_id, std::string hash, int64_t count) {
    int64_t& known = devices.counts[{process_id, std::move(hash)}];
    known = std::max(known, count);
  };
  const Store& store = run.whole().store();
  XP_TRY(store.Each(
      "SELECT e.process_id, g.hash, count(DISTINCT e.device) AS devices FROM execution e JOIN "
      "graph g ON g.id = e.graph_id WHERE e.process_id IS NOT NULL AND g.hash IS NOT NULL GROUP BY "
      "1, 2 HAVING devices > 1",
      take));
  // Replicas on threads of one process each write a dump of the graphs of their device.
  XP_TRY(store.Each(
      "SELECT c.process_id, g.hash, count(DISTINCT s.id) AS dumps FROM compile c JOIN graph g ON "
      "g.id = c.graph_id JOIN provenance p ON p.table_name = 'compile' AND p.row_id = c.id JOIN "
      "source s ON s.id = p.source_id AND s.kind = 'executed' WHERE c.process_id IS NOT NULL AND "
      "g.hash IS NOT NULL GROUP BY 1, 2 HAVING dumps > 1",
      take));
  return devices;
}

}  // namespace xlaprof

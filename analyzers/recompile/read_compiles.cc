#include "analyzers/recompile/read_compiles.h"

#include "analyzers/policy.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/recompile/graph_parts.h"
#include "analyzers/recompile/iteration_pieces.h"
#include "analyzers/run/repeated_work.h"
#include "analyzers/run/tables.h"

namespace xlaprof {

absl::StatusOr<ReadCompiles> ReadCompiles::Of(const Run& run) {
  XP_TRY(const CompileSites* compiled, run.Get<CompileSites>());
  XP_TRY(const IterationPieces* pieces, run.Get<IterationPieces>());
  ReadCompiles reads;
  for (const CompileSite& site : compiled->sites) {
    if (site.cause != CutKind::kValueAccess) continue;
    for (const CompileFact& compile : site.compiles) {
      // A read cuts TorchTPU's graph, so the nodes run once, with and without the read.
      if (IsPart(compile)) continue;
      const bool is_first = &compile == &site.compiles.front();
      if (!compile.hash.empty() && (is_first || pieces->Contain(compile.process_id, compile.hash)))
        reads.graphs.try_emplace({compile.process_id, compile.hash});
    }
  }
  XP_TRY(const RepeatedWork* repeated, run.Get<RepeatedWork>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  for (const ExecutionRow& row : executions->rows) {
    const auto graph =
        reads.graphs.find({row.process_id.value_or(0), graphs->HashOf(row.graph_id).value_or("")});
    if (graph != reads.graphs.end()) graph->second = std::max(graph->second, repeated->Of(row.id));
  }
  std::erase_if(reads.graphs, [](const auto& graph) {
    return graph.second.value_or(1) < policy::kShareOfReadGraph;
  });
  return reads;
}

}  // namespace xlaprof

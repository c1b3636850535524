#include "analyzers/recompile/first_compilations.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzers/policy.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/recompile/graph_parts.h"
#include "analyzers/recompile/iteration_pieces.h"
#include "analyzers/run/repeated_work.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Finds the graphs that were compiled only because a value is read before the step mark. Their
// compiles are no recompiles, because each of these reads has a graph of its own.
struct ReadCompiles {
  // By process and hash: the share of the graph's nodes that the step's own graph contains again,
  // if it is known. Graphs of which it contains little are missing, because without the read, they
  // would be compiled at another place.
  std::map<std::pair<int64_t, std::string>, std::optional<double>> graphs;

  static absl::StatusOr<ReadCompiles> Of(const Run& run);
};

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

// Returns how many nodes the graph of a compile has, from the form that lists it best.
OptInt NodesOf(const Graphs& graphs, OptInt graph_id) {
  std::pair<int, OptInt> best{-2, OptInt()};  // quality of the form, and its number of nodes
  for (const GraphRow* form : graphs.FormsOf(graph_id)) {
    if (!form->node_count || form->printed_as == PrintedForm::kSignature) continue;
    const int rank =
        !form->printed_as                                                                       ? -1
        : *form->printed_as == PrintedForm::kIrText || *form->printed_as == PrintedForm::kIrDot ? 1
                                                                                                : 0;
    best = std::max(best, {rank, form->node_count});
  }
  return best.second;
}

}  // namespace

absl::StatusOr<FirstCompilations> FirstCompilations::Of(const Run& run) {
  XP_TRY(const Compiles* all, run.whole().Get<Compiles>());
  XP_TRY(const Compiles* in_slice, run.Get<Compiles>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  XP_TRY(const CompileSites* compiled, run.Get<CompileSites>());
  XP_TRY(const ReadCompiles* reads, run.Get<ReadCompiles>());
  XP_TRY(const CompilePhases* phases, run.whole().Get<CompilePhases>());
  std::set<int64_t> looked_at;
  for (const CompileRow& row : in_slice->rows) looked_at.insert(row.id);
  std::vector<const CompileRow*> in_order;
  for (const CompileRow& row : all->rows) in_order.push_back(&row);
  std::ranges::stable_sort(in_order, std::less<>(), &CompileRow::ordinal);
  std::set<std::pair<OptInt, std::string>> graphs_seen;
  std::set<std::tuple<OptInt, OptInt, std::optional<CutKind>, OptText>> sites_seen;
  FirstCompilations out;
  for (const CompileRow* row : in_order) {
    const std::string key =
        graphs->IdentityOf(row->graph_id).value_or(fmt::format("compile {}", row->id));
    const bool first_of_graph = graphs_seen.emplace(row->process_id, key).second;
    const bool first_of_site =
        sites_seen.emplace(row->process_id, row->site_id, row->cause, row->function).second;
    if (!first_of_graph || !looked_at.contains(row->id)) continue;
    const int64_t process_id = row->process_id.value_or(0);
    if (row->persistent_hit.value_or(false)) {
      out.loaded.push_back({.row = row->id, .process_id = process_id, .ns = row->dur_ns});
      continue;
    }
    if (!row->dur_ns) continue;
    const Subject place = sites->SubjectOf(row->site_id);
    out.all.push_back({.row = row->id,
                       .process_id = process_id,
                       .ns = *row->dur_ns,
                       .ts_ns = row->ts_ns,
                       .trace_ns = row->trace_ns,
                       .hash = graphs->HashOf(row->graph_id),
                       .file = place.file,
                       .function = row->function ? row->function : place.function,
                       .nodes = NodesOf(*graphs, row->graph_id),
                       .line = place.line,
                       .program_bytes = row->program_bytes,
                       .graph_id = row->graph_id,
                       .is_share = row->dur_from == TimeSource::kMetricsShare,
                       .is_unlike_others = compiled->unlike_others.contains(row->id),
                       .first_of_site = first_of_site});
    if (const auto* parts = phases->Find(row->id)) out.all.back().phases_ns = *parts;
    const auto read = reads->graphs.find({process_id, key});
    if (row->cause != CutKind::kValueAccess || read == reads->graphs.end()) continue;
    out.all.back().is_for_read = true;
    out.all.back().again = read->second;
  }
  std::ranges::sort(out.all, std::less<>(), &FirstCompilation::row);
  return out;
}

}  // namespace xlaprof

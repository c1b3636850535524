#include "analyzers/run/program_call.h"

#include "analyzers/run/tables.h"
#include "base/jax_module.h"

namespace xlaprof {

absl::StatusOr<Subject> CallByName(const Run& run, std::string_view function) {
  XP_TRY(const Compiles* compiles, run.whole().Get<Compiles>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  OptInt site;
  for (const CompileRow& row : compiles->rows) {
    if (function.empty() || row.cause != CutKind::kCall || row.function != function || !row.site_id)
      continue;
    if (site && site != row.site_id) return Subject();
    site = row.site_id;
  }
  return sites->SubjectOf(site);
}

absl::StatusOr<Subject> CallOf(const Run& run, int64_t graph_id) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  const OptText identity = graphs->IdentityOf(graph_id);
  Subject subject;
  auto take = [&](const auto& row) {
    if (!subject.file && graphs->IdentityOf(row.graph_id) == identity)
      subject = sites->SubjectOf(row.site_id);
  };
  XP_TRY(const Compiles* compiles, run.whole().Get<Compiles>());
  for (const CompileRow& row : compiles->rows) take(row);
  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ExecutionRow& row : executions->rows) take(row);
  const GraphRow* graph = graphs->Find(graph_id);
  if (!subject.file && graph != nullptr) {
    XP_TRY(subject, CallByName(run, JaxFunctionOf(graph->name.value_or(""))));
  }
  subject.graph_hash = graphs->HashOf(graph_id);
  return subject;
}

}  // namespace xlaprof

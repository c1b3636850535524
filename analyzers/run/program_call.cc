#include "analyzers/run/program_call.h"

#include "analyzers/run/tables.h"

namespace xlaprof {

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
  subject.graph_hash = graphs->HashOf(graph_id);
  return subject;
}

}  // namespace xlaprof

// Finds functions that torch.compile no longer compiles, because they have as many programs as they
// may have.
#include "analyzers/recompile_limit.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/run/ranks.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Returns how long after the first compilation of its process the function's last one ended.
OptInt LastCompileEnd(const Compiles& compiles, const DynamoRecompileRow& limit) {
  OptInt first, last;
  for (const CompileRow& row : compiles.rows) {
    if (row.process_id != limit.process_id || !row.ts_ns || !row.dur_ns) continue;
    first = std::min(first.value_or(INT64_MAX), *row.ts_ns);
    if (row.function == limit.function && row.site_id == limit.site_id)
      last = std::max(last.value_or(INT64_MIN), *row.ts_ns + *row.dur_ns);
  }
  if (!last) return {};
  return *last - *first;
}

absl::StatusOr<Findings> FindRecompileLimits(const Run& run) {
  XP_TRY(const auto* table, run.Get<Table<DynamoRecompileRow>>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  XP_TRY(const Ranks* ranks, run.Get<Ranks>());
  // A log and TORCH_TRACE may both report it, and so may each process.
  std::map<std::tuple<std::string, OptInt>, std::vector<const DynamoRecompileRow*>> functions;
  for (const DynamoRecompileRow& row : table->rows) {
    if (row.programs) functions[{row.function, row.site_id}].push_back(&row);
  }
  Findings findings;
  for (const auto& [key, rows] : functions) {
    RecompileLimitFigures figures{.function = rows.front()->function};
    Finding finding{.needs_fixing = true,
                    .subject = sites->SubjectOf(rows.front()->site_id),
                    .reason = Reason{.type = ReasonType::kRecompileLimit},
                    .evidence = {{.table = "dynamo_recompile"}}};
    finding.subject.function = figures.function;
    std::set<int64_t> processes;
    for (const DynamoRecompileRow* row : rows) {
      processes.insert(row->process_id.value_or(0));
      finding.count = std::max(finding.count.value_or(0), *row->programs);
      finding.evidence[0].rows.push_back(row->id);
      if (row->reason) figures.reason = *row->reason;
      if (!figures.last_compile_ns) figures.last_compile_ns = LastCompileEnd(*compiles, *row);
    }
    XP_TRY(const auto formats, ranks->FormatsOf(run, "dynamo_recompile", finding.evidence[0].rows));
    finding.only_ranks = ranks->Only(processes, figures.function, formats);
    finding.figures = std::move(figures);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer recompile_limit{
    .name = "recompile_limit",
    .summary = "functions that torch.compile gave up on, because they had too many programs",
    .meaning =
        "A function was compiled again so often that it reached torch.compile's limit. Calls that none of its programs fits run without being compiled from then on, and only a warning in the log says so.",
    .looks_at = "torch.compile's warnings, and its structured log (TORCH_TRACE)",
    .find = FindRecompileLimits,
    .say = SayRecompileLimit,
    .needs = Needs::kTorchCompile};
}  // namespace xlaprof

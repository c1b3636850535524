// Finds functions that could not be compiled.
#include "analyzers/compile_failure.h"

#include <map>
#include <tuple>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr size_t kMostFailureRows = 32;  // rows that a finding cites

absl::StatusOr<Findings> FindCompileFailures(const Run& run) {
  XP_TRY(const auto* table, run.Get<Table<CompileFailureRow>>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  std::map<std::tuple<OptInt, OptInt, OptText, OptText>, std::vector<const CompileFailureRow*>>
      alike;
  for (const CompileFailureRow& row : table->rows)
    alike[{row.site_id, row.failed_site_id, row.error, row.text}].push_back(&row);
  Findings findings;
  for (const auto& [key, rows] : alike) {
    const CompileFailureRow& first = *rows.front();
    CompileFailureFigures figures{.function = first.function.value_or(""),
                                  .error = first.error.value_or(""),
                                  .message = first.reason.value_or(""),
                                  .hint = first.hint.value_or("")};
    Finding finding{.needs_fixing = true,
                    .subject = sites->SubjectOf(first.failed_site_id),
                    .count = int64_t(rows.size()),
                    .reason = Reason{.type = first.type},
                    .evidence = {{.table = "compile_failure"}}};
    if (finding.subject.file) {
      figures.compiled = sites->SubjectOf(first.site_id).place();
    } else {
      finding.subject = sites->SubjectOf(first.site_id);
    }
    if (!finding.subject.function) finding.subject.function = first.function;
    for (const CompileFailureRow* row : rows) {
      if (row->dur_ns) finding.cost_ns = finding.cost_ns.value_or(0) + *row->dur_ns;
      if (finding.evidence[0].rows.size() < kMostFailureRows)
        finding.evidence[0].rows.push_back(row->id);
    }
    finding.figures = std::move(figures);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer compile_failure{
    .name = "compile_failure",
    .summary = "functions that could not be compiled",
    .meaning =
        "The compiler gave up on a function, and raised an error or left the function to run without being compiled. Unless the error ends the program, it is easily overlooked, and the program runs as slowly as without torch.compile.",
    .looks_at = "failed compilations that torch.compile reports (TORCH_TRACE, and warnings in its log)",
    .find = FindCompileFailures,
    .say = SayCompileFailure,
    .needs = Needs::kTorchCompile,
    .spent_on = SpentOn::kCompiling};
}  // namespace xlaprof

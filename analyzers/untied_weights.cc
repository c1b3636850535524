// Weights that were tied before their model was moved to a device: each became a tensor of its own.
#include "analyzers/untied_weights.h"

#include "analyzers/analyzer.h"

namespace xlaprof {

static absl::StatusOr<Findings> FindUntiedWeights(const Run& run) {
  return run.store().Collect(
      "SELECT u.id, u.names, u.copies, u.bytes, u.device, s.function, s.file, s.line "
      "FROM untied_weight u LEFT JOIN site s ON s.id = u.site_id ORDER BY u.ordinal, u.id",
      [](int64_t row, std::string names, int64_t copies, int64_t bytes, OptText device,
         OptText function, OptText file, OptInt line) {
        Finding finding{.severity = Severity::kWarning};
        finding.subject = {.file = std::move(file), .line = line, .function = std::move(function)};
        finding.count = copies;
        finding.reason = Reason{.type = ReasonType::kTiedBeforeMove};
        finding.evidence.push_back({.table = "untied_weight", .rows = {row}});
        finding.figures = UntiedWeightsFigures{
            .names = std::move(names), .bytes = bytes, .device = std::move(device)};
        return finding;
      });
}

extern const Analyzer untied_weights{
    .name = "untied_weights",
    .summary = "weights that were tied before the move to the device, and are copies since",
    .meaning =
        "Two names of a model shared one tensor before the model was moved to the device, "
        "and are separate copies since. They train apart from each other and take memory "
        "twice.",
    .looks_at = "moves of models, of recorded programs",
    .find = FindUntiedWeights,
    .say = SayUntiedWeights};
}  // namespace xlaprof

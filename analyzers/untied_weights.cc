// Finds weights that were tied until their model was moved to a device, where each became a
// separate tensor.
#include "analyzers/untied_weights.h"

#include <algorithm>

#include "analyzers/analyzer.h"
#include "analyzers/run/tables.h"

namespace xlaprof {

static absl::StatusOr<Findings> FindUntiedWeights(const Run& run) {
  XP_TRY(const UntiedWeights* table, run.Get<UntiedWeights>());
  std::vector<UntiedWeightRow> weights = table->rows;
  std::ranges::stable_sort(weights, std::less<>(), &UntiedWeightRow::ordinal);
  XP_TRY(const Sites* sites, run.Get<Sites>());
  Findings findings;
  for (UntiedWeightRow& weight : weights) {
    Finding& finding = findings.emplace_back(
        Finding{.needs_fixing = true,
                .subject = sites->SubjectOf(weight.site_id),
                .count = weight.copies,
                .reason = Reason{.type = ReasonType::kTiedBeforeMove},
                .evidence = {{.table = "untied_weight", .rows = {weight.id}}}});
    finding.figures = UntiedWeightsFigures{.names = std::move(weight.names),
                                           .bytes = weight.bytes,
                                           .device = std::move(weight.device)};
  }
  return findings;
}

extern const Analyzer untied_weights{
    .name = "untied_weights",
    .summary =
        "weights that were tied before the model moved to the device, and are separate copies now",
    .meaning =
        "Two names of a model shared one tensor before the model was moved to the device, and are separate copies now. They are trained separately and take twice the memory.",
    .looks_at = "moves of models in recordings of our lazy runtime",
    .find = FindUntiedWeights,
    .say = SayUntiedWeights,
    .needs = Needs::kLazyRuntime};
}  // namespace xlaprof

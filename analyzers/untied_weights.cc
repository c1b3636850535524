// Weights that were tied before their model was moved to a device: each became a tensor of its own.
#include "analyzers/analyzer.h"
#include "analyzers/quantity.h"

namespace xlaprof {

static absl::StatusOr<Findings> Run(const Store& store) {
  return store.Collect(
      "SELECT u.id, u.names, u.copies, u.bytes, u.device, s.function, s.file, s.line "
      "FROM untied_weight u LEFT JOIN site s ON s.id = u.site_id ORDER BY u.ordinal, u.id",
      [](int64_t row, std::string names, int64_t copies, int64_t bytes, OptText device,
         OptText function, OptText file, OptInt line) {
        const std::string where = device.value_or("the device");
        Finding finding{.severity = Severity::kWarning};
        finding.subject = {.file = std::move(file), .line = line, .function = std::move(function)};
        finding.title = fmt::format("{} were one tensor, and are {} since the move to {}", names,
                                    copies, where);
        finding.count = copies;
        finding.cost_note = fmt::format(
            "unmeasured in time: {} more on {}, as much again for each state of the optimizer, "
            "and a gradient and an update for each copy",
            BytesText(double(bytes) * double(copies - 1)), where);
        finding.reason =
            Reason{.type = ReasonType::kTiedBeforeMove,
                   .text =
                       "a move makes each parameter anew, so what was tied before it trains apart "
                       "after it: this is another model than the one that was written"};
        finding.advice =
            "Move first, then tie: after model.to(device) assign the one weight to the other "
            "again, and make the optimizer last.";
        finding.evidence.push_back({.table = "untied_weight", .rows = {row}});
        return finding;
      });
}

extern const Analyzer untied_weights{
    .name = "untied_weights",
    .summary = "weights that were tied before the move to the device, and are copies since",
    .looks_at = "moves of models, of recorded programs",
    .run = Run};
}  // namespace xlaprof

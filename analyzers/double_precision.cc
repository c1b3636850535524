// Finds programs that mostly compute in double precision. It needs fixing if none of their inputs is
// a double: a single array or number of this type makes everything double that is computed with it.
#include "analyzers/double_precision.h"

#include "analyzers/analyzer.h"
#include "analyzers/graph/promotion.h"
#include "analyzers/run/top_ops.h"
#include "analyzers/run/user_code.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

// The program that an instruction is from, if all programs with one of this name make doubles.
absl::StatusOr<OptInt> ProgramOfDoubles(const Run& run, const std::string& instruction) {
  OptInt program;
  bool all = true;
  XP_TRY(run.store().Each(
      "SELECT n.graph_id, n.shape FROM graph_node n JOIN graph g ON g.id = n.graph_id WHERE n.name "
      "= ?1 AND g.printed_as = 'hlo_optimized' ORDER BY n.graph_id",
      [&](int64_t graph_id, const std::string& shape) {
        all = all && IsDoublePrecision(shape);
        if (!program) program = graph_id;
      },
      instruction));
  return all ? program : OptInt();
}

absl::StatusOr<std::optional<Finding>> OnDevice(const Run& run, const DeviceTop& device) {
  double share = 0;
  OptInt program;  // that of the longest such op
  for (const TopOp& op : device.ops) {
    XP_TRY(const OptInt of, ProgramOfDoubles(run, op.instruction));
    if (!of) continue;
    share += op.share;
    if (!program) program = of;
  }
  if (!program || share < policy::kDoubleShare) return std::nullopt;
  XP_TRY(const PrintedGraph graph, LoadGraph(run.store(), *program));
  const std::optional<Promotion> promotion = FindPromotion(graph);
  if (!promotion) return std::nullopt;
  const int64_t double_ns = Whole(share * device.busy_share * double(device.span_ns));
  Finding finding{.needs_fixing = promotion->inputs == 0,
                  .cost_ns = double_ns,
                  .saving_ns = Whole(policy::kDoubleSaving * double(double_ns)),
                  .reason = Reason{.type = ReasonType::kTypePromotion},
                  .evidence = {{.table = "graph", .rows = {*program}}},
                  .certainty = Certainty::kInferred};
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  const SourcePlace place = code->Of(promotion->location);
  if (!place.empty()) finding.subject.SetPlace(place);
  finding.figures = DoublePrecisionFigures{.program = graph.name,
                                           .device = device.label,
                                           .share = share,
                                           .has_array = promotion->has_array,
                                           .inputs = promotion->inputs};
  return finding;
}

absl::StatusOr<Findings> FindDoublePrecision(const Run& run) {
  XP_TRY(const TopOps* top, run.Get<TopOps>());
  Findings findings;
  for (const DeviceTop& device : top->devices) {
    XP_TRY(std::optional<Finding> finding, OnDevice(run, device));
    if (!finding) continue;
    findings.push_back(*std::move(finding));
    break;  // other devices run the same program
  }
  return findings;
}

}  // namespace

extern const Analyzer double_precision{
    .name = "double_precision",
    .summary = "programs that mostly compute in float64",
    .meaning =
        "Most of a device's time goes into ops in double precision, which a CPU computes at half the speed, and most accelerators at a small fraction of it. If the program's inputs are float64, the program may need them, and the finding only says so. Otherwise, one float64 array or number makes everything computed with it float64; in JAX, this happens only with jax_enable_x64.",
    .looks_at = "optimised HLO and the times of ops on devices",
    .find = FindDoublePrecision,
    .say = SayDoublePrecision,
    .needs = Needs::kOptimizedPrograms,
    .thresholds = {policy::kDoubleShare, policy::kDoubleSaving},
    .is_from_timeline = true};

}  // namespace xlaprof

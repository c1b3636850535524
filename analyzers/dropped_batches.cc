// Finds batches that a loader drops because the last ones do not suffice for all devices, and
// epochs in which no device gets a batch, so that the loop over the loader never runs.
#include "analyzers/dropped_batches.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxDroppedRows = 12;

// The epochs at one line that are judged together.
struct Epochs {
  DroppedBatchesFigures figures;
  int64_t dropped = 0;
  std::vector<int64_t> rows;
};

bool HasNoStep(const LoaderEpochRow& epoch) { return epoch.batches == epoch.dropped; }

Finding OfEpochs(const Epochs& epochs, bool have_no_step, Subject subject) {
  Finding finding{
      .needs_fixing = have_no_step || double(epochs.dropped) >=
                                          policy::kDroppedShare * double(epochs.figures.batches),
      .subject = std::move(subject),
      .count = epochs.dropped,
      .reason = Reason{.type = have_no_step ? ReasonType::kEmptyEpoch : ReasonType::kLastBatches},
      .evidence = {{.table = "loader_epoch", .rows = epochs.rows}}};
  finding.figures = epochs.figures;
  return finding;
}

absl::StatusOr<Findings> FindDroppedBatches(const Run& run) {
  XP_TRY(const LoaderEpochs* table, run.Get<LoaderEpochs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  // By line, number of devices, and whether the epochs have no step.
  std::map<std::tuple<OptInt, int64_t, bool>, Epochs> groups;
  std::map<std::pair<OptInt, int64_t>, int64_t> all;
  for (const LoaderEpochRow& epoch : table->rows) {
    ++all[{epoch.site_id, epoch.devices}];
    if (epoch.dropped == 0 && !HasNoStep(epoch)) continue;
    Epochs& group = groups[{epoch.site_id, epoch.devices, HasNoStep(epoch)}];
    ++group.figures.epochs;
    group.figures.devices = epoch.devices;
    group.figures.batches += epoch.batches;
    group.dropped += epoch.dropped;
    if (group.rows.size() < kMaxDroppedRows) group.rows.push_back(epoch.id);
  }
  Findings findings;
  for (auto& [key, group] : groups) {
    const auto& [site, devices, have_no_step] = key;
    group.figures.of_epochs = all[{site, devices}];
    findings.push_back(OfEpochs(group, have_no_step, sites->SubjectOf(site)));
  }
  return findings;
}

}  // namespace

extern const Analyzer dropped_batches{
    .name = "dropped_batches",
    .summary = "batches that a loader drops, and epochs in which the loop over the loader never runs",
    .meaning =
        "A loader for several devices deals out a batch to each of them. If the last batches of an epoch do not suffice for all devices, it drops them, and the model does not see their data. If there are fewer batches than devices, or none because the epoch before used up what the program reads, the loop over the loader never runs, and no error is raised.",
    .looks_at = "the epochs of loaders in recordings of our lazy runtime",
    .find = FindDroppedBatches,
    .say = SayDroppedBatches,
    .needs = Needs::kLazyRuntime,
    .thresholds = {policy::kDroppedShare}};

}  // namespace xlaprof

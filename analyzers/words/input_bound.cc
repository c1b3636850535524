#include "analyzers/input_bound.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

std::string Title(const Finding& finding, const InputBoundFigures& figures) {
  std::string title = fmt::format(
      "{} input bound: {:.0f} % of the steady time is waiting for data",
      finding.reason->type == ReasonType::kHigh ? "highly" : "moderately", 100 * figures.share);
  if (figures.steps > 0)
    title += fmt::format(" ({} a {})", DurationText(*finding.cost_ns / figures.steps),
                         figures.by_batch ? "batch" : "step");
  return title;
}

// Returns whether the device works through most of the waits.
bool IsHidden(const Finding& finding, const InputBoundFigures& figures) {
  return figures.idle_ns && 2 * *figures.idle_ns < *finding.cost_ns;
}

std::string Why(const Finding& finding, const InputBoundFigures& figures) {
  switch (figures.pattern) {
    case WaitPattern::kRepeats:
      return IsHidden(finding, figures)
                 ? fmt::format(
                       "The device works on what was queued before, and is idle for only {} of these waits.",
                       DurationText(*figures.idle_ns))
                 : "";
    case WaitPattern::kMostlyOneWait:
      return fmt::format("One wait of {} is most of it.", DurationText(figures.longest_ns));
    case WaitPattern::kStopped:
      return fmt::format("It stopped: after step {} of {}, no step waits.", figures.last_wait,
                         figures.steps);
    case WaitPattern::kReadyBatches:
      return "Taking a ready batch from a worker process takes as long, so nothing shows that the workers are late.";
  }
  return "";
}

std::string WaitSavingNote(const Finding& finding) {
  if (!finding.saving_ns) return "";
  return *finding.saving_ns < *finding.cost_ns
             ? "the part of the waits in which the device was idle, too, if loading keeps up"
             : "the steps no longer wait, if loading keeps up";
}

std::string CostNote(const InputBoundFigures& figures) {
  if (figures.samples > 0)
    return fmt::format("the main thread was in a data loader in {} of {} samples of its stack",
                       figures.loader_samples, figures.samples);
  return fmt::format("time of the step's thread in the input pipeline, in {}",
                     figures.by_batch ? Plural(figures.steps, "batch", "batches")
                                      : Plural(figures.steps, "steady step"));
}

std::string Advice(const InputBoundFigures& figures, Framework framework) {
  if (figures.pattern == WaitPattern::kReadyBatches)
    return "Fewer tensors in a batch, or fewer and larger batches, take less time.";
  switch (figures.loading) {
    case DataLoading::kUnknown:
      return fmt::format(
          "Load data earlier: use more loader workers, a deeper prefetch{}, or cheaper or cached preprocessing.",
          framework == Framework::kPytorchXla
              ? " (MpDeviceLoader's loader_prefetch_size and device_prefetch_size)"
              : "");
    case DataLoading::kInStepThread:
      return "The loader works on the step's own thread (num_workers=0). Load data in worker processes: DataLoader(num_workers=N, persistent_workers=True, pin_memory=True).";
    case DataLoading::kInWorkers:
      return "The loader's workers are too slow. Use a DataLoader with more num_workers or a larger prefetch_factor, or cheaper or cached preprocessing.";
  }
  return "";
}

std::vector<std::string> EvidenceLines(const Finding& finding, const InputBoundFigures& figures) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < figures.waits_ns.size(); ++i) {
    lines.push_back(fmt::format("{} of {} waiting for data", DurationText(figures.waits_ns[i]),
                                DurationText(*finding.evidence[i].dur_ns)));
  }
  return lines;
}

}  // namespace

Words SayInputBound(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const InputBoundFigures&>(finding.figures);
  return {.title = Title(finding, figures),
          .why = Why(finding, figures),
          .cost_note = CostNote(figures),
          .saving_note = WaitSavingNote(finding),
          .advice = Advice(figures, framework),
          .evidence = EvidenceLines(finding, figures),
          .tells_share = true};
}

}  // namespace xlaprof

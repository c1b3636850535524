// The words of dropped_batches, which are the same for each framework.
#include "analyzers/dropped_batches.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// Returns "in 2 of 5 epochs", or "in one epoch". Epochs that the program left early are not counted,
// so the only one that is counted may be one of several.
std::string EpochsText(const DroppedBatchesFigures& figures) {
  if (figures.of_epochs == 1) return "in one epoch";
  return figures.epochs == figures.of_epochs
             ? fmt::format("in all {} epochs", figures.of_epochs)
             : fmt::format("in {} of {} epochs", figures.epochs, figures.of_epochs);
}

std::string DevicesText(int64_t devices) {
  return devices == 1 ? "The device needs" : fmt::format("Each of the {} devices needs", devices);
}

Words OfEmptyEpochs(const DroppedBatchesFigures& figures) {
  Words words{.title = fmt::format("the loop over the loader never ran {}", EpochsText(figures)),
              .cost_note = "not measured in time; these epochs used no data"};
  if (figures.batches == 0) {
    words.why =
        "The function that reads batches returned none, so the loop ended at once, without an error.";
    words.advice =
        "Check that the function finds its data, and that it starts again in each epoch: what one epoch has read to the end returns nothing in the next.";
  } else {
    words.why = fmt::format(
        "{} a batch, but only {} {} read{}. The loader dropped what it had, so the loop ended at once, without an error.",
        DevicesText(figures.devices), Plural(figures.batches, "batch", "batches"),
        figures.batches == 1 ? "was" : "were",
        figures.epochs == 1 ? "" : fmt::format(" in these {} epochs together", figures.epochs));
    words.advice =
        "Use smaller batches, more data or fewer devices, or repeat examples until there is a batch for each device.";
  }
  return words;
}

Words OfLastBatches(const DroppedBatchesFigures& figures, int64_t dropped) {
  return {
      .title = fmt::format("the loader dropped {} of {} batches {}", dropped, figures.batches,
                           EpochsText(figures)),
      .why = fmt::format(
          "{} a batch, and the last ones of an epoch do not suffice for all. The model does not see their data in that epoch.",
          DevicesText(figures.devices)),
      .cost_note = "not measured in time; the batches were read and not used",
      .advice = fmt::format(
          "Make the number of batches a multiple of {}, the number of devices: repeat examples to fill the last batches, or choose another batch size.",
          figures.devices)};
}

}  // namespace

Words SayDroppedBatches(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const DroppedBatchesFigures&>(finding.figures);
  return finding.reason->type == ReasonType::kEmptyEpoch
             ? OfEmptyEpochs(figures)
             : OfLastBatches(figures, finding.count.value_or(0));
}

}  // namespace xlaprof

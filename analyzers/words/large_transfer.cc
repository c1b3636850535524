// The words of large_transfer.
#include "analyzers/large_transfer.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/in_terms_of.h"

namespace xlaprof {
namespace {

std::string_view DirectionText(Direction direction) {
  switch (direction) {
    case Direction::kFromDevice:
      return "from the device";
    case Direction::kToDevice:
      return "to the device";
    case Direction::kDeviceToDevice:
    case Direction::kUnknown:
      return "between devices";
  }
  return "";
}

std::string_view TurnText(Turn turn) {
  switch (turn) {
    case Turn::kStep:
      return "a step";
    case Turn::kExecution:
      return "an execution";
  }
  return "";
}

// Returns what uploads batches in the background.
std::string_view BackgroundUpload(Framework framework) {
  constexpr InTermsOf kUpload{
      .pytorch = " Copy from pinned memory (pin_memory=True) with non_blocking=True.",
      .pytorch_xla = " Let MpDeviceLoader upload in the background.",
      .jax =
          " A NumPy array that is an argument of a jitted function is copied in each call: call jax.device_put once, before the loop, or on the next batch before the current step ends.",
      .cpp = " Let DeviceLoader upload in the background."};
  return kUpload.Of(framework);
}

std::string Advice(Direction direction, Framework framework) {
  switch (direction) {
    case Direction::kFromDevice:
      return fmt::format(
          "Read less: reduce on the device first (a mean, a slice), or read only every N steps.{}",
          framework == Framework::kPytorchXla
              ? " A step closure (xm.add_step_closure) copies asynchronously."
          : framework == Framework::kJax ? " x.copy_to_host_async() starts the copy early."
                                         : "");
    case Direction::kToDevice:
      return fmt::format(
          "Upload less: keep constant tensors on the device, send smaller types (uint8 images, bfloat16) and convert there.{}",
          BackgroundUpload(framework));
    case Direction::kDeviceToDevice:
    case Direction::kUnknown:
      return "Place the tensors where they are used.";
  }
  return "";
}

constexpr std::string_view kBesideTheSteps =
    "a loader's threads upload alongside the steps, so not all of this is waiting";

// Copies on the timeline

std::string Title(const ExposedCopies& figures, const Finding& finding) {
  return fmt::format(
      "{} copies {}{} take {:.0f} % of the steady time", *finding.count,
      DirectionText(figures.direction),
      figures.mean_bytes ? fmt::format(" of {} each", BytesText(*figures.mean_bytes)) : "",
      100 * figures.share);
}

std::vector<std::string> EvidenceLines(const ExposedCopies& figures, const Finding& finding) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < finding.evidence.size(); ++i) {
    const OptInt bytes = figures.bytes_of_evidence[i];
    lines.push_back(fmt::format("{}{}", DurationText(*finding.evidence[i].dur_ns),
                                bytes ? ", " + BytesText(double(*bytes)) : ""));
  }
  return lines;
}

Words Say(const ExposedCopies& figures, const Finding& finding, Framework framework) {
  return {.title = Title(figures, finding),
          .cost_note = "time of these copies during which the device was idle",
          .advice = Advice(figures.direction, framework),
          .evidence = EvidenceLines(figures, finding)};
}

// Uploads from pageable memory

Words Say(const BlockingUploads& figures, const Finding& finding, Framework framework) {
  return {
      .title = fmt::format("{} from pageable memory block the host for {:.0f} % of the steady time",
                           Plural(*finding.count, "upload"), 100 * figures.share),
      .why =
          "The driver first copies pageable memory into a buffer of its own, and the call returns only then.",
      .cost_note = "time of the calls, as far as the device was idle in the steady time",
      .advice =
          framework == Framework::kPytorch
              ? "Upload from pinned memory: DataLoader(pin_memory=True) and tensor.to(device, non_blocking=True)."
              : "Upload from pinned (page-locked) memory and do not wait for the copy.",
      .evidence = {
          fmt::format("the longest call, {}", DurationText(*finding.evidence.front().dur_ns))}};
}

// Uploads one by one

std::string LinesText(const std::vector<UploadBursts::Line>& lines) {
  constexpr size_t kMost = 4;
  std::vector<std::string> parts;
  for (const UploadBursts::Line& line : lines) {
    if (parts.size() == kMost) break;
    parts.push_back(fmt::format("{} at {}:{}", line.inputs, line.place.basename(),
                                line.place.line.value_or(0)));
  }
  return ListText(parts);
}

std::string_view OneUploadAdvice(Framework framework) {
  constexpr InTermsOf kAdvice{
      .pytorch =
          "Upload once: make the tensors on the CPU, join them there (torch.cat or torch.stack, or one torch.tensor of a list of lists), and then call .to(device).",
      .jax =
          "Upload once: make one NumPy array of them (np.stack, np.concatenate) and pass it to the jitted function or to jax.device_put.",
      .otherwise = "Upload once: join the tensors on the host, and copy the result."};
  return kAdvice.Of(framework);
}

Words Say(const UploadsOneByOne& figures, const Finding& finding, Framework framework) {
  Words words{
      .title = fmt::format(
          "{:.3g} tensors {} are uploaded one by one, which takes {:.0f} % of the steady time",
          figures.uploads_per_turn, TurnText(figures.turn), 100 * figures.share),
      .why = figures.lines.empty()
                 ? ""
                 : fmt::format("They are inputs of the graph: {}.", LinesText(figures.lines)),
      .cost_note = "time from the first to the last of these uploads, while the device was idle",
      .saving_note = "one upload takes about as long as one of these",
      .advice = std::string(OneUploadAdvice(framework)),
      .tells_share = true};
  for (const Evidence& burst : finding.evidence)
    words.evidence.push_back(fmt::format("uploads for {}", DurationText(*burst.dur_ns)));
  return words;
}

// Bytes of metrics

std::string Title(const CopiedBytes& figures) {
  const std::string copies = fmt::format("{:.3g}", figures.copies_per_turn);
  return fmt::format("{} {} {} in {} cop{}", BytesText(figures.bytes_per_turn),
                     DirectionText(figures.direction), TurnText(figures.turn), copies,
                     copies == "1" ? "y" : "ies");
}

std::string CostNote(const CopiedBytes& figures) {
  if (figures.timed_ns_per_turn) {
    return fmt::format(
        "the sum of TransferToDeviceTime, {} {}{}; {}", DurationText(*figures.timed_ns_per_turn),
        TurnText(figures.turn),
        figures.has_first_upload ? ", including the first upload of the weights" : "",
        kBesideTheSteps);
  }
  return fmt::format(
      "not measured; at {:.0f} GB/s it takes at least {} {}, compared with {} of execution",
      figures.link_bytes_per_second / 1e9, DurationText(figures.least_ns_per_turn),
      TurnText(figures.turn), DurationText(figures.execute_ns_per_turn));
}

Words Say(const CopiedBytes& figures, const Finding& finding, Framework framework) {
  return {.title = Title(figures),
          .why = figures.usual_is_known ? "" : "The first upload of the weights may be all of it.",
          .cost_note = CostNote(figures),
          .advice = Advice(figures.direction, framework),
          .evidence = {fmt::format("{}: {} in {} values", figures.metric,
                                   BytesText(figures.sum_bytes), *finding.count)}};
}

// Times of metrics

std::string Title(const SmallUploads& figures, const Finding& finding) {
  return fmt::format("{} tensors are uploaded from the host one by one, {:.3g} {}",
                     CountText(*finding.count), figures.uploads_per_turn, TurnText(figures.turn));
}

std::string Why(const SmallUploads& figures, const Finding& finding) {
  return fmt::format(
      "They take {} each on average and {} in all, compared with {} of execution.{}",
      DurationText(figures.mean_ns), DurationText(*finding.cost_ns),
      DurationText(figures.execute_ns),
      figures.may_be_weights
          ? " In such a short run the weights may be all of it. Compare with a later report."
          : "");
}

Words Say(const SmallUploads& figures, const Finding& finding, Framework) {
  return {
      .title = Title(figures, finding),
      .why = Why(figures, finding),
      .cost_note =
          figures.has_first_upload
              ? "the sum of IrValueTensorToXlaData, which includes the first upload of the weights"
              : "the sum of IrValueTensorToXlaData",
      .advice =
          "Make constants once and keep them on the device. Build masks, indices and numbers there (torch.arange, torch.full with device=), or send them as one tensor per step."};
}

std::string Title(const TimedUploads& figures, const Finding& finding) {
  return fmt::format(
      "{} to the device take {}, {} of what the report times of uploads, executions and compilations",
      Plural(*finding.count, "upload"), DurationText(*finding.cost_ns), PercentText(figures.share));
}

Words Say(const TimedUploads& figures, const Finding& finding, Framework framework) {
  const bool of_fallbacks = figures.fallback_calls > 0;
  return {.title = Title(figures, finding),
          .why = of_fallbacks
                     ? fmt::format("{} of ops without lowering send their results back. The cost "
                                   "is part of the findings about these ops.",
                                   Plural(figures.fallback_calls, "call"))
                     : "",
          .cost_note = of_fallbacks
                           ? "the sum of TransferToDeviceTime"
                           : fmt::format("the sum of TransferToDeviceTime; {}", kBesideTheSteps),
          .advice = of_fallbacks ? "See fallback." : Advice(Direction::kToDevice, framework),
          .evidence = {fmt::format("{} each on average", DurationText(figures.mean_ns))}};
}

}  // namespace

Words SayLargeTransfer(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const LargeTransferFigures&>(finding.figures));
}

}  // namespace xlaprof

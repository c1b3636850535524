#include "analyzers/how_to_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr std::string_view kRun = "xlaprof run -- python train.py";
constexpr std::string_view kRunWithGraphs = "xlaprof run --full -- python train.py";
constexpr std::string_view kGaudiLog =
    "PT_HPU_METRICS_FILE=metrics.json PT_HPU_METRICS_GC_DETAILS=1 PT_HPU_ENABLE_CACHE_METRICS=1 python train.py";
constexpr std::string_view kXlaDump = "XLA_FLAGS=--xla_dump_to=DIR python train.py";
constexpr std::string_view kRecorder = "xlaprof run -- PROGRAM";

std::string_view CommandOf(RecordingKind recording, const HowToRecord& how) {
  switch (recording) {
    case RecordingKind::kLog:
      return how.log;
    case RecordingKind::kGraphs:
      return how.graphs;
    case RecordingKind::kProfile:
      return how.profile;
  }
  return "";
}

HowToRecord HowToRecordWith(Framework framework) {
  switch (framework) {
    case Framework::kGaudi:
      return {
          .log = kGaudiLog,
          .graphs = kGaudiLog,
          .profile =
              "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.HPU], with_stack=True)",
          .profile_is_call = true};
    case Framework::kCpp:
      return {.log = kRecorder, .graphs = kRecorder, .profile = kRecorder};
    case Framework::kTensorflow:
      return {.log = kXlaDump,
              .graphs = kXlaDump,
              .profile = "tf.profiler.experimental.Profile(DIR)",
              .profile_is_call = true};
    case Framework::kPytorch:
    case Framework::kTorchtpu:
      // TORCH_TRACE has the graphs.
      return {.log = kRun, .graphs = kRun, .profile = kRun};
    case Framework::kPytorchXla:
    case Framework::kJax:
    case Framework::kUnknown:
      break;
  }
  return {.log = kRun, .graphs = kRunWithGraphs, .profile = kRun};
}

}  // namespace

absl::StatusOr<HowToRecord> HowToRecordMore(const Run& run, Framework framework) {
  HowToRecord how = HowToRecordWith(framework);
  XP_TRY(const ObservedProcesses* observed, run.Get<ObservedProcesses>());
  if (observed->rows.empty()) return how;
  XP_TRY(const Sources* sources, run.Get<Sources>());
  const bool has_graphs = std::ranges::any_of(sources->rows, [](const SourceRow& source) {
    return source.kind == SourceKind::kExecuted || source.kind == SourceKind::kLowered;
  });
  if (has_graphs || how.graphs == how.log) how.graphs = "";
  how.log = how.profile = "";
  return how;
}

std::string ToSee(const Unseen& unseen, const HowToRecord& how) {
  const std::string_view command = CommandOf(unseen.shown_by, how);
  if (command.empty()) return "";
  return unseen.shown_by == RecordingKind::kProfile && how.profile_is_call
             ? fmt::format(" To see {}, take a profile with {}.", unseen.what, command)
             : fmt::format(" To see {}, run `{}`.", unseen.what, command);
}

}  // namespace xlaprof

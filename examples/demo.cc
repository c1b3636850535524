#include "examples/demo.h"

#include "core/exec/device.h"
#include "core/ir/error.h"
#include "examples/mnist/train.h"
#include "profiler/record/record.h"

namespace xlaprof {

absl::StatusOr<DemoResult> Demonstrate(const DemoRequest& request) {
  // The device is made before the recording, because without it there is nothing to record.
  try {
    lazy::Device::Default();
  } catch (const lazy::Error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  XP_TRY(Recording recording,
         StartRecording(
             request.output,
             {.label = request.pathology.empty() ? "mnist" : "mnist " + request.pathology}));
  examples::MnistOptions options{.pathology = request.pathology, .steps = request.steps};
  options.progress = [&](int64_t step) { request.progress(double(step) / double(request.steps)); };
  DemoResult result;
  try {
    XP_TRY(examples::MnistResult trained, examples::TrainMnist(options));
    result.accuracy = trained.accuracy;
  } catch (const lazy::Error& error) {
    return absl::InternalError(error.what());
  }
  XP_TRY(recording.Stop());
  return result;
}

std::vector<std::string_view> DemoPathologies() {
  std::vector<std::string_view> names;
  for (const examples::Pathology& pathology : examples::Pathologies())
    names.push_back(pathology.name);
  return names;
}

}  // namespace xlaprof

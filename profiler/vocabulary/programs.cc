#include "profiler/vocabulary/programs.h"

#include "base/jax_module.h"

namespace xlaprof {
namespace {

struct ProgramName {
  std::string_view text;
  Framework framework;
};
constexpr ProgramName kBeginnings[] = {
    // Lazy tensors, torch_xla.compile and eager operations of torch_xla.
    {"SyncTensorsGraph", Framework::kPytorchXla},
    {"IrToHlo", Framework::kPytorchXla},
    {"PyTorchXLA", Framework::kPytorchXla},
    {"tt_jit_", Framework::kTorchtpu},
    // TensorFlow's XLA clusters and functions.
    {"cluster_", Framework::kTensorflow},
    {"a_inference_", Framework::kTensorflow},
    {"__inference_", Framework::kTensorflow},
};

}  // namespace

Framework FrameworkOfProgram(std::string_view name) {
  for (const ProgramName& beginning : kBeginnings) {
    if (name.starts_with(beginning.text)) return beginning.framework;
  }
  const bool is_of_jax = !JaxFunctionOf(name).empty() || !JittedFunction(name).empty();
  return is_of_jax ? Framework::kJax : Framework::kUnknown;
}

}  // namespace xlaprof

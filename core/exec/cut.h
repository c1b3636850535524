// Cuts a graph: looks up its hash, compiles it if it is new, and sends it to the device.
#pragma once

#include <source_location>
#include <span>
#include <string_view>

#include "core/exec/storage.h"

namespace xlaprof::lazy {

// The causes of a cut, in the words of the store's execution.cause.
namespace cause {
inline constexpr std::string_view kUserSync = "user_sync";
inline constexpr std::string_view kStepTraceExit = "step_trace_exit";
inline constexpr std::string_view kLoader = "parallel_loader";
inline constexpr std::string_view kValueAccess = "value_access";
}  // namespace cause

struct Cut {
  std::string_view cause;
  std::source_location where;
  bool wait = false;  // wait until the device is done; for reads: the caller waits at once
  // The function of the runtime that ends the step, which the program called; no line for a read.
  std::source_location ended_by{};
};

// Cuts a step. Computes the values of all live tensors of the device, and donates the memory of the
// values that they overwrite. Returns errors of compilation. Errors of the execution go to the
// readers of its results.
absl::Status CutStep(Device& device, const Cut& cut);
// Computes these tensors in the same way, but donates nothing.
absl::Status CutTensors(Device& device, std::span<const Ref<Storage>> tensors, const Cut& cut);
// Computes values for a read, beside the graph, which continues unchanged. They are on their way
// when this returns. Hold a GraphLock from before the values are read from their storages.
absl::StatusOr<std::vector<Ref<Data>>> Evaluate(Device& device, std::vector<NodePtr> values,
                                                const Cut& cut);

}  // namespace xlaprof::lazy

// Where a graph ends: its hash is looked up, it is compiled when it is new, and sent to the device.
#pragma once

#include <source_location>
#include <span>
#include <string_view>

#include "core/exec/storage.h"

namespace xlaprof::lazy {

// What cut it, by the words of the store's execution.cause.
namespace cause {
inline constexpr std::string_view kUserSync = "user_sync";
inline constexpr std::string_view kStepTraceExit = "step_trace_exit";
inline constexpr std::string_view kLoader = "parallel_loader";
inline constexpr std::string_view kValueAccess = "value_access";
}  // namespace cause

struct Cut {
  std::string_view cause;
  std::source_location where;
  bool wait = false;  // until the device is done; of a read, its caller does, at once
};

// All tensors of the device that are alive: what they hold is computed into them, and what they
// held gives its memory. Errors of this execution come to who reads its results, those of
// compilation from here.
absl::Status CutStep(Device& device, const Cut& cut);
// These tensors, likewise, but nothing gives its memory.
absl::Status CutTensors(Device& device, std::span<const Ref<Storage>> tensors, const Cut& cut);
// A read: values are computed beside the graph, which goes on as if nothing had been. They are on
// their way when this returns.
absl::StatusOr<std::vector<Ref<Data>>> Evaluate(Device& device, std::vector<NodePtr> values,
                                                const Cut& cut);

}  // namespace xlaprof::lazy

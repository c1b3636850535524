// Tells what a thread does during a call of a runtime, by the call's name. calls.txt lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/vocabulary/call_kinds.h"

namespace xlaprof {

struct Call {
  std::string_view name;
  CallKind kind = CallKind::kUnknown;
  uint32_t traits = 0;

  bool Has(CallTrait trait) const { return (traits & uint32_t(trait)) != 0; }
};

inline constexpr Call kUnknownCall;

// The category of an operation in a trace of PyTorch's profiler. Before torch 1.11, everything on the host
// has the second one.
inline constexpr std::string_view kTorchOp = "cpu_op", kOldTorchOp = "Operator";

// These return what is known of a call or an event by the name that profilers give it, or kUnknownCall.
//
// FindGpuCall takes the name of a call of a GPU's runtime: cudaFree, cuMemAlloc_v2.
const Call& FindGpuCall(std::string_view name);
// FindEvent takes the whole name of an event, and FindBeginning one that goes on after it:
// SyncTensorsGraphInternal, PjitFunction(step).
const Call& FindEvent(std::string_view name);
const Call& FindBeginning(std::string_view name);
// FindMethod takes the end of an event's name, behind the class: ::Execute.
const Call& FindMethod(std::string_view name);
// FindPart takes a name of which some part tells: cudaStreamSynchronize.
const Call& FindPart(std::string_view name);
// FindCall looks a name up as a call of a GPU, as an event, and by its beginning and its parts.
const Call& FindCall(std::string_view name);

// Returns true for passes and stages of XLA's compiler that every compilation runs.
bool IsCompilerStage(std::string_view name);

// Returns what is known of a function of a framework in Python, or kUnknownCall.
const Call& FindFunctionCall(std::string_view function);

// Returns the names that calls and events with this trait may have, to look them up in a store.
std::vector<std::string> NamesOfCalls(CallTrait trait);
// Returns the functions with this trait.
std::vector<std::string_view> FunctionsOfCalls(CallTrait trait);

}  // namespace xlaprof

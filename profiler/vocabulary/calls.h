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

// Returns what is known of a call or an event by the name that profilers give it, such as cudaFree,
// cuMemAlloc_v2 or SyncTensorsGraphInternal, or kUnknownCall.
const Call& FindCall(std::string_view name);

// Returns what is known of a function of a framework in Python, or kUnknownCall.
const Call& FindFunctionCall(std::string_view function);

// Returns the names that calls and events with this trait may have, to look them up in a store.
std::vector<std::string> NamesOfCalls(CallTrait trait);
// Returns the functions with this trait.
std::vector<std::string_view> FunctionsOfCalls(CallTrait trait);

}  // namespace xlaprof

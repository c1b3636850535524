// Remembers the calls that led to an operation, for XLA_IR_DEBUG and XLA_HLO_DEBUG.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "base/source_place.h"

namespace xlaprof::lazy {

// Identifies a stack of calls; 0 means none.
using CallStackId = uint32_t;

// Makes CaptureCallStack() record from now on. It costs a few microseconds per call then.
void RecordCallStacks();
inline constinit std::atomic<bool> records_call_stacks{false};

// Returns the calling thread's stack of calls, or 0 unless stacks are recorded. Only addresses are
// kept, once per different stack.
CallStackId CaptureCallStack();

// The stack of the calling thread's outermost call into the runtime, which operations are given.
inline constinit thread_local CallStackId current_call_stack = 0;
inline CallStackId CurrentCallStack() { return current_call_stack; }

// Returns the user's places of a stack: `innermost`, which is known exactly, then its callers.
// Functions of the runtime and of the standard library are left out. Lines come from the debug
// information, by the program addr2line. A caller whose line is not known has the file of its code
// with the offset there, and line 0.
std::vector<SourcePlace> UserPlaces(CallStackId stack, const std::source_location& innermost);

// Returns the names of all functions on the calling thread's stack, innermost first. "(unknown)"
// stands for a function without a name.
std::vector<std::string> FunctionsOfThread();

}  // namespace xlaprof::lazy

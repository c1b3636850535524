// The meaning of the kinds of cuts.
#pragma once

#include "profiler/store/vocabulary.h"

namespace xlaprof {

// Returns whether a step ends with a cut of that kind.
constexpr bool EndsStep(CutKind kind) {
  return kind == CutKind::kUserSync || kind == CutKind::kStepTraceExit ||
         kind == CutKind::kParallelLoader || kind == CutKind::kTorchXlaCompile ||
         kind == CutKind::kSync;
}

}  // namespace xlaprof

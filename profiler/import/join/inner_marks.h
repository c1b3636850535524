// Finds step marks that cut a step into pieces instead of ending it.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "profiler/store/cut_kind.h"

namespace xlaprof {

// The marks of one line: the kind of mark and the line's site.
using MarkPlace = std::pair<CutKind, int64_t>;

struct StepMark {
  MarkPlace place;
  int64_t graph = 0;  // number of the graph that was executed; equal graphs have equal numbers
};

// Returns the places whose marks lie inside the steps that another place ends. `marks` are those of
// one process, in order. A model that marks steps in its layers executes the same sequence of
// different graphs between the marks of its loop. An epoch of a loop, between the marks of its
// evaluation, executes one graph many times, and its marks end steps.
std::set<MarkPlace> InnerMarks(std::span<const StepMark> marks);

}  // namespace xlaprof

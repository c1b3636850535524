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
  bool is_in_forward = false;  // the line is in the method `forward` of a model
};

// Returns the places whose marks lie inside the steps that another place ends. `marks` are those of
// one process, in order. A model that marks steps in its layers executes the same sequence of
// different graphs between the marks of its loop, or one graph for each of its equal layers. An epoch
// of a loop, between the marks of its evaluation, executes one graph many times, too, and its marks end
// steps, but they are not in the model's `forward`.
std::set<MarkPlace> InnerMarks(std::span<const StepMark> marks);

}  // namespace xlaprof

#include "profiler/import/join/inner_marks.h"

#include <algorithm>
#include <map>
#include <vector>

namespace xlaprof {
namespace {

constexpr int64_t kSteps = 10;         // an outer mark has at least this many
constexpr size_t kMarksInStep = 2;     // with one, it is not known which of two marks is inner
constexpr double kShareOfSteps = 0.8;  // of all steps have the same sequence

using Graphs = std::vector<int64_t>;

bool AreDifferent(Graphs graphs) {
  std::ranges::sort(graphs);
  return std::ranges::adjacent_find(graphs) == graphs.end();
}

// Returns the graphs that marks of `inner` execute between each two marks of `outer`.
std::vector<Graphs> Between(std::span<const StepMark> marks, const MarkPlace& outer,
                            const MarkPlace& inner) {
  std::vector<Graphs> all;
  Graphs graphs;
  bool is_inside = false;
  for (const StepMark& mark : marks) {
    if (mark.place == inner) graphs.push_back(mark.graph);
    if (mark.place != outer) continue;
    if (is_inside) all.push_back(std::move(graphs));
    graphs.clear();
    is_inside = true;
  }
  return all;
}

bool IsInner(std::span<const StepMark> marks, const MarkPlace& outer, const MarkPlace& inner) {
  const std::vector<Graphs> steps = Between(marks, outer, inner);
  std::map<Graphs, int64_t> count;
  for (const Graphs& step : steps) ++count[step];
  const auto usual = std::ranges::max_element(count, {}, [](const auto& of) { return of.second; });
  const bool is_in_forward = std::ranges::any_of(marks, [&](const StepMark& mark) {
    return mark.place == inner && mark.is_in_forward;
  });
  return usual->first.size() >= kMarksInStep && (is_in_forward || AreDifferent(usual->first)) &&
         double(usual->second) >= kShareOfSteps * double(steps.size());
}

}  // namespace

std::set<MarkPlace> InnerMarks(std::span<const StepMark> marks) {
  std::map<MarkPlace, int64_t> count;
  for (const StepMark& mark : marks) ++count[mark.place];
  std::set<MarkPlace> inner;
  for (const auto& [outer, steps] : count) {
    if (steps < kSteps) continue;
    for (const auto& [place, number] : count) {
      if (number >= int64_t(kMarksInStep) * (steps - 1) && IsInner(marks, outer, place))
        inner.insert(place);
    }
  }
  return inner;
}

}  // namespace xlaprof

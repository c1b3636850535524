// Combines the activities of several threads into those of their process. Lists of segments are
// disjoint and sorted.
#pragma once

#include <vector>

#include "analyzers/run/host_timeline.h"

namespace xlaprof {

// Replaces the parts of `segments` in which the leading thread shows nothing by what `helper`,
// another thread, does meanwhile; with `over_user_code`, also the parts in which it only shows the
// user's code. The leading thread's scope stays if the helper is in none.
void OverlayActivities(const std::vector<ActivitySegment>& helper, bool over_user_code,
                       std::vector<ActivitySegment>* segments);

// Adds segments of `doing` where `intervals` are not covered by `segments`.
void FillActivity(const std::vector<Interval>& intervals, Doing doing,
                  std::vector<ActivitySegment>* segments);

}  // namespace xlaprof

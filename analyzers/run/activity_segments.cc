#include "analyzers/run/activity_segments.h"

#include <algorithm>
#include <utility>

namespace xlaprof {
namespace {

// Appends a segment, unless it is empty.
void AppendSegment(Interval time, const Activity& activity, std::vector<ActivitySegment>* to) {
  if (time.length_ns() > 0) to->push_back({time, activity});
}

}  // namespace

void OverlayActivities(const std::vector<ActivitySegment>& helper, bool over_user_code,
                       std::vector<ActivitySegment>* segments) {
  std::vector<ActivitySegment> out;
  size_t h = 0;
  // Adds a part of the leading thread, in which `base` is its activity.
  const auto add = [&](Interval part, const Activity& base) {
    int64_t at = part.begin_ns;
    const bool waits =
        base.doing == Doing::kNothing || (over_user_code && base.doing == Doing::kUserCode);
    while (h < helper.size() && helper[h].time.end_ns <= at) ++h;
    for (size_t i = h; waits && i < helper.size() && helper[i].time.begin_ns < part.end_ns; ++i) {
      const Interval both{std::max(at, helper[i].time.begin_ns),
                          std::min(part.end_ns, helper[i].time.end_ns)};
      if (base.doing != Doing::kNothing) AppendSegment({at, both.begin_ns}, base, &out);
      Activity activity = helper[i].activity;
      if (activity.scope == 0) activity.scope = base.scope, activity.named_by = base.named_by;
      AppendSegment(both, activity, &out);
      at = both.end_ns;
    }
    if (base.doing != Doing::kNothing) AppendSegment({at, part.end_ns}, base, &out);
  };
  int64_t free_from = INT64_MIN;
  for (const ActivitySegment& segment : *segments) {
    if (segment.time.begin_ns > free_from) add({free_from, segment.time.begin_ns}, Activity());
    add(segment.time, segment.activity);
    free_from = segment.time.end_ns;
  }
  if (free_from < INT64_MAX) add({free_from, INT64_MAX}, Activity());
  *segments = std::move(out);
}

void FillActivity(const std::vector<Interval>& intervals, Doing doing,
                  std::vector<ActivitySegment>* segments) {
  if (intervals.empty()) return;
  std::vector<ActivitySegment> filled;
  size_t k = 0;
  for (const Interval& interval : intervals) {
    int64_t at = interval.begin_ns;
    while (k < segments->size() && (*segments)[k].time.end_ns <= at)
      filled.push_back((*segments)[k++]);
    while (at < interval.end_ns) {
      const int64_t free_until = k < segments->size()
                                     ? std::min(interval.end_ns, (*segments)[k].time.begin_ns)
                                     : interval.end_ns;
      if (free_until > at) filled.push_back({{at, free_until}, {.doing = doing}});
      if (k >= segments->size() || (*segments)[k].time.begin_ns >= interval.end_ns) break;
      at = (*segments)[k].time.end_ns;
      filled.push_back((*segments)[k++]);
    }
  }
  filled.insert(filled.end(), segments->begin() + int64_t(k), segments->end());
  *segments = std::move(filled);
}

}  // namespace xlaprof

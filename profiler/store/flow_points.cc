#include "profiler/store/flow_points.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Writers round an event's start and length separately, so a flow can leave this long after its
// event.
constexpr int64_t kToleranceNs = 1000;

int64_t EndOf(const Event& event) {
  int64_t end_ns = 0;
  return event.dur_ns < 0 || __builtin_add_overflow(event.ts_ns, event.dur_ns, &end_ns) ? INT64_MAX
                                                                                        : end_ns;
}

}  // namespace

UnboundFlows BindFlows(std::span<Event> events, std::span<FlowPoint> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const FlowPoint& a, const FlowPoint& b) { return a.ts_ns < b.ts_ns; });
  std::vector<Event*> open;  // outermost first
  Event* closed = nullptr;   // the last event that ended
  UnboundFlows unbound;
  size_t next = 0;
  auto close_until = [&](int64_t ts_ns) {
    while (!open.empty() && EndOf(*open.back()) < ts_ns) {
      closed = open.back();
      open.pop_back();
    }
  };
  for (const FlowPoint& point : points) {
    for (; next < events.size() && events[next].ts_ns <= point.ts_ns; ++next) {
      close_until(events[next].ts_ns);
      // An event that ends where this one begins is over, unless it is an instant at this very
      // time.
      while (!open.empty() && EndOf(*open.back()) == events[next].ts_ns &&
             open.back()->ts_ns < events[next].ts_ns) {
        closed = open.back();
        open.pop_back();
      }
      open.push_back(&events[next]);
    }
    close_until(point.ts_ns);
    Event* around = open.empty() ? nullptr : open.back();
    if (point.end == FlowEnd::kOut) {
      if (around == nullptr && closed != nullptr && point.ts_ns - EndOf(*closed) <= kToleranceNs)
        around = closed;
    } else if (point.end == FlowEnd::kInNext &&
               (around == nullptr || around->ts_ns != point.ts_ns)) {
      around = next < events.size() ? &events[next] : nullptr;
    }
    uint64_t* flow = around == nullptr            ? nullptr
                     : point.end == FlowEnd::kOut ? &around->flow_out
                                                  : &around->flow_in;
    if (flow == nullptr || (*flow != 0 && *flow != point.flow)) {
      unbound.Add({1, point.offset});
    } else {
      *flow = point.flow;
    }
  }
  return unbound;
}

}  // namespace xlaprof

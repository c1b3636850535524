#include "profiler/import/perfetto/perfetto_flows.h"

#include <algorithm>
#include <tuple>

#include "profiler/import/perfetto/perfetto_clocks.h"
#include "profiler/import/trace/trace_rows.h"

namespace xlaprof::pftrace {
namespace {

struct Link {
  uint32_t from, to;
  auto operator<=>(const Link&) const = default;
};

}  // namespace

int64_t Flows::Connect(const Clocks& clocks, int64_t source_id) {
  for (Use& use : uses_) use.ns = clocks.ToTrace(use.clock, use.ns).value_or(use.ns);
  std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
    return std::tie(a.id, a.ns, a.event) < std::tie(b.id, b.ns, b.event);
  });
  std::vector<Link> links;
  for (size_t i = 1; i < uses_.size(); ++i) {
    const Use& from = uses_[i - 1];
    if (from.id == uses_[i].id && !from.last && from.event != uses_[i].event)
      links.push_back({from.event, uses_[i].event});
  }
  uses_ = {};
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  if (links.empty()) return 0;

  // A flow has the number of the event that it leaves, so that it may enter several. If several
  // flows enter one event and each of them enters no other, they have the number of that event.
  struct Counts {
    uint32_t in = 0, out = 0;
    bool shared = false;  // a flow that enters this event enters others, too
  };
  std::vector<uint32_t> events;
  for (const Link& link : links) events.insert(events.end(), {link.from, link.to});
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  auto place = [&](uint32_t event) {
    return size_t(std::lower_bound(events.begin(), events.end(), event) - events.begin());
  };
  std::vector<Counts> counts(events.size());
  for (const Link& link : links) ++counts[place(link.from)].out, ++counts[place(link.to)].in;
  for (const Link& link : links) counts[place(link.to)].shared |= counts[place(link.from)].out > 1;
  ends_.resize(events.size());
  for (size_t i = 0; i < events.size(); ++i) ends_[i].event = events[i];
  int64_t left_out = 0;
  for (const Link& link : links) {
    Ends& from = ends_[place(link.from)].ends;
    Ends& to = ends_[place(link.to)].ends;
    const Counts& entered = counts[place(link.to)];
    const bool by_target = entered.in > 1 && !entered.shared;
    const uint64_t number =
        MixedFlow({uint64_t(source_id), by_target ? link.to : link.from, by_target});
    if (to.in != 0 && to.in != number) {
      ++left_out;
      continue;
    }
    from.out = number;
    to.in = number;
  }
  return left_out;
}

}  // namespace xlaprof::pftrace

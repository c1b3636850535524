#include "analyzers/host_activity.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// Interned categories, resolved once: id -> what it means here.
struct Categories {
  StringId host, scope, step, python, tracing, compile, execute, transfer, input;
  StringId sync;  // a name: all that lazy runtimes do to turn pending tensors into a program, dumps
                  // included
  explicit Categories(const Store& store)
      : host(store.Find(category::kHost)),
        scope(store.Find(category::kScope)),
        step(store.Find(category::kStep)),
        python(store.Find(category::kPython)),
        tracing(store.Find(category::kTracing)),
        compile(store.Find(category::kCompile)),
        execute(store.Find(category::kExecute)),
        transfer(store.Find(category::kTransfer)),
        input(store.Find(category::kInput)),
        sync(store.Find("SyncTensorsGraphInternal")) {}
};

struct Open {
  int64_t begin_ns = 0, end_ns = 0;
  StringId category = 0, name = 0;
};

// How many events of each kind a track has: the one that leads has steps, else tracing, else
// scopes, else the rest.
struct Lead {
  int64_t steps = 0, tracing = 0, scopes = 0, work = 0;
  auto operator<=>(const Lead&) const = default;
};

// The state inside `event`, which opened in the state `outer`.
Activity Enter(const Categories& is, const Activity& outer, const Open& event) {
  Activity inner = outer;
  if (outer.doing == Doing::kCompile) return inner;  // whatever a compiler opens, it compiles
  if (event.category == is.scope || event.category == is.step) {
    inner = {.doing = Doing::kUserCode, .scope = event.name, .in_step = event.category == is.step};
  } else if (event.category == is.compile) {
    inner.doing = Doing::kCompile;
  } else if (outer.doing == Doing::kInput) {
    // A loader's own uploads are part of the wait for data.
  } else if (event.category == is.tracing || (event.name == is.sync && event.name != 0)) {
    inner.doing = Doing::kTracing;
  } else if (event.category == is.execute) {
    inner.doing = Doing::kExecute;
  } else if (event.category == is.transfer) {
    inner.doing = Doing::kTransfer;
  } else if (event.category == is.input) {
    inner.doing = Doing::kInput;
  } else if (outer.doing == Doing::kNothing || outer.doing == Doing::kUserCode) {
    inner.doing = Doing::kRuntime;
  }
  return inner;
}

}  // namespace

std::string_view DoingText(Doing doing) {
  switch (doing) {
    case Doing::kNothing:
      return "nothing recorded";
    case Doing::kUserCode:
      return "user code";
    case Doing::kRuntime:
      return "runtime";
    case Doing::kTracing:
      return "tracing";
    case Doing::kExecute:
      return "asking for an execution";
    case Doing::kInput:
      return "waiting for data";
    case Doing::kTransfer:
      return "transfer";
    case Doing::kCompile:
      return "compilation";
  }
  return "";
}

absl::StatusOr<std::shared_ptr<const HostTimeline>> HostTimeline::Of(const Store& store,
                                                                     int64_t process_id) {
  return store.Derived<HostTimeline>(fmt::format("host_timeline {}", process_id),
                                     [&] { return Make(store, process_id); });
}

absl::StatusOr<HostTimeline> HostTimeline::Make(const Store& store, int64_t process_id) {
  HostTimeline timeline;
  const Categories is(store);
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
  XP_TRY(store.Each(
      "SELECT id FROM track WHERE kind = 'host_thread' AND coalesce(process_id, 0) = ?1",
      [&](int64_t id) { options.track_ids.push_back(id); }, process_id));
  if (options.track_ids.empty()) return timeline;

  std::map<int64_t, std::vector<Open>> events;  // of the tracks that may lead
  std::map<int64_t, std::vector<int64_t>> python_calls;
  std::map<int64_t, Lead> leads;
  XP_TRY(EventScanner scanner, EventScanner::Make(store, options));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) break;
    Lead& lead = leads[batch.track_id];
    std::vector<Open>& out = events[batch.track_id];
    for (size_t i = 0; i < batch.size; ++i) {
      const StringId what = batch.category[i];
      if (what == 0) continue;
      if (what == is.python) {
        python_calls[batch.track_id].push_back(batch.ts_ns[i]);
        continue;
      }
      if (what == is.step) {
        ++lead.steps;
      } else if (what == is.tracing) {
        ++lead.tracing;
      } else if (what == is.scope) {
        ++lead.scopes;
      } else if (what == is.execute || what == is.compile || what == is.transfer) {
        ++lead.work;
      } else if (what != is.host && what != is.input) {
        continue;  // ops that ran inline on this thread
      }
      const int64_t begin_ns = batch.ts_ns[i], end_ns = begin_ns + batch.dur_ns[i];
      if (end_ns <= begin_ns) continue;
      out.push_back({begin_ns, end_ns, what, batch.name[i]});
    }
  }
  int64_t leader = 0;
  Lead most;
  for (const auto& [track, lead] : leads) {
    if (lead > most) leader = track, most = lead;
  }
  if (leader == 0) return timeline;
  timeline.has_events_ = true;
  timeline.python_calls_ = std::move(python_calls[leader]);
  std::sort(timeline.python_calls_.begin(), timeline.python_calls_.end());

  std::vector<Open>& led = events[leader];
  auto earlier = [](const Open& a, const Open& b) {
    return std::pair(a.begin_ns, -a.end_ns) < std::pair(b.begin_ns, -b.end_ns);
  };
  if (!std::is_sorted(led.begin(), led.end(), earlier))
    std::stable_sort(led.begin(), led.end(), earlier);

  // The sweep: a stack of open events, each with the state inside it; what passes between two
  // changes is one segment.
  std::vector<std::pair<int64_t, Activity>> stack;  // end, state
  std::vector<Segment> segments;
  int64_t now = INT64_MIN;
  auto pass_until = [&](int64_t t) {
    while (!stack.empty() && now < t) {
      const auto& [end_ns, activity] = stack.back();
      const int64_t until = std::min(end_ns, t);
      if (until > now) {
        if (!segments.empty() && segments.back().time.end_ns == now &&
            segments.back().activity == activity) {
          segments.back().time.end_ns = until;
        } else {
          segments.push_back({{now, until}, activity});
        }
        now = until;
      }
      if (end_ns > now) break;
      stack.pop_back();
    }
    while (!stack.empty() && stack.back().first <= t) stack.pop_back();
    now = std::max(now, t);
  };
  for (const Open& event : led) {
    pass_until(event.begin_ns);
    stack.emplace_back(event.end_ns,
                       Enter(is, stack.empty() ? Activity() : stack.back().second, event));
  }
  pass_until(INT64_MAX);

  // Where the leading thread shows nothing, others may: a compilation anywhere, a loader between
  // two steps.
  std::vector<Interval> compiling, loading;
  for (const auto& [track, opened] : events) {
    if (track == leader) continue;
    // A thread that asks for data is a loader's; its uploads are part of making a batch ready.
    const bool loader = most.steps > 0 &&
                        std::any_of(opened.begin(), opened.end(),
                                    [&](const Open& event) { return event.category == is.input; });
    for (const Open& event : opened) {
      if (event.category == is.compile) compiling.push_back({event.begin_ns, event.end_ns});
      if (loader && (event.category == is.input || event.category == is.transfer)) {
        loading.push_back({event.begin_ns, event.end_ns});
      }
    }
  }
  compiling = Union(std::move(compiling));
  loading = Union(std::move(loading));
  auto fill = [&](const std::vector<Interval>& others, Doing doing) {
    std::vector<Segment> filled;
    size_t k = 0;
    for (const Interval& other : others) {
      int64_t at = other.begin_ns;
      while (k < segments.size() && segments[k].time.end_ns <= at) filled.push_back(segments[k++]);
      while (at < other.end_ns) {
        const int64_t free_until =
            k < segments.size() ? std::min(other.end_ns, segments[k].time.begin_ns) : other.end_ns;
        if (free_until > at) filled.push_back({{at, free_until}, {.doing = doing}});
        if (k >= segments.size() || segments[k].time.begin_ns >= other.end_ns) break;
        at = segments[k].time.end_ns;
        filled.push_back(segments[k++]);
      }
    }
    while (k < segments.size()) filled.push_back(segments[k++]);
    segments = std::move(filled);
  };
  if (!compiling.empty()) fill(compiling, Doing::kCompile);
  if (!loading.empty()) fill(loading, Doing::kInput);

  timeline.segments_ = std::move(segments);
  return timeline;
}

std::vector<ActivityShare> HostTimeline::During(Interval interval) const {
  std::map<Activity, int64_t> sums;
  int64_t rest = interval.length_ns();
  auto it = std::upper_bound(segments_.begin(), segments_.end(), interval.begin_ns,
                             [](int64_t t, const Segment& s) { return t < s.time.end_ns; });
  for (; it != segments_.end() && it->time.begin_ns < interval.end_ns; ++it) {
    const int64_t ns =
        std::min(it->time.end_ns, interval.end_ns) - std::max(it->time.begin_ns, interval.begin_ns);
    sums[it->activity] += ns;
    rest -= ns;
  }
  if (rest > 0) sums[Activity()] += rest;
  std::vector<ActivityShare> out;
  for (const auto& [activity, ns] : sums) out.push_back({activity, ns});
  std::stable_sort(out.begin(), out.end(),
                   [](const ActivityShare& a, const ActivityShare& b) { return a.ns > b.ns; });
  return out;
}

int64_t HostTimeline::PythonCalls(Interval interval) const {
  return std::lower_bound(python_calls_.begin(), python_calls_.end(), interval.end_ns) -
         std::lower_bound(python_calls_.begin(), python_calls_.end(), interval.begin_ns);
}

}  // namespace xlaprof

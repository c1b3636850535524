#include "analyzers/run/host_timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzers/run/activity_segments.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_calls.h"
#include "analyzers/run/launches.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

// Returns the id of the name of the events with a trait that one event has; 0: there are none.
StringId IdOf(const Store& store, CallTrait trait) {
  return store.Find(NamesOfCalls(trait).front());
}

// The ids of interned categories, looked up once.
struct Categories {
  StringId host, scope, step, python, tracing, compile, execute, transfer, input;
  // The name of the event in which a lazy runtime makes a program of pending tensors, including
  // dumps.
  StringId sync;
  // The thread of torch_xla that uploads batches waits for the loader, and then uploads.
  StringId wait_for_batch, upload_batch;
  explicit Categories(const Store& store)
      : host(store.Find(TextOf(Category::kHost))),
        scope(store.Find(TextOf(Category::kScope))),
        step(store.Find(TextOf(Category::kStep))),
        python(store.Find(TextOf(Category::kPython))),
        tracing(store.Find(TextOf(Category::kTracing))),
        compile(store.Find(TextOf(Category::kCompile))),
        execute(store.Find(TextOf(Category::kExecute))),
        transfer(store.Find(TextOf(Category::kTransfer))),
        input(store.Find(TextOf(Category::kInput))),
        sync(IdOf(store, CallTrait::kMakesProgram)),
        wait_for_batch(IdOf(store, CallTrait::kWaitsForLoader)),
        upload_batch(IdOf(store, CallTrait::kUploadsBatch)) {}
  // Returns whether an event of this kind shows what its thread does.
  bool ShowsActivity(StringId what) const {
    return what != 0 && (what == host || what == scope || what == step || what == tracing ||
                         what == compile || what == execute || what == transfer || what == input);
  }
};

// Returns "ProfilerStep" for "ProfilerStep#7" and "train" for "train 12". A name that is only a
// number is returned whole.
std::string_view WithoutNumber(std::string_view step) {
  const size_t digits = step.find_last_not_of("0123456789") + 1;
  if (digits == step.size()) return step;
  const size_t end = step.find_last_not_of(" #_-:", digits - 1) + 1;
  return digits == 0 || end == 0 ? step : step.substr(0, end);
}

struct Open {
  int64_t begin_ns = 0, end_ns = 0;
  StringId category = 0, name = 0;
};

// The numbers of events of each kind on a track. The leading track has most steps, or else most
// tracing, or else most scopes, or else most of the rest.
struct Lead {
  int64_t steps = 0, tracing = 0, scopes = 0, work = 0;
  int64_t launches = 0;  // part of `work`
  auto operator<=>(const Lead&) const = default;
};

// Returns the state inside `event`, which began in the state `outer`.
Activity Enter(const Categories& is, const Activity& outer, const Open& event) {
  Activity inner = outer;
  if (outer.doing == Doing::kCompile) return inner;  // all events inside a compiler are compilation
  if (event.category == is.scope) {
    inner = {.doing = Doing::kUserCode, .named_by = NamedBy::kScope, .scope = event.name};
  } else if (event.category == is.step) {
    inner = {.doing = Doing::kUserCode, .named_by = NamedBy::kStep, .scope = event.name};
  } else if (event.category == is.python) {
    // A function inside the runtime is the runtime's, and a scope says more than a function.
    if (outer.doing == Doing::kNothing ||
        (outer.doing == Doing::kUserCode && outer.named_by != NamedBy::kScope))
      inner = {.doing = Doing::kUserCode, .named_by = NamedBy::kFunction, .scope = event.name};
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

struct Leader {
  int64_t track_id = 0;  // 0: no thread has such events
  Lead has;
  std::vector<int64_t> helpers;  // the other threads that give work to devices

  // Returns the threads that launch work for the function that the leading thread is in.
  std::vector<int64_t> Launchers(bool is_eager) const {
    std::vector<int64_t> threads{track_id};
    if (is_eager) threads.insert(threads.end(), helpers.begin(), helpers.end());
    return threads;
  }
};

absl::StatusOr<Leader> FindLeader(const Store& store, const Categories& is,
                                  const std::vector<int64_t>& tracks) {
  std::map<int64_t, Lead> leads;
  XP_TRY(
      EachBatch(store, {.columns = kCategory, .track_ids = tracks}, [&](const EventBatch& batch) {
        Lead& lead = leads[batch.track_id];
        for (StringId what : batch.category) {
          if (what == 0) continue;
          lead.steps += what == is.step;
          lead.tracing += what == is.tracing;
          lead.scopes += what == is.scope;
          lead.launches += what == is.execute;
          lead.work += what == is.execute || what == is.compile || what == is.transfer;
        }
      }));
  Leader leader;
  for (const auto& [track, lead] : leads) {
    if (lead > leader.has) leader = {.track_id = track, .has = lead};
  }
  for (const auto& [track, lead] : leads) {
    if (track != leader.track_id && lead.launches > 0) leader.helpers.push_back(track);
  }
  return leader;
}

// Sweeps over the events of one thread in order, with a stack of open events and the state inside
// each. The time between two changes is one segment.
class Sweep {
 public:
  Sweep(const Store& store, const Categories& is, std::vector<ActivitySegment>* segments)
      : store_(store), is_(is), segments_(*segments) {}

  void Take(Open event) {
    PassUntil(event.begin_ns);
    if (event.category == is_.step && event.name != 0) event.name = FirstOfItsKind(event.name);
    Activity inner = Enter(is_, stack_.empty() ? Activity() : stack_.back().second, event);
    const Call& call = CallOf(event.name);
    if (call.kind == CallKind::kAllocating && inner.doing != Doing::kCompile)
      inner.doing = Doing::kAllocate;
    if (call.kind == CallKind::kCapturing) captures_ = call.Has(CallTrait::kStarts);
    stack_.emplace_back(event.end_ns, inner);
  }
  void PassUntil(int64_t t) {
    while (!stack_.empty() && now_ns_ < t) {
      auto [end_ns, activity] = stack_.back();
      if (captures_ && activity.doing != Doing::kCompile) activity.doing = Doing::kCapture;
      const int64_t until = std::min(end_ns, t);
      if (until > now_ns_) {
        if (!segments_.empty() && segments_.back().time.end_ns == now_ns_ &&
            segments_.back().activity == activity) {
          segments_.back().time.end_ns = until;
        } else {
          segments_.push_back({{now_ns_, until}, activity});
        }
        now_ns_ = until;
      }
      if (end_ns > now_ns_) break;
      stack_.pop_back();
    }
    while (!stack_.empty() && stack_.back().first <= t) stack_.pop_back();
    now_ns_ = std::max(now_ns_, t);
  }

 private:
  const Call& CallOf(StringId name) {
    if (name == 0) return kUnknownCall;
    auto [known, is_new] = calls_.try_emplace(name, &kUnknownCall);
    if (is_new) known->second = &FindGpuCall(store_.Text(name));
    return *known->second;
  }
  StringId FirstOfItsKind(StringId step) {
    auto [known, is_new] = first_step_.try_emplace(step, step);
    if (is_new)
      known->second = step_names_.try_emplace(WithoutNumber(store_.Text(step)), step).first->second;
    return known->second;
  }

  const Store& store_;
  const Categories& is_;
  std::vector<ActivitySegment>& segments_;
  std::vector<std::pair<int64_t, Activity>> stack_;  // end, state
  int64_t now_ns_ = INT64_MIN;
  bool captures_ = false;  // a CUDA graph is being captured
  absl::flat_hash_map<StringId, const Call*> calls_;
  absl::flat_hash_map<StringId, StringId> first_step_;          // first step of its kind, by name
  absl::flat_hash_map<std::string_view, StringId> step_names_;  // without numbers
};

// Sweeps over a thread. Its chunks are ordered by start but may overlap. So only those events are
// taken that begin before the newest chunk.
absl::Status SweepThread(const Store& store, const Categories& is, int64_t track_id,
                         const HostFunctions& functions, std::vector<ActivitySegment>* segments,
                         std::vector<int64_t>* calls = nullptr) {
  Sweep sweep(store, is, segments);
  std::vector<Open> waiting;
  auto earlier = [](const Open& a, const Open& b) {
    return std::pair(a.begin_ns, -a.end_ns) < std::pair(b.begin_ns, -b.end_ns);
  };
  auto take_before = [&](int64_t ts_ns) {
    if (!std::is_sorted(waiting.begin(), waiting.end(), earlier))
      std::stable_sort(waiting.begin(), waiting.end(), earlier);
    auto at = waiting.begin();
    for (; at != waiting.end() && at->begin_ns < ts_ns; ++at) sweep.Take(*at);
    waiting.erase(waiting.begin(), at);
  };
  XP_TRY(EachBatch(store,
                   {.columns = kStart | kDuration | kName | kCategory, .track_ids = {track_id}},
                   [&](const EventBatch& batch) {
                     take_before(batch.ts_ns[0]);
                     for (size_t i = 0; i < batch.size; ++i) {
                       const StringId what = batch.category[i];
                       if (calls != nullptr && what == is.python && what != 0)
                         calls->push_back(batch.ts_ns[i]);
                       // An event of any other kind is an op that ran inline on this thread.
                       const bool is_function = what == is.python && what != 0 &&
                                                functions.names.contains(batch.name[i]);
                       if (!is.ShowsActivity(what) && !is_function) continue;
                       const int64_t begin_ns = batch.ts_ns[i];
                       const int64_t end_ns = begin_ns + batch.dur_ns[i];
                       if (end_ns > begin_ns)
                         waiting.push_back({begin_ns, end_ns, what, batch.name[i]});
                     }
                   }));
  take_before(INT64_MAX);
  sweep.PassUntil(INT64_MAX);
  if (calls != nullptr) std::sort(calls->begin(), calls->end());
  return absl::OkStatus();
}

struct Others {
  std::vector<Interval> compiling, loading;  // disjoint, sorted
};

// Reads the times in which threads other than the leading one compile, or load data. A thread that
// asks for data is a loader's. Its uploads count as loading, because they are part of preparing a
// batch.
absl::StatusOr<Others> ReadOthers(const Store& store, const Categories& is,
                                  std::vector<int64_t> tracks, bool with_loaders) {
  Others others;
  EventScanner::Options options{.columns = kStart | kDuration | kCategory,
                                .track_ids = std::move(tracks)};
  for (StringId id : {is.compile, with_loaders ? is.input : 0, with_loaders ? is.transfer : 0}) {
    if (id != 0) options.categories.push_back(id);
  }
  if (options.categories.empty() || options.track_ids.empty()) return others;
  int64_t track_id = 0;
  bool loads = false;
  std::vector<Interval> loading;  // this track's, if it loads
  auto end_track = [&] {
    if (loads) others.loading.insert(others.loading.end(), loading.begin(), loading.end());
    loading.clear();
    loads = false;
  };
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    if (batch.track_id != track_id) end_track();
    track_id = batch.track_id;
    for (size_t i = 0; i < batch.size; ++i) {
      const StringId what = batch.category[i];
      const Interval time{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
      if (what == 0 || time.length_ns() <= 0) continue;
      if (what == is.compile) others.compiling.push_back(time);
      if (with_loaders && (what == is.input || what == is.transfer)) loading.push_back(time);
      loads |= with_loaders && what == is.input;
    }
  }));
  end_track();
  others.compiling = Union(std::move(others.compiling));
  others.loading = Union(std::move(others.loading));
  return others;
}

// Reads the times in which an uploading thread waits for the loader and then uploads what it got.
absl::StatusOr<std::vector<Interval>> ReadDeliveries(const Store& store, const Categories& is,
                                                     std::vector<int64_t> tracks) {
  std::vector<Interval> deliveries;
  if (is.wait_for_batch == 0 || is.upload_batch == 0 || tracks.empty()) return deliveries;
  std::vector<Open> events;
  const auto pair_on_track = [&] {
    std::ranges::sort(events, {}, &Open::begin_ns);
    for (size_t i = 1; i < events.size(); ++i) {
      if (events[i - 1].name == is.wait_for_batch && events[i].name == is.upload_batch)
        deliveries.push_back({events[i - 1].begin_ns, events[i].end_ns});
    }
    events.clear();
  };
  int64_t track_id = 0;
  XP_TRY(EachBatch(
      store,
      {.columns = kStart | kDuration | kName | kCategory,
       .track_ids = std::move(tracks),
       .categories = {is.input, is.transfer}},
      [&](const EventBatch& batch) {
        if (batch.track_id != track_id) pair_on_track();
        track_id = batch.track_id;
        for (size_t i = 0; i < batch.size; ++i) {
          const StringId name = batch.name[i];
          if (name != is.wait_for_batch && name != is.upload_batch) continue;
          const int64_t begin_ns = batch.ts_ns[i];
          events.push_back({begin_ns, begin_ns + batch.dur_ns[i], batch.category[i], name});
        }
      }));
  pair_on_track();
  return Union(std::move(deliveries));
}

// Returns the last part of each delivery, in which the leading thread shows nothing until the
// delivery ends. Before that, steps still use batches that were delivered earlier.
std::vector<Interval> WaitsForDeliveries(const std::vector<Interval>& deliveries,
                                         const std::vector<ActivitySegment>& segments) {
  std::vector<Interval> waits;
  size_t k = 0;
  for (const Interval& delivery : deliveries) {
    while (k < segments.size() && segments[k].time.begin_ns < delivery.end_ns) ++k;
    const int64_t shown_until_ns = k == 0 ? delivery.begin_ns : segments[k - 1].time.end_ns;
    const int64_t begin_ns = std::max(delivery.begin_ns, shown_until_ns);
    if (begin_ns < delivery.end_ns) waits.push_back({begin_ns, delivery.end_ns});
  }
  return waits;
}

}  // namespace

std::string ScopeText(const Run& run, const Activity& activity) {
  const std::string_view text = run.store().Text(activity.scope);
  switch (activity.named_by) {
    case NamedBy::kScope:
      break;
    case NamedBy::kStep:
      return std::string(WithoutNumber(text));
    case NamedBy::kFunction:
      return FunctionText(SourcePlace::ParsePythonCall(text));
  }
  return std::string(text);
}

DoingTexts TextsOf(Doing doing) {
  switch (doing) {
    case Doing::kNothing:
      return {"unrecorded", "nothing recorded"};
    case Doing::kUserCode:
      return {"your code", "user code"};
    case Doing::kRuntime:
      return {"runtime", "runtime"};
    case Doing::kTracing:
      return {"tracing", "tracing"};
    case Doing::kExecute:
      return {"execute", "asking for an execution"};
    case Doing::kInput:
      return {"input", "waiting for data"};
    case Doing::kTransfer:
      return {"transfer", "transfer"};
    case Doing::kAllocate:
      return {"allocator", "in the driver's allocator"};
    case Doing::kCapture:
      return {"graph capture", "capture of a CUDA graph"};
    case Doing::kCompile:
      return {"compile", "compilation"};
  }
  return {};
}

absl::StatusOr<HostTimeline> HostTimeline::Of(const Run& run, int64_t process_id) {
  const Store& store = run.store();
  HostTimeline timeline;
  const Categories is(store);
  XP_TRY(std::vector<int64_t> tracks, HostThreads(run, process_id));
  if (tracks.empty()) return timeline;

  XP_TRY(const Leader leader, FindLeader(store, is, tracks));
  if (leader.track_id == 0) return timeline;
  timeline.has_events_ = true;
  timeline.leading_thread_ = leader.track_id;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  const bool is_eager = contents->has_torch_ops;
  XP_TRY(const HostFunctions functions,
         HostFunctions::On(run, leader.track_id, leader.Launchers(is_eager)));
  XP_TRY(SweepThread(store, is, leader.track_id, functions, &timeline.segments_,
                     &timeline.python_calls_));
  for (const int64_t helper : leader.helpers) {
    std::vector<ActivitySegment> segments;
    XP_TRY(SweepThread(store, is, helper, HostFunctions(), &segments));
    // In eager PyTorch, the leading thread waits while autograd's thread computes gradients. XLA's
    // threads run what the leading thread has queued, so it goes on with the user's code.
    OverlayActivities(segments, is_eager, &timeline.segments_);
  }

  // If these threads show nothing, others may: they compile, or load between two steps.
  std::erase(tracks, leader.track_id);
  const bool marked = leader.has.steps > 0;
  XP_TRY(Others others, ReadOthers(store, is, tracks, marked));
  FillActivity(others.compiling, Doing::kCompile, &timeline.segments_);
  if (!marked) {
    XP_TRY(const std::vector<Interval> deliveries, ReadDeliveries(store, is, std::move(tracks)));
    others.loading = WaitsForDeliveries(deliveries, timeline.segments_);
  }
  FillActivity(others.loading, Doing::kInput, &timeline.segments_);
  return timeline;
}

std::vector<Interval> HostTimeline::WaitsForData(Interval interval) const {
  std::vector<Interval> waits;
  for (size_t i = EndingBehind(interval.begin_ns, 0); i < segments_.size(); ++i) {
    const Interval& time = segments_[i].time;
    if (time.begin_ns >= interval.end_ns) break;
    if (segments_[i].activity.doing != Doing::kInput) continue;
    const Interval wait{std::max(time.begin_ns, interval.begin_ns),
                        std::min(time.end_ns, interval.end_ns)};
    if (!waits.empty() && waits.back().end_ns == wait.begin_ns) {
      waits.back().end_ns = wait.end_ns;
    } else {
      waits.push_back(wait);
    }
  }
  return waits;
}

size_t HostTimeline::EndingBehind(int64_t t_ns, size_t from) const {
  const auto ends = [&](size_t i) { return segments_[i].time.end_ns <= t_ns; };
  if (from > 0 && !ends(from - 1)) from = 0;
  size_t step = 1;
  for (; from + step <= segments_.size() && ends(from + step - 1); step *= 2) from += step;
  const auto begin = segments_.begin();
  return size_t(
      std::upper_bound(begin + ptrdiff_t(from),
                       begin + ptrdiff_t(std::min(from + step - 1, segments_.size())), t_ns,
                       [](int64_t t, const ActivitySegment& s) { return t < s.time.end_ns; }) -
      begin);
}

template <class Fn>
void HostTimeline::EachDuring(Interval interval, size_t first, Fn&& fn) const {
  int64_t rest = interval.length_ns();
  for (auto it = segments_.begin() + ptrdiff_t(first);
       it != segments_.end() && it->time.begin_ns < interval.end_ns; ++it) {
    const int64_t ns =
        std::min(it->time.end_ns, interval.end_ns) - std::max(it->time.begin_ns, interval.begin_ns);
    fn(it->activity, ns);
    rest -= ns;
  }
  if (rest > 0) fn(Activity(), rest);
}

// Adds time to an activity's share. Most intervals have few activities, which repeat, so the first
// few are searched one by one, and the rest by hash.
void HostTimeline::Walk::Add(const Activity& activity, int64_t ns) {
  constexpr size_t kFew = 16;
  for (size_t i = 0; i < std::min(shares_.size(), kFew); ++i) {
    if (shares_[i].activity != activity) continue;
    shares_[i].ns += ns;
    return;
  }
  size_t place = shares_.size();
  if (place >= kFew) place = place_of_.try_emplace(activity, place).first->second;
  if (place == shares_.size()) shares_.push_back({activity, 0});
  shares_[place].ns += ns;
}

std::span<const ActivityShare> HostTimeline::Walk::During(Interval interval) {
  shares_.clear();
  if (!place_of_.empty()) place_of_.clear();
  at_ = of_.EndingBehind(interval.begin_ns, at_);
  of_.EachDuring(interval, at_, [&](const Activity& activity, int64_t ns) { Add(activity, ns); });
  std::sort(shares_.begin(), shares_.end(), [](const ActivityShare& a, const ActivityShare& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.activity < b.activity;
  });
  return shares_;
}

std::array<int64_t, kDoingCount> HostTimeline::TotalsDuring(Interval interval) const {
  std::array<int64_t, kDoingCount> totals{};
  EachDuring(interval, EndingBehind(interval.begin_ns, 0),
             [&](const Activity& activity, int64_t ns) { totals[size_t(activity.doing)] += ns; });
  return totals;
}

int64_t HostTimeline::UnrecordedBefore(Interval interval, std::span<const int64_t> times_ns) const {
  int64_t sum_ns = 0, free_ns = 0, recorded_from_ns = interval.begin_ns;
  // Ends the recorded time that follows `free_ns` in which nothing was recorded.
  const auto end_recorded = [&](int64_t end_ns) {
    const auto time = std::ranges::lower_bound(times_ns, recorded_from_ns);
    if (time != times_ns.end() && *time < end_ns) sum_ns += free_ns;
  };
  int64_t at_ns = interval.begin_ns;
  for (size_t i = EndingBehind(interval.begin_ns, 0);
       i < segments_.size() && segments_[i].time.begin_ns < interval.end_ns; ++i) {
    const Interval& time = segments_[i].time;
    if (time.begin_ns > at_ns) {
      end_recorded(at_ns);
      free_ns = time.begin_ns - at_ns, recorded_from_ns = time.begin_ns;
    }
    at_ns = std::min(time.end_ns, interval.end_ns);
  }
  end_recorded(at_ns);
  return sum_ns;
}

int64_t HostTimeline::PythonCalls(Interval interval) const {
  return std::lower_bound(python_calls_.begin(), python_calls_.end(), interval.end_ns) -
         std::lower_bound(python_calls_.begin(), python_calls_.end(), interval.begin_ns);
}

}  // namespace xlaprof

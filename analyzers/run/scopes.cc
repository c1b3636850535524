#include "analyzers/run/scopes.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzers/run/contents.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "base/numbers.h"
#include "profiler/store/events.h"
#include "profiler/store/ordered_events.h"

namespace xlaprof {

// Places are arguments of names, which are the same in a whole chunk. So the first event of the
// name in each chunk is enough.
absl::StatusOr<bool> FillScopePlace(const Run& run, StringId scope, Subject& subject) {
  const Store& store = run.store();
  const StringId file_key = store.Find("source_file"), line_key = store.Find("source_line");
  if (scope == 0 || file_key == 0 || line_key == 0) return false;
  EventScanner::Options options{.columns = kName};
  for (std::string_view category : {TextOf(Category::kScope), TextOf(Category::kStep)}) {
    if (const StringId id = store.Find(category); id != 0) options.categories.push_back(id);
  }
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  EventBatch batch;
  std::optional<std::pair<StringId, int64_t>> place;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) break;
    const auto event = std::find(batch.name.begin(), batch.name.end(), scope);
    if (event == batch.name.end()) continue;
    XP_TRY(const std::vector<Argument> arguments,
           ReadArguments(store, batch.chunk_id, batch.first_index + (event - batch.name.begin())));
    std::pair<StringId, int64_t> here;
    for (const Argument& argument : arguments) {
      const auto* file = std::get_if<Text>(&argument.value);
      const auto* line = std::get_if<int64_t>(&argument.value);
      if (argument.key == file_key && file != nullptr) here.first = file->id;
      if (argument.key == line_key && line != nullptr) here.second = *line;
    }
    if (here.first == 0 || here.second <= 0 || (place && *place != here)) return false;
    place = here;
  }
  if (!place) return false;
  subject.file = std::string(store.Text(place->first));
  subject.line = place->second;
  return true;
}

absl::StatusOr<bool> FillUserCode(const Run& run, const Activity& activity, Subject& subject) {
  if (activity.scope == 0) return false;
  if (activity.named_by != NamedBy::kFunction) {
    subject.scope = ScopeText(run, activity);
    return FillScopePlace(run, activity.scope, subject);
  }
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  subject.SetPlace(user->Resolve(SourcePlace::ParsePythonCall(run.store().Text(activity.scope))));
  return true;
}

namespace {

constexpr size_t kMostScopes = 12;

struct Sum {
  int64_t count = 0, total_ns = 0, self_ns = 0, open = 0;
};

struct OpenScopeEvent {
  int64_t end_ns = 0;
  StringId scope = 0;  // 0: not a scope
};

// Adds up the scopes of one thread, whose events come by start, outer ones first.
class ThreadSums {
 public:
  ThreadSums(StringId scope, absl::flat_hash_map<StringId, Sum>& sums)
      : scope_(scope), sums_(sums) {}

  void Take(int64_t ts_ns, int64_t dur_ns, StringId name, StringId category) {
    CloseUntil(ts_ns);
    if (dur_ns < 0) return;  // it never ended
    if (!open_.empty() && open_.back().scope != 0) sums_[open_.back().scope].self_ns -= dur_ns;
    const StringId scope = category == scope_ ? name : 0;
    if (scope != 0) {
      Sum& sum = sums_[scope];
      ++sum.count;
      sum.self_ns += dur_ns;
      if (sum.open++ == 0) sum.total_ns += dur_ns;
    }
    open_.push_back({ts_ns + dur_ns, scope});
  }
  void CloseUntil(int64_t ts_ns) {
    while (!open_.empty() && open_.back().end_ns <= ts_ns) {
      if (open_.back().scope != 0) --sums_[open_.back().scope].open;
      open_.pop_back();
    }
  }

 private:
  const StringId scope_;
  absl::flat_hash_map<StringId, Sum>& sums_;
  std::vector<OpenScopeEvent> open_;
};

absl::Status AddThreads(const Run& run, StringId scope, absl::flat_hash_map<StringId, Sum>& sums) {
  XP_TRY(std::vector<int64_t> tracks,
         run.store().Collect("SELECT id FROM track WHERE kind = 'host_thread' ORDER BY id",
                             [](int64_t id) { return id; }));
  XP_TRY(OrderedEvents events, OrderedEvents::Make(run.store(), kName | kCategory, false));
  for (const int64_t track : tracks) {
    XP_TRY(events.Open(track));
    ThreadSums thread(scope, sums);
    EventBatch batch;
    const ChunkArguments* arguments = nullptr;
    while (true) {
      XP_TRY(const bool more, events.Next(&batch, &arguments));
      if (!more) break;
      for (size_t i = 0; i < batch.size; ++i)
        thread.Take(batch.ts_ns[i], batch.dur_ns[i], batch.name[i], batch.category[i]);
    }
    thread.CloseUntil(INT64_MAX);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ScopeTotals> ScopeTotals::Of(const Run& run) {
  ScopeTotals totals;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  const Store& store = run.store();
  const StringId scope = store.Find(TextOf(Category::kScope));
  if (contents->recordings == 0 || scope == 0) return totals;
  absl::flat_hash_map<StringId, Sum> sums;
  XP_TRY(AddThreads(run, scope, sums));
  std::vector<std::pair<StringId, Sum>> order;
  for (const auto& [name, sum] : sums) {
    if (sum.count > 0) order.emplace_back(name, sum);
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    return a.second.total_ns != b.second.total_ns ? a.second.total_ns > b.second.total_ns
                                                  : store.Text(a.first) < store.Text(b.first);
  });
  for (const auto& [name, sum] : order) {
    if (totals.longest.size() == kMostScopes) break;
    ScopeTotal& total =
        totals.longest.emplace_back(ScopeTotal{.name = std::string(store.Text(name)),
                                               .count = sum.count,
                                               .total_ns = sum.total_ns,
                                               .self_ns = std::max<int64_t>(0, sum.self_ns)});
    XP_TRY(FillScopePlace(run, name, total.place));
  }
  totals.others = int64_t(order.size() - totals.longest.size());
  return totals;
}

namespace {

struct KilledEvent {
  int64_t track = 0, id = 0, ts_ns = 0, open_ns = 0;
  int64_t depth = 0;
  std::string name;
};

absl::StatusOr<std::vector<KilledEvent>> KilledEvents(const Store& store) {
  XP_TRY(std::vector<KilledEvent> events,
         store.Collect(
             "SELECT event_id, value FROM arg WHERE key = ?1",
             [](int64_t id, int64_t open_ns) { return KilledEvent{.id = id, .open_ns = open_ns}; },
             kOpenNsArgument));
  std::vector<KilledEvent> open;
  for (KilledEvent& event : events) {
    XP_TRY(store.Each(
        "SELECT track_id, ts_ns, depth, coalesce(name, '') FROM event WHERE id = ?1 AND dur_ns IS NULL",
        [&](int64_t track, int64_t ts_ns, int64_t depth, std::string name) {
          open.push_back({track, event.id, ts_ns, event.open_ns, depth, std::move(name)});
        },
        event.id));
  }
  std::ranges::sort(open, {}, [](const KilledEvent& event) {
    return std::tuple(event.track, event.depth, event.ts_ns, event.id);
  });
  return open;
}

absl::Status AddKilledPlace(const Store& store, int64_t event, OpenScope& scope) {
  return store.Each(
      "SELECT key, value FROM arg WHERE event_id = ?1 AND key IN ('source_file', 'source_line')",
      [&](const std::string& key, const std::string& value) {
        if (key == "source_file") scope.file = value;
        if (key == "source_line") scope.line = ParseCount(value).value_or(0);
      },
      event);
}

}  // namespace

absl::StatusOr<KilledScopes> KilledScopes::Of(const Run& run) {
  KilledScopes killed;
  const Store& store = run.store();
  if (store.Find(kOpenNsArgument) == 0) return killed;
  XP_TRY(const bool has_recordings, store.HasRows("recording"));
  if (!has_recordings) return killed;
  XP_TRY(const std::vector<KilledEvent> events, KilledEvents(store));
  struct Place {
    OptInt rank;
    int64_t process = 0;
    bool is_main = false;
  };
  std::vector<std::pair<Place, Thread>> threads;
  int64_t track = 0;
  for (const KilledEvent& event : events) {
    if (threads.empty() || track != event.track) {
      track = event.track;
      Place place;
      Thread thread;
      XP_TRY(store.Each(
          "SELECT coalesce(p.name, ''), p.pid, p.rank, p.id, t.name, t.tid FROM track t JOIN process "
          "p ON p.id = t.process_id JOIN recording r ON r.process_id = p.id WHERE t.id = ?1",
          [&](std::string process, OptInt pid, OptInt rank, int64_t id, std::string name,
              OptInt tid) {
            place = {rank, id, tid && tid == pid};
            thread = {std::move(process), pid, rank, {.name = std::move(name), .tid = tid}};
          },
          track));
      threads.emplace_back(place, std::move(thread));
    }
    OpenScope scope{.name = event.name, .open_ns = event.open_ns};
    XP_TRY(scope.step,
           store.One<int64_t>(
               "SELECT number FROM step WHERE process_id = ?1 AND ts_ns = ?2 AND name = ?3",
               threads.back().first.process, event.ts_ns, event.name));
    XP_TRY(AddKilledPlace(store, event.id, scope));
    threads.back().second.thread.scopes.push_back(std::move(scope));
  }
  std::erase_if(threads, [](const auto& thread) { return thread.first.process == 0; });
  std::ranges::stable_sort(threads, {}, [](const auto& thread) {
    const Place& place = thread.first;
    return std::tuple(!place.rank, place.rank, place.process, !place.is_main);
  });
  for (auto& [place, thread] : threads) killed.threads.push_back(std::move(thread));
  return killed;
}

}  // namespace xlaprof

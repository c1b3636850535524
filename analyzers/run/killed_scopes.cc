#include "analyzers/run/killed_scopes.h"

#include <algorithm>
#include <tuple>

#include "base/numbers.h"

namespace xlaprof {
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

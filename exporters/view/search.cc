#include "exporters/view/search.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "exporters/view/event.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxNames = 1000;

using EventKey = std::pair<int64_t, int64_t>;  // ts_ns, id

// The matching events around a place.
struct Around {
  int64_t count = 0, before = 0, at_most = 0;  // matches: all, before the place, up to and at it
  std::optional<EventKey> first, last, previous, next;

  void Add(EventKey event, EventKey cursor) {
    ++count;
    before += event < cursor;
    at_most += event <= cursor;
    auto keep = [&](std::optional<EventKey>& best, bool better) {
      if (better) best = event;
    };
    keep(first, !first || event < *first);
    keep(last, !last || event > *last);
    keep(previous, event < cursor && (!previous || event > *previous));
    keep(next, event > cursor && (!next || event < *next));
  }
};

}  // namespace

absl::StatusOr<std::string> SearchJson(const Store& store, const ViewLanes& lanes,
                                       const SearchAsked& asked) {
  absl::flat_hash_set<StringId> names;
  if (!asked.text.empty())
    XP_TRY(store.Each(
        "SELECT id FROM string WHERE typeof(text) = 'text' AND instr(lower(text), "
        "lower(?1)) > 0",
        [&](int64_t id) { names.insert(StringId(id)); }, asked.text));
  Around around;
  const EventKey cursor{lanes.ToStore(asked.ts_ns), asked.id};
  absl::flat_hash_set<StringId> used;
  for (const ViewLane& lane : lanes.lanes()) {
    if (names.empty() || lane.kind == TrackKind::kCounter) continue;
    StringId last_name = 0;
    bool last_matches = false;
    XP_TRY(
        EachEvent(store, lane, kName, INT64_MIN, INT64_MAX, [&](const EventBatch& batch, size_t i) {
          if (batch.name[i] != last_name)
            last_name = batch.name[i], last_matches = names.contains(last_name);
          if (!last_matches) return;
          used.insert(last_name);
          around.Add({batch.ts_ns[i], EventId(batch, i)}, cursor);
        }));
  }
  const std::optional<EventKey> near = asked.backwards ? around.previous : around.next;
  const std::optional<EventKey> found = near ? near : asked.backwards ? around.last : around.first;
  int64_t index = asked.backwards ? around.before - 1 : around.at_most;
  if (!near) index = asked.backwards ? around.count - 1 : 0;
  Json json = {
      {"count", around.count}, {"index", nullptr}, {"names", Json::array()}, {"event", nullptr}};
  for (StringId name : used) {
    if (json["names"].size() < kMaxNames) json["names"].push_back(name);
  }
  if (found) {
    json["index"] = index;
    XP_TRY(json["event"], EventBriefJson(store, lanes, found->second));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlaprof

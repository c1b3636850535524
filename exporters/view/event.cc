#include "exporters/view/event.h"

#include <nlohmann/json.hpp>

#include "exporters/view/totals.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxFlows = 1000;  // limit of the flows in an event's answer

struct Found {
  int64_t track_id, ts_ns;
  OptInt dur_ns;
  StringId name, category;
  uint16_t row;
};

absl::StatusOr<Found> FindEvent(const Store& store, const ViewLanes& lanes, int64_t id) {
  std::optional<Found> found;
  XP_TRY(store.Each(
      "SELECT track_id, ts_ns, dur_ns, name_id, coalesce(category_id, 0) FROM event WHERE id = ?1",
      [&](int64_t track_id, int64_t ts_ns, OptInt dur_ns, int64_t name, int64_t category) {
        found = Found{track_id, ts_ns, dur_ns, StringId(name), StringId(category), 0};
      },
      id));
  const ViewLane* lane = found ? lanes.Find(found->track_id) : nullptr;
  if (lane == nullptr) return NotFound("no event {}", id);
  // The order of events does not matter here, so only the chunks of that time are read.
  ViewLane any_order = *lane;
  any_order.chunks_in_order = true;
  XP_TRY(EachEvent(store, any_order, kDepth, found->ts_ns, found->ts_ns,
                   [&](const EventBatch& batch, size_t i) {
                     if (EventId(batch, i) == id) found->row = lanes.RowOf(batch, i);
                   }));
  return *found;
}

Json Brief(const Store& store, const ViewLanes& lanes, int64_t id, const Found& found) {
  Json dur_ns = nullptr;
  if (found.dur_ns) dur_ns = *found.dur_ns;
  return {{"id", id},         {"lane", found.track_id},
          {"row", found.row}, {"ts_ns", lanes.ToView(found.ts_ns)},
          {"dur_ns", dur_ns}, {"name", std::string(store.Text(found.name))}};
}

absl::StatusOr<Json> Arguments(const Store& store, int64_t id) {
  Json arguments = Json::array();
  XP_TRY(store.Each(
      "SELECT key, CASE type WHEN 'bytes' THEN hex(value) ELSE CAST(value AS TEXT) "
      "END, type FROM arg WHERE event_id = ?1 ORDER BY key",
      [&](std::string key, std::string value, std::string type) {
        arguments.push_back({key, value, type});
      },
      id));
  return arguments;
}

absl::StatusOr<Json> Flows(const Store& store, const ViewLanes& lanes, int64_t id) {
  Json flows = Json::array();
  for (const bool in : {true, false}) {
    XP_TRY(auto others,
           store.Collect(
               fmt::format("SELECT {}_event_id FROM flow WHERE {}_event_id = ?1 LIMIT {}",
                           in ? "from" : "to", in ? "to" : "from", kMaxFlows),
               [](int64_t other) { return other; }, id));
    for (int64_t other : others) {
      absl::StatusOr<Json> event = EventBriefJson(store, lanes, other);
      if (absl::IsNotFound(event.status())) continue;  // the slice excludes it
      XP_TRY(Json brief, std::move(event));
      flows.push_back({{"direction", in ? "in" : "out"}, {"event", std::move(brief)}});
    }
  }
  return flows;
}

}  // namespace

absl::StatusOr<Json> EventBriefJson(const Store& store, const ViewLanes& lanes, int64_t id) {
  XP_TRY(Found found, FindEvent(store, lanes, id));
  return Brief(store, lanes, id, found);
}

absl::StatusOr<std::string> EventJson(const Store& store, const ViewLanes& lanes, int64_t id) {
  XP_TRY(Found found, FindEvent(store, lanes, id));
  Json json = Brief(store, lanes, id, found);
  json["category"] = std::string(store.Text(found.category));
  XP_TRY(json["arguments"], Arguments(store, id));
  XP_TRY(json["flows"], Flows(store, lanes, id));
  XP_TRY(auto totals,
         TotalsByName(store, lanes, {found.track_id}, 0, lanes.end_ns() + 1, found.name));
  json["totals"] = totals.empty() ? Json(nullptr) : TotalsJson(store, totals.front());
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlaprof

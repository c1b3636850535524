#include "exporters/view/run.h"

#include <nlohmann/json.hpp>

#include "analyzers/step_parts.h"
#include "core/base/version.h"
#include "exporters/time_span.h"
#include "exporters/view/nullable_json.h"
#include "exporters/view/slices.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

Json Processes(const ViewLanes& lanes) {
  Json processes = Json::array();
  for (const ViewProcess& process : lanes.processes())
    processes.push_back({{"id", process.id}, {"name", process.name}, {"detail", process.detail}});
  return processes;
}

Json Lanes(const ViewLanes& lanes) {
  Json all = Json::array();
  for (const ViewLane& lane : lanes.lanes()) {
    all.push_back({{"id", lane.id},
                   {"process", lane.process_id},
                   {"kind", lane.kind},
                   {"name", lane.name},
                   {"device", Nullable(lane.device)},
                   {"rows", lane.rows},
                   {"events", lane.events}});
  }
  return all;
}

absl::StatusOr<Json> StepsOf(const Store& store, const ViewLanes& lanes) {
  XP_TRY(std::vector<TimedStep> steps, TimedSteps(store));
  Json all = Json::array();
  for (const TimedStep& step : steps) {
    all.push_back({{"process", step.span.process_id},
                   {"number", step.number.value_or(step.span.ordinal)},
                   {"ts_ns", lanes.ToView(step.time.begin_ns)},
                   {"dur_ns", step.time.end_ns - step.time.begin_ns},
                   {"warm_up", step.span.warm_up}});
  }
  return all;
}

}  // namespace

absl::StatusOr<std::string> RunJson(const Store& store, const ViewLanes& lanes) {
  Json json = {{"xlaprof", kVersion}};
  XP_TRY(const auto label, store.Meta("run_label"));
  json["label"] = label.value_or("");
  XP_TRY(const TimeSpan span, TimeSpanOf(store));
  Json base = nullptr;
  if (span.base_epoch_ns) base = fmt::to_string(*span.base_epoch_ns);
  json["span"] = {{"origin_ns", fmt::to_string(lanes.origin_ns())},
                  {"base_epoch_ns", base},
                  {"end_ns", lanes.end_ns()}};
  json["damaged_chunks"] = lanes.damaged_chunks();
  json["categories"] = ViewCategories();
  json["processes"] = Processes(lanes);
  json["lanes"] = Lanes(lanes);
  XP_TRY(json["steps"], StepsOf(store, lanes));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlaprof

#include "exporters/view/run.h"

#include <nlohmann/json.hpp>

#include "analyzers/run/step_parts.h"
#include "base/category.h"
#include "base/version.h"
#include "exporters/timeline/time_span.h"
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
                   {"kind", TextOf(lane.kind)},
                   {"name", lane.name},
                   {"device", Nullable(lane.device)},
                   {"rows", lane.rows},
                   {"events", lane.events}});
  }
  return all;
}

// Returns one column per fact, because a run may have a hundred thousand steps.
absl::StatusOr<Json> StepsOf(const Run& run, const ViewLanes& lanes) {
  XP_TRY(std::vector<TimedStep> steps, TimedSteps(run));
  Json process = Json::array(), number = process, ts_ns = process, dur_ns = process,
       warm_up = process;
  for (const TimedStep& step : steps) {
    process.push_back(step.span.process_id);
    number.push_back(step.number.value_or(step.span.ordinal));
    ts_ns.push_back(lanes.ToView(step.time.begin_ns));
    dur_ns.push_back(step.time.end_ns - step.time.begin_ns);
    warm_up.push_back(step.span.warm_up);
  }
  return Json{{"process", std::move(process)},
              {"number", std::move(number)},
              {"ts_ns", std::move(ts_ns)},
              {"dur_ns", std::move(dur_ns)},
              {"warm_up", std::move(warm_up)}};
}

}  // namespace

absl::StatusOr<std::string> RunJson(const Run& run, const ViewLanes& lanes) {
  const Store& store = run.store();
  Json json = {{"xlaprof", kVersion}};
  XP_TRY(const auto label, store.Meta("run_label"));
  json["label"] = label.value_or("");
  json["other_runs"] = Json::array();
  XP_TRY(store.Each("SELECT label FROM run WHERE NOT selected ORDER BY id",
                    [&](std::string other) { json["other_runs"].push_back(std::move(other)); }));
  XP_TRY(const TimeSpan span, TimeSpanOf(store));
  Json base = nullptr;
  if (span.base_epoch_ns) base = fmt::to_string(*span.base_epoch_ns);
  json["span"] = {{"origin_ns", fmt::to_string(lanes.origin_ns())},
                  {"base_epoch_ns", base},
                  {"end_ns", lanes.end_ns()}};
  json["damaged_chunks"] = lanes.damaged_chunks();
  json["categories"] = Vocabulary<Category>::kWords;
  json["processes"] = Processes(lanes);
  json["lanes"] = Lanes(lanes);
  XP_TRY(json["steps"], StepsOf(run, lanes));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlaprof

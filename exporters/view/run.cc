#include "exporters/view/run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzers/graph_sides.h"
#include "analyzers/report_words.h"
#include "analyzers/source_quote.h"
#include "analyzers/step_parts.h"
#include "core/base/version.h"
#include "exporters/marks.h"
#include "exporters/view/slices.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

Json Nullable(const auto& value) { return value ? Json(*value) : Json(nullptr); }

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

// When some source with a clock was looking.
Json Covered(const ViewLanes& lanes, const Summary& summary) {
  std::vector<Interval> windows;
  for (const Coverage& coverage : summary.coverage) {
    if (coverage.from_ns && coverage.to_ns && *coverage.to_ns > *coverage.from_ns)
      windows.push_back({lanes.ToView(*coverage.from_ns), lanes.ToView(*coverage.to_ns)});
  }
  Json covered = Json::array();
  for (const Interval& window : Union(std::move(windows)))
    covered.push_back({window.begin_ns, window.end_ns});
  return covered;
}

absl::StatusOr<Json> StepsOf(const Store& store, const ViewLanes& lanes) {
  XP_TRY(std::vector<StepParts> steps, PartsOfSteps(store));
  Json all = Json::array();
  for (const StepParts& step : steps) {
    all.push_back({{"process", step.step.process_id},
                   {"number", step.number.value_or(step.step.ordinal)},
                   {"ts_ns", lanes.ToView(*step.step.ts_ns)},
                   {"dur_ns", *step.step.dur_ns},
                   {"warm_up", step.step.warm_up},
                   {"parts_ns", step.ns}});
  }
  return all;
}

absl::StatusOr<Json> Marks(const Store& store, const ViewLanes& lanes, const Findings& findings) {
  Json marks = Json::array();
  for (size_t i = 0; i < findings.size(); ++i) {
    XP_TRY(auto times, EvidenceTimes(store, findings[i]));
    for (const auto& [ts_ns, dur_ns] : times) {
      marks.push_back({{"finding", i},
                       {"ts_ns", lanes.ToView(ts_ns)},
                       {"dur_ns", dur_ns},
                       {"text", findings[i].kind}});
    }
  }
  return marks;
}

// The two graphs that a finding's evidence names.
absl::StatusOr<Json> ReasonOf(const Store& store, const Finding& finding) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.table != "graph" || evidence.rows.size() != 2) continue;
    XP_TRY(GraphSides sides, CompareSides(store, evidence.rows[0], evidence.rows[1]));
    Json rows = Json::array();
    for (const GraphSidesRow& row : sides.rows) {
      const Json last = row.left_out > 0 ? Json(row.left_out) : Nullable(row.location);
      rows.push_back({Nullable(row.before), Nullable(row.after), int(row.state), last});
    }
    return Json{{"before", sides.before},
                {"after", sides.after},
                {"rows", std::move(rows)},
                {"omitted", sides.omitted}};
  }
  return nullptr;
}

Json QuoteOf(const Finding& finding, const std::vector<std::filesystem::path>& roots,
             int64_t capture_epoch_ns) {
  const Subject& subject = finding.subject;
  if (!subject.file || !subject.line) return nullptr;
  const auto quote = QuoteSource(*subject.file, *subject.line, roots, capture_epoch_ns);
  if (!quote) return nullptr;
  return {{"file", *subject.file},
          {"line", *subject.line},
          {"text", quote->text},
          {"newer_than_capture", quote->newer_than_capture}};
}

}  // namespace

absl::StatusOr<std::string> RunJson(const Store& store, const ViewLanes& lanes,
                                    const Report& report,
                                    const std::vector<std::filesystem::path>& source_roots) {
  Json json = {{"xlaprof", kVersion}};
  Json base = nullptr;
  if (report.base_epoch_ns) base = fmt::to_string(*report.base_epoch_ns);
  json["span"] = {{"origin_ns", fmt::to_string(lanes.origin_ns())},
                  {"base_epoch_ns", base},
                  {"end_ns", lanes.end_ns()}};
  json["covered"] = Covered(lanes, report.summary);
  json["damaged_chunks"] = lanes.damaged_chunks();
  json["categories"] = ViewCategories();
  json["processes"] = Processes(lanes);
  json["lanes"] = Lanes(lanes);
  json["step_parts"] = Json::array();
  for (Doing doing : kStepParts) json["step_parts"].push_back(DoingName(doing));
  XP_TRY(json["steps"], StepsOf(store, lanes));
  XP_TRY(json["marks"], Marks(store, lanes, report.findings));
  json["reasons"] = Json::array();
  json["quotes"] = Json::array();
  for (const Finding& finding : report.findings) {
    XP_TRY(Json reason, ReasonOf(store, finding));
    json["reasons"].push_back(std::move(reason));
    json["quotes"].push_back(QuoteOf(finding, source_roots, report.capture_epoch_ns));
  }
  json["report"] = Json::parse(ReportJson(report));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlaprof

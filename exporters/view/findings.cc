#include "exporters/view/findings.h"

#include <nlohmann/json.hpp>

#include "analyzers/graph/graph_sides.h"
#include "analyzers/report/report_words.h"
#include "analyzers/report/source_quote.h"
#include "analyzers/run/step_parts.h"
#include "exporters/timeline/marks.h"
#include "exporters/view/nullable_json.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

// Returns the times that some source with a clock covers.
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

absl::StatusOr<Json> Devices(const Run& run, const std::vector<TimedStep>& steps) {
  Json devices = Json::array();
  XP_TRY(const std::vector<IdleInSteps> all, IdleOfSteps(run, steps));
  for (const IdleInSteps& device : all) {
    Json idle_ns = Json::array();
    for (const OptInt& of_step : device.idle_ns) idle_ns.push_back(Nullable(of_step));
    devices.push_back({{"process", device.process_id},
                       {"name", device.device},
                       {"idle_ns", std::move(idle_ns)},
                       {"steady_ns", device.steady_ns},
                       {"steady_idle_ns", device.steady_idle_ns}});
  }
  return devices;
}

absl::StatusOr<Json> Marks(const Store& store, const ViewLanes& lanes, const Findings& findings) {
  Json marks = Json::array();
  for (size_t i = 0; i < findings.size(); ++i) {
    XP_TRY(const EvidencePlaces places, PlacesOf(store, findings[i]));
    for (const auto& [time, track] : places) {
      const bool is_shown = track && lanes.Find(*track) != nullptr;
      marks.push_back({{"finding", i},
                       {"ts_ns", lanes.ToView(time.first)},
                       {"dur_ns", time.second},
                       {"lane", is_shown ? Json(*track) : Json(nullptr)},
                       {"text", findings[i].kind()}});
    }
  }
  return marks;
}

// Returns where the occurrences of findings lie that have too many for marks.
Json Densities(const ViewLanes& lanes, const Findings& findings) {
  Json densities = Json::array();
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].density) continue;
    const Density& density = *findings[i].density;
    Json begins_ns = Json::array();
    for (int64_t begin_ns : density.begins_ns) begins_ns.push_back(lanes.ToView(begin_ns));
    densities.push_back({{"finding", i},
                         {"begins_ns", std::move(begins_ns)},
                         {"end_ns", lanes.ToView(density.end_ns)},
                         {"ns", density.ns}});
  }
  return densities;
}

// Compares the two graphs that a finding's evidence names.
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

absl::StatusOr<std::string> FindingsJson(const Run& run, const ViewLanes& lanes,
                                         const Report& report,
                                         const std::vector<std::filesystem::path>& source_roots) {
  const Store& store = run.store();
  Json json = {{"covered", Covered(lanes, report.summary)}};
  json["step_parts"] = Json::array();
  for (Doing doing : kStepParts) json["step_parts"].push_back(TextsOf(doing).name);
  json["step_parts_ns"] = Json::array();
  XP_TRY(const std::vector<TimedStep> steps, TimedSteps(run));
  XP_TRY(const std::vector<StepParts> parts, PartsOfSteps(run, steps));
  for (const StepParts& of_step : parts) json["step_parts_ns"].push_back(of_step);
  XP_TRY(json["devices"], Devices(run, steps));
  XP_TRY(json["marks"], Marks(store, lanes, report.findings));
  json["densities"] = Densities(lanes, report.findings);
  json["reasons"] = Json::array();
  json["quotes"] = Json::array();
  for (const Finding& finding : report.findings) {
    XP_TRY(Json reason, ReasonOf(store, finding));
    json["reasons"].push_back(std::move(reason));
    json["quotes"].push_back(QuoteOf(finding, source_roots, report.capture_epoch_ns));
  }
  // ReportJson returns JSON text, so it is joined as text.
  const std::string rest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("{{\"report\":{},{}", ReportJson(report), std::string_view(rest).substr(1));
}

}  // namespace xlaprof

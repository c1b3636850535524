#include <absl/strings/str_split.h>

#include <nlohmann/json.hpp>

#include "analyzers/report/report.h"
#include "analyzers/report/verdict.h"
#include "base/escape.h"
#include "base/version.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

Json Nullable(const auto& value) { return value ? Json(*value) : Json(nullptr); }
// Returns a time as a string, because Unix times exceed 2^53, where JavaScript and jq begin to
// round.
Json Absolute(const std::optional<int64_t>& ns) {
  return ns ? Json(fmt::to_string(*ns)) : Json(nullptr);
}
Json Words(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <HasWords E>
Json Nullable(std::optional<E> value) {
  return value ? Json(TextOf(*value)) : Json(nullptr);
}

Json DialectsOf(const SourceRow& source) {
  Json names = Json::array();
  for (absl::string_view name :
       absl::StrSplit(source.dialects.value_or(""), ',', absl::SkipEmpty()))
    names.push_back(std::string(name));
  return names;
}

Json Of(const SourceRow& source) {
  return {{"path", source.path},
          {"format", Nullable(source.format)},
          {"dialects", DialectsOf(source)},
          {"imported", source.imported},
          {"bytes", Nullable(source.bytes)},
          {"clock_offset_ns", Absolute(source.clock_offset_ns)},
          {"clock_error_ns", Nullable(source.clock_error_ns)},
          {"derived_from", Nullable(source.derived_from)},
          {"links_to", Nullable(source.links_to)},
          {"note", Nullable(source.note)}};
}

Json Of(const Coverage& coverage) {
  return {{"path", coverage.path},
          {"format", coverage.format},
          {"steps", Nullable(coverage.steps)},
          {"compiles", Nullable(coverage.compiles)},
          {"executions", Nullable(coverage.executions)},
          {"transfers", Nullable(coverage.transfers)},
          {"events", Nullable(coverage.events)},
          {"from_ns", Nullable(coverage.from_ns)},
          {"to_ns", Nullable(coverage.to_ns)},
          {"note", Words(coverage.note)}};
}

Json Of(const RunRow& run) {
  return {{"label", run.label},
          {"selected", run.selected},
          {"started_epoch_ns", Absolute(run.started_epoch_ns)},
          {"why", run.why}};
}

Json Of(const ProcessRow& process) {
  return {{"id", process.id},
          {"host", Nullable(process.host)},
          {"pid", Nullable(process.pid)},
          {"rank", Nullable(process.rank)}};
}

Json Of(const SettingRow& setting) {
  return {{"name", TextOf(setting.name)}, {"value", setting.value}, {"evidence", setting.evidence}};
}

Json Of(const RecordingCost& recording) {
  return {{"program", Words(recording.program)},
          {"pid", Nullable(recording.pid)},
          {"ended", recording.ended},
          {"threads", recording.threads},
          {"events", recording.events},
          {"dropped", recording.dropped},
          {"drain_cpu_ns", Nullable(recording.drain_cpu_ns)},
          {"span_ns", Nullable(recording.span_ns)},
          {"bytes", recording.bytes}};
}

Json Of(const ObservedCommand& command) {
  return {{"command", Words(command.words)},
          {"exit_status", Nullable(command.exit_status)},
          {"signal", Nullable(command.signal)}};
}

Json Of(const Observed& observed) {
  const ObservedProcessRow& row = observed.row;
  const auto word = [](const auto& value) { return value ? Json(TextOf(*value)) : Json(); };
  const auto text = [](const OptText& value) { return value ? Json(Words(*value)) : Json(); };
  return {
      {"command", Words(row.command)},
      {"pid", Nullable(observed.pid)},
      {"rank", Nullable(observed.rank)},
      {"ended", row.ended},
      {"dur_ns", row.dur_ns},
      {"steps", Nullable(row.steps)},
      {"step_unit", word(row.step_unit)},
      {"profile_moment", word(row.profile_moment)},
      {"profile_ts_ns", Nullable(row.profile_ts_ns)},
      {"profile_dur_ns", Nullable(row.profile_dur_ns)},
      {"profile_first_step", Nullable(row.profile_first_step)},
      {"profile_end_step", Nullable(row.profile_end_step)},
      {"profile_error", text(row.profile_error)},
      {"cpu_ns", Nullable(row.cpu_ns)},
      {"own_cpu_ns", Nullable(row.own_cpu_ns)},
      {"problem", text(row.problem)},
      {"last_place", observed.last ? Json(Words(observed.last->place.TextWithFunction())) : Json()},
      {"last_place_ns", observed.last ? Json(observed.last->ns) : Json()}};
}

Json Of(const ScopeTotal& scope) {
  return {{"name", Words(scope.name)},
          {"file", scope.place.file ? Json(Words(*scope.place.file)) : Json()},
          {"line", Nullable(scope.place.line)},
          {"count", scope.count},
          {"total_ns", scope.total_ns},
          {"self_ns", scope.self_ns}};
}

Json Of(const OpenScope& scope) {
  return {{"name", Words(scope.name)},
          {"step", Nullable(scope.step)},
          {"open_ns", Nullable(scope.open_ns)},
          {"file", Words(scope.file)},
          {"line", scope.file.empty() ? Json() : Json(scope.line)}};
}

Json Of(const KilledScopes::Thread& thread);

Json Of(const Summary::Device& device) {
  return {{"name", device.name},
          {"busy_ns", device.busy_ns},
          {"span_ns", device.span_ns},
          {"after_steps_ns", Nullable(device.after_steps_ns)},
          {"busy_a_step_ns", Nullable(device.busy_a_step_ns)}};
}

Json Of(const Evidence& evidence) {
  return {{"table", Words(evidence.table)},    {"rows", evidence.rows},
          {"ts_ns", Nullable(evidence.ts_ns)}, {"dur_ns", Nullable(evidence.dur_ns)},
          {"text", Words(evidence.text)},      {"query", QueryOf(evidence)}};
}

Json Of(const ReportIssue& issue) {
  return {{"path", Words(issue.path)},
          {"code", issue.code},
          {"severity", TextOf(issue.severity)},
          {"count", issue.count},
          {"offset", Nullable(issue.offset)},
          {"line", Nullable(issue.line)},
          {"advice", issue.advice}};
}

Json Of(const CallFrame& frame);
Json Of(const Finding& finding);
Json Of(const TopOp& op);
Json Of(const DeviceTop& top);

template <class T>
Json ListOf(const std::vector<T>& rows) {
  Json list = Json::array();
  for (const T& row : rows) list.push_back(Of(row));
  return list;
}

// The scopes are in order, the outermost first.
Json Of(const KilledScopes::Thread& thread) {
  return {{"program", Words(thread.process)},   {"pid", Nullable(thread.pid)},
          {"rank", Nullable(thread.rank)},      {"thread", Words(thread.thread.name)},
          {"tid", Nullable(thread.thread.tid)}, {"scopes", ListOf(thread.thread.scopes)}};
}

// Returns [low, high], or null.
Json IntervalOf(const std::optional<std::pair<int64_t, int64_t>>& interval) {
  if (!interval) return nullptr;
  return Json::array({interval->first, interval->second});
}

Json Of(const CallFrame& frame) {
  return {{"file", frame.place.file},
          {"line", Nullable(frame.place.line)},
          {"function", Words(frame.place.function)},
          {"is_user", frame.is_user}};
}

Json Of(const Finding& finding) {
  const Subject& subject = finding.subject;
  Json reason;
  if (finding.reason) {
    const Reason& r = *finding.reason;
    const OptText location = r.location ? OptText(r.location->text()) : OptText();
    reason = {{"type", TextOf(r.type)},         {"state", Nullable(r.state)},
              {"step", Nullable(r.step)},       {"node", Nullable(r.node)},
              {"before", Nullable(r.before)},   {"after", Nullable(r.after)},
              {"location", Nullable(location)}, {"text", Words(finding.words.why)}};
  }
  return {{"kind", finding.kind()},
          {"severity", TextOf(finding.severity)},
          {"title", finding.words.title},
          {"subject",
           {{"file", Nullable(subject.file)},
            {"line", Nullable(subject.line)},
            {"function", Nullable(subject.function)},
            {"starts_function", subject.starts_function},
            {"scope", Nullable(subject.scope)},
            {"op", Nullable(subject.op)},
            {"graph_hash", Nullable(subject.graph_hash)}}},
          {"stack", ListOf(finding.stack.frames)},
          {"count", Nullable(finding.count)},
          {"per_step", Nullable(finding.per_step)},
          {"cost_ns", Nullable(finding.cost_ns)},
          {"cost_note", Words(finding.words.cost_note)},
          {"cost_interval_ns", IntervalOf(finding.cost_interval_ns)},
          {"saving_ns", Nullable(finding.total_saving_ns())},
          {"saving_interval_ns", IntervalOf(finding.total_saving_interval_ns)},
          {"saving_note", Words(finding.words.saving_note)},
          {"reason", reason},
          {"advice", Words(finding.words.advice)},
          {"evidence", ListOf(finding.evidence)},
          {"certainty", TextOf(finding.certainty)},
          {"because_of", Words(finding.because_of)},
          {"consequences", finding.consequences},
          {"total_cost_ns", Nullable(finding.total_cost_ns)},
          {"fingerprint", finding.fingerprint}};
}

// Returns null if the run has steps, or no program that takes most of its time.
Json Of(const std::optional<WorkUnit::Program>& unit) {
  if (!unit) return nullptr;
  return {{"program", unit->name},
          {"executions", unit->executions},
          {"median_ns", unit->median_ns},
          {"share", unit->share}};
}

// Returns null if no source has times of steady steps.
Json Of(const SteadyStep& steady) {
  if (steady.steps == 0) return nullptr;
  auto host = [&](Doing doing) -> Json {
    if (steady.host.empty()) return nullptr;
    int64_t ns = 0;
    for (const SteadyStep::Part& part : steady.host) ns += part.doing == doing ? part.ns : 0;
    return ns;
  };
  return {{"steps", steady.steps},
          {"step_ns", steady.step_ns},
          {"tracing_ns", host(Doing::kTracing)},
          {"compile_ns", host(Doing::kCompile)},
          {"execute_ns", host(Doing::kExecute)},
          {"transfer_ns", host(Doing::kTransfer)},
          {"input_ns", host(Doing::kInput)},
          {"allocator_ns", host(Doing::kAllocate)},
          {"graph_capture_ns", host(Doing::kCapture)},
          {"user_code_ns", host(Doing::kUserCode)},
          {"runtime_ns", host(Doing::kRuntime)},
          {"unrecorded_ns", host(Doing::kNothing)},
          {"device_busy_ns", Nullable(steady.device_busy_ns)},
          {"device_idle_ns", Nullable(steady.device_idle_ns)}};
}

Json Of(const TopOp& op) {
  return {{"name", op.name},
          {"category", Words(op.category)},
          {"location", Words(op.location)},
          {"scope", Words(op.scope)},
          {"count", op.count},
          {"self_ns", op.self_ns},
          {"share", op.share}};
}

Json Of(const DeviceTop& top) {
  return {{"device", top.label},
          {"busy_share", top.busy_share},
          {"ops", ListOf(top.ops)},
          {"other_names", top.other_names},
          {"other_share", top.other_share},
          {"unnamed_share", top.unnamed_share}};
}

// Returns null if only one process has steps.
Json Of(const std::optional<Summary::ProcessSteps>& steps) {
  if (!steps) return nullptr;
  return {{"processes", steps->processes}, {"least", steps->least}, {"most", steps->most}};
}

Json SummaryOf(const Report& report) {
  const Summary& summary = report.summary;
  return {{"run", Words(report.run_label)},
          {"base_epoch_ns", Absolute(report.base_epoch_ns)},
          {"start_ns", Nullable(report.start_ns)},
          {"steps", Nullable(summary.steps)},
          {"process_steps", Of(summary.process_steps)},
          {"timed_steps", Nullable(summary.timed_steps)},
          {"warm_up_steps", Nullable(summary.warm_up_steps)},
          {"wall_ns", Nullable(summary.wall_ns)},
          {"time_to_first_step_ns", Nullable(summary.time_to_first_step_ns)},
          {"steady_steps", summary.steady_steps},
          {"step_p50_ns", Nullable(summary.step_p50_ns)},
          {"step_p99_ns", Nullable(summary.step_p99_ns)},
          {"warm_up_step_p50_ns", Nullable(summary.warm_up_step_p50_ns)},
          {"unit", Of(summary.unit)},
          {"tracing_ns", Nullable(summary.tracing_ns)},
          {"compile_count", Nullable(summary.compile_count)},
          {"compile_ns", Nullable(summary.compile_ns)},
          {"load_count", Nullable(summary.load_count)},
          {"load_ns", Nullable(summary.load_ns)},
          {"execution_count", Nullable(summary.execution_count)},
          {"execute_ns", Nullable(summary.execute_ns)},
          {"transfer_count", Nullable(summary.transfer_count)},
          {"transfer_ns", Nullable(summary.transfer_ns)},
          {"fallback_count", Nullable(summary.fallback_count)},
          {"input_ns", Nullable(summary.input_ns)},
          {"device_busy_ns", Nullable(summary.device_busy_ns)},
          {"device_idle_ns", Nullable(summary.device_idle_ns)},
          {"steady_step", Of(report.steady)},
          {"scopes", ListOf(report.scopes.longest)},
          {"open_at_kill", ListOf(report.killed.threads)},
          {"devices", ListOf(summary.devices)},
          {"top_ops", ListOf(report.top_ops.devices)},
          {"coverage", ListOf(summary.coverage)},
          {"settings", ListOf(report.settings)},
          {"recordings", ListOf(report.recordings)},
          {"observed_command", report.command ? Of(*report.command) : Json()},
          {"observed_processes", ListOf(report.observed)},
          {"processes", ListOf(report.processes)},
          {"runs", ListOf(report.runs)}};
}

// Returns the checks that were not made, or not completely, with the reason.
Json NotChecked(const Report& report) {
  const Checks checks = ChecksOf(report.summary, report.findings);
  Json list = Json::array();
  for (const Analyzer* analyzer : checks.not_made)
    list.push_back({{"kind", analyzer->name}, {"why", checks.why}});
  for (const auto& [analyzer, text] : checks.limits)
    list.push_back({{"kind", analyzer->name}, {"why", text}});
  return list;
}

std::string Dump(const Json& json, int indent) {
  return TerminalSafeJson(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string ReportJson(const Report& report) {
  Json json = {{"xlaprof", kVersion},
               {"origin", report.origin},
               {"sources", ListOf(report.sources)},
               {"summary", SummaryOf(report)},
               {"findings", ListOf(report.findings)},
               {"not_checked", NotChecked(report)},
               {"issues", ListOf(report.issues)}};
  return Dump(json, 2) + "\n";
}

std::string FindingJson(const Finding& finding) { return Dump(Of(finding), -1); }

}  // namespace xlaprof

#include "analyzers/run/capture.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "profiler/vocabulary/calls.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

// Returns "forward" for "train.1/forward.2/aten::mul.7". torch_xla numbers scopes and adds one per
// op, whose "::" is printed as "__" in HLO.
std::string InnermostUserScope(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    std::string_view part = slash == path.npos ? path : path.substr(slash + 1);
    path = slash == path.npos ? std::string_view() : path.substr(0, slash);
    if (part.find("::") != part.npos || part.find("__") != part.npos) continue;
    const size_t dot = part.rfind('.');
    if (dot != part.npos && part.find_first_not_of("0123456789", dot + 1) == part.npos)
      part = part.substr(0, dot);
    if (!part.empty()) return std::string(part);
  }
  return "";
}

}  // namespace

int64_t CaptureSettings::TracingBoundNs(std::string_view scope) const {
  auto it = ops_in_scope.find(scope);
  return !slow_tracing() || it == ops_in_scope.end() ? 0 : it->second * policy::kTracedOperationNs;
}

int64_t CaptureSettings::FallbackBoundNs(std::string_view scope) const {
  auto it = reads_in_scope.find(scope);
  return !fallback_stacks || it == reads_in_scope.end() ? 0 : it->second * policy::kFallbackStackNs;
}

absl::StatusOr<CaptureSettings> CaptureSettings::Of(const Run& run) {
  const Store& store = run.store();
  CaptureSettings settings;
  XP_TRY(
      store.Each("SELECT name, value FROM setting", [&](SettingName name, std::string_view value) {
        if (value == "0" || value == "false" || value == "off") return;
        settings.ir_debug |= name == SettingName::kIrDebug || name == SettingName::kHloDebug;
        settings.dumps |= name == SettingName::kSaveTensors;
        settings.python_tracer |= name == SettingName::kPythonTracer;
      }));
  XP_TRY(auto dumps, store.One<int64_t>(
                         "SELECT count(*) FROM source WHERE format = 'ir_dump' AND imported = 1"));
  settings.dumps |= dumps.value_or(0) > 0;
  // PT_XLA_DEBUG switches on both torch_xla's profiler lines and its stacks.
  XP_TRY(auto lines, store.One<int64_t>("SELECT count(*) FROM profiler_line"));
  settings.fallback_stacks = lines.value_or(0) > 0;
  XP_TRY(
      store.Each("SELECT scope, count(*) FROM execution WHERE cause = 'value_access' AND scope IS "
                 "NOT NULL GROUP BY 1",
                 [&](std::string scope, int64_t n) {
                   settings.reads_in_scope[InnermostUserScope(scope)] += n;
                 }));
  // Lazy graphs, which have a hash or a typical module name, have scopes only if a debug setting
  // was on.
  std::map<int64_t, std::map<std::string, int64_t>> of_graph;
  XP_TRY(store.Each(
      fmt::format("SELECT n.graph_id, n.scope, count(*) FROM graph_node n JOIN graph g ON g.id = "
                  "n.graph_id WHERE (g.hash IS NOT NULL OR g.name LIKE 'SyncTensorsGraph%') AND "
                  "n.scope IS NOT NULL AND n.scope <> '' AND n.op NOT IN ({}, {}) GROUP BY 1, 2",
                  SqlNamesOf(OpKind::kInput), SqlNamesOf(OpKind::kConstant)),
      [&](int64_t graph, std::string scope, int64_t n) {
        settings.ir_debug = true;
        of_graph[graph][InnermostUserScope(scope)] += n;
      }));
  for (const auto& [graph, scopes] : of_graph) {
    for (const auto& [scope, n] : scopes) {
      int64_t& most = settings.ops_in_scope[scope];
      most = std::max(most, n);
    }
  }
  XP_TRY(const Contents* contents, run.Get<Contents>());
  settings.may_slow_tracing = !settings.ir_debug && contents->graphs_with_nodes == 0 &&
                              contents->source_kinds == std::set{SourceKind::kTimed};
  return settings;
}

namespace {

// Calls that belong to an edge of the capture.
enum class Edge { kStart, kStop };

// Returns the names of calls that make the context of a GPU or begin or end the capture. The Python
// tracer writes "$profiler.py:151 start_trace".
absl::StatusOr<absl::flat_hash_map<StringId, Edge>> EdgeCalls(const Store& store) {
  absl::flat_hash_map<StringId, Edge> calls;
  for (const std::string& name : NamesOfCalls(CallTrait::kFirst)) {
    if (const StringId id = store.Find(name)) calls[id] = Edge::kStart;
  }
  if (store.Find(TextOf(Category::kPython)) == 0) return calls;
  for (const auto& [trait, edge] :
       {std::pair(CallTrait::kStarts, Edge::kStart), std::pair(CallTrait::kEnds, Edge::kStop)}) {
    for (const std::string_view function : FunctionsOfCalls(trait)) {
      XP_TRY(store.Each("SELECT id FROM string WHERE text LIKE '$% ' || ?1",
                        [&](int64_t id) { calls[StringId(id)] = edge; }, function));
    }
  }
  return calls;
}

// Returns the time from the first to the last step or work of a device, by process.
absl::StatusOr<std::map<int64_t, Interval>> WorkWindows(const Run& run) {
  std::map<int64_t, Interval> work;
  auto add = [&](int64_t process_id, Interval time) {
    auto [at, is_new] = work.try_emplace(process_id, time);
    if (is_new) return;
    at->second.begin_ns = std::min(at->second.begin_ns, time.begin_ns);
    at->second.end_ns = std::max(at->second.end_ns, time.end_ns);
  };
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  for (const DeviceTime& device : times->devices) add(device.process_id, device.span());
  XP_TRY(const Steps* steps, run.Get<Steps>());
  for (const StepSpan& step : steps->all) {
    if (step.ts_ns && step.dur_ns) add(step.process_id, {*step.ts_ns, *step.ts_ns + *step.dur_ns});
  }
  auto rows = [&](const auto& table) {
    for (const auto& row : table.rows) {
      if (row.ts_ns)
        add(row.process_id.value_or(0), {*row.ts_ns, *row.ts_ns + row.dur_ns.value_or(0)});
    }
  };
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  rows(*compiles);
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  rows(*transfers);
  return work;
}

// Leaves the calls at the edges out of the windows.
absl::Status LeaveOutEdges(const Run& run, std::map<int64_t, Interval>& windows) {
  XP_TRY(const auto calls, EdgeCalls(run.store()));
  if (calls.empty()) return absl::OkStatus();
  XP_TRY(const auto work, WorkWindows(run));
  XP_TRY(const std::vector<TrackRow> tracks, run.Rows<TrackRow>("WHERE kind = 'host_thread'"));
  EventScanner::Options options{.columns = kStart | kDuration | kName};
  std::map<int64_t, int64_t> process_of;
  for (const TrackRow& track : tracks) {
    process_of[track.id] = track.process_id.value_or(0);
    options.track_ids.push_back(track.id);
  }
  if (options.track_ids.empty()) return absl::OkStatus();
  std::map<int64_t, Interval> inner = windows;
  XP_TRY(EachBatch(run.store(), std::move(options), [&](const EventBatch& batch) {
    const int64_t process_id = process_of[batch.track_id];
    const auto window = inner.find(process_id);
    const auto worked = work.find(process_id);
    // Without any work, the edges are all that there is.
    if (window == inner.end() || worked == work.end()) return;
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.dur_ns[i] <= 0) continue;
      const auto call = calls.find(batch.name[i]);
      if (call == calls.end()) continue;
      const Interval time{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
      const int64_t gap_ns = int64_t(policy::kEdgeOfCaptureShare * double(time.length_ns()));
      Interval& left = window->second;
      if (call->second == Edge::kStart && time.end_ns <= worked->second.begin_ns &&
          time.begin_ns - left.begin_ns <= gap_ns)
        left.begin_ns = std::max(left.begin_ns, time.end_ns);
      // The device may still work while the call begins. A call on another thread ends with the
      // profile, however long the profiler takes to stop.
      if (call->second == Edge::kStop && left.end_ns - time.end_ns <= gap_ns)
        left.end_ns = std::min(left.end_ns, std::max(time.begin_ns, worked->second.end_ns));
    }
  }));
  for (auto& [process_id, window] : inner) {
    if (window.length_ns() > 0) windows[process_id] = window;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CaptureWindows> CaptureWindows::Of(const Run& run) {
  CaptureWindows out;
  XP_TRY(run.store().Each(
      "SELECT coalesce(t.process_id, 0), min(c.min_ts_ns), max(c.max_end_ns) FROM event_chunk c "
      "JOIN track t ON t.id = c.track_id WHERE t.kind NOT IN ('counter', 'samples') GROUP BY 1",
      [&](int64_t process, int64_t from_ns, int64_t to_ns) {
        const Slice& slice = run.slice();
        if (slice.process_id && process != 0 && process != *slice.process_id) return;
        from_ns = std::max(from_ns, slice.from_ns.value_or(from_ns));
        to_ns = std::min(to_ns, slice.to_ns.value_or(to_ns));
        if (to_ns > from_ns) out.by_process[process] = {from_ns, to_ns};
      }));
  XP_TRY(LeaveOutEdges(run, out.by_process));
  return out;
}

}  // namespace xlaprof

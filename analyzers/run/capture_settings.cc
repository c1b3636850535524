#include "analyzers/run/capture_settings.h"

#include <algorithm>
#include <set>
#include <string>

#include "analyzers/policy.h"
#include "analyzers/run/contents.h"
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

}  // namespace xlaprof

#include "analyzers/run/contents.h"

#include <map>

#include "analyzers/run/tables.h"
#include "profiler/store/issue_codes.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {

absl::StatusOr<Contents> Contents::Of(const Run& run) {
  const Store& store = run.store();
  Contents contents;
  XP_TRY(const Sources* sources, run.Get<Sources>());
  std::map<OptInt, std::string> path_of_source;
  for (const SourceRow& source : sources->rows) {
    path_of_source[source.id] = source.path;
    if (source.imported && source.kind) contents.source_kinds.insert(*source.kind);
  }
  XP_TRY(const std::vector<ImportIssueRow> issues, run.Rows<ImportIssueRow>("ORDER BY source_id"));
  for (const ImportIssueRow& issue : issues) {
    contents.issue_codes.insert(issue.code);
    std::optional<Notice>* notice = issue.code == issue_codes::kOnCpu      ? &contents.runs_on_cpu
                                    : issue.code == issue_codes::kNoDevice ? &contents.no_device
                                                                           : nullptr;
    const auto path = path_of_source.find(issue.source_id);
    if (notice != nullptr && !*notice && path != path_of_source.end())
      *notice = {path->second, issue.first_line.value_or(1), issue.count, issue.advice};
  }
  // A loader with worker processes uses another iterator than one that loads in the step's thread.
  XP_TRY(contents.data_loader,
         store.One<std::string>("SELECT text FROM string WHERE text LIKE 'enumerate(DataLoader)#%' "
                                "AND text LIKE '%Process%DataLoaderIter%' ORDER BY text LIKE "
                                "'%SingleProcess%' DESC LIMIT 1"));
  contents.has_torch_ops = store.Find(kTorchOp) != 0 || store.Find(kOldTorchOp) != 0;
  contents.has_old_torch = contents.has_torch_ops && store.Find(kTorchOp) == 0;
  XP_TRY(const std::vector<ExecutionRow> of_compiled_functions,
         run.Rows<ExecutionRow>("WHERE cause = 'compiled_function' LIMIT 1"));
  contents.runs_compiled_functions = !of_compiled_functions.empty();
  XP_TRY(contents.settings, run.Rows<SettingRow>("GROUP BY name ORDER BY name"));

  XP_TRY(
      store.Each("SELECT coalesce(process_id, 0), name FROM setting GROUP BY 1, 2 HAVING "
                 "count(DISTINCT value) > 1 ORDER BY 1, 2 DESC",
                 [&](int64_t process_id, std::string name) {
                   contents.changed_setting[process_id] = std::move(name);
                 }));
  const auto count = [&](const char* from, int64_t& rows) -> absl::Status {
    XP_TRY(OptInt counted, store.One<int64_t>(fmt::format("SELECT {}", from)));
    rows = counted.value_or(0);
    return absl::OkStatus();
  };
  XP_TRY(count(
      "CAST(total(c.count) AS INTEGER) FROM event_chunk c JOIN track t ON t.id = c.track_id WHERE t.kind <> 'samples'",
      contents.events));
  XP_TRY(count("count(*) FROM metrics_report", contents.metrics_reports));
  XP_TRY(count("count(*) FROM metric", contents.metrics));
  XP_TRY(count("count(*) FROM counter", contents.counters));
  XP_TRY(count("count(*) FROM profiler_line", contents.profiler_lines));
  XP_TRY(count("count(*) FROM site", contents.sites));
  XP_TRY(count("count(*) FROM compile_reason", contents.compile_reasons));
  XP_TRY(count("count(*) FROM compile_alarm", contents.compile_alarms));
  XP_TRY(
      count("count(*) FROM metric WHERE name IN ('ExecuteTime', 'ExecuteReplicatedTime', "
            "'EagerOpExecuteTime')",
            contents.execution_metrics));
  XP_TRY(
      count("count(*) FROM counter WHERE name IN ('CachedCompile', 'UncachedCompile') AND value > 0",
            contents.execution_counters));
  XP_TRY(count("count(*) FROM recording", contents.recordings));
  XP_TRY(count("count(*) FROM graph WHERE printed_as <> 'signature'", contents.graphs_with_nodes));
  return contents;
}

}  // namespace xlaprof

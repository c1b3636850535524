#include "analyzers/run/donatable_copies.h"

#include <algorithm>
#include <map>

#include "analyzers/graph/op_users.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_call.h"

namespace xlaprof {
namespace {

// Returns the ids of optimised programs with a copy of a parameter.
absl::StatusOr<std::vector<int64_t>> Candidates(const Run& run) {
  std::vector<int64_t> ids;
  XP_TRY(run.store().Each(
      fmt::format("SELECT DISTINCT c.graph_id FROM graph_node c JOIN graph g ON g.id = c.graph_id "
                  "JOIN graph_node p ON p.graph_id = c.graph_id AND p.idx = CAST(c.operands AS "
                  "INTEGER) WHERE g.printed_as = 'hlo_optimized' AND c.op IN ({}) AND c.computation "
                  "IS NULL AND p.op IN ({}) AND p.shape = c.shape ORDER BY 1",
                  SqlNamesOf(OpKind::kCopy), SqlNamesOf(OpKind::kInput)),
      [&](int64_t id) { ids.push_back(id); }));
  return ids;
}

// Returns the program's ops with their users, and which of them are the copies.
CopyingProgram OpsOf(const PrintedGraph& graph, const std::vector<DonatableCopy>& copies) {
  CopyingProgram program{.users = OpUsers(graph)};
  for (const GraphNode& node : graph.nodes) {
    // Ops inside other computations have no events of their own.
    program.ops.push_back(node.computation.empty() ? node.name : "");
    const auto copy = std::ranges::find(copies, node.name, &DonatableCopy::name);
    program.is_copy.push_back(node.computation.empty() && copy != copies.end());
  }
  return program;
}

}  // namespace

int64_t DonatableProgram::bytes() const {
  int64_t bytes = 0;
  for (const DonatableCopy& copy : copies) bytes += copy.bytes;
  return bytes;
}

absl::StatusOr<DonatableCopies> DonatableCopies::Of(const Run& run) {
  DonatableCopies out;
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  std::map<std::string, size_t> program_of;  // by the graph's identity
  std::vector<CopyingProgram> copying;
  XP_TRY(const std::vector<int64_t> candidates, Candidates(run));
  for (int64_t id : candidates) {
    const std::string identity = graphs->IdentityOf(id).value_or("");
    if (program_of.contains(identity)) continue;
    XP_TRY(const PrintedGraph graph, LoadGraph(run.store(), id));
    DonatableProgram program{.graph_id = id, .module = graph.name};
    program.copies = DonatableCopiesOf(graph);
    if (program.copies.empty()) continue;
    XP_TRY(program.subject, CallOf(run, id));
    program_of.emplace(identity, out.programs.size());
    copying.push_back(OpsOf(graph, program.copies));
    out.programs.push_back(std::move(program));
  }
  if (out.programs.empty()) return out;

  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ExecutionRow& row : executions->rows) {
    const auto program = program_of.find(graphs->IdentityOf(row.graph_id).value_or(""));
    if (program == program_of.end()) continue;
    ++out.programs[program->second].executions;
    if (!row.ts_ns || !row.dur_ns) continue;
    // Threads of a CPU's client do not say for which of its devices they work.
    std::string device = row.device.value_or("CPU:0");
    if (device.starts_with("CPU:")) device = "CPU:0";
    copying[program->second].times[{row.process_id.value_or(0), std::move(device)}].push_back(
        {*row.ts_ns, *row.ts_ns + *row.dur_ns});
  }
  for (CopyingProgram& program : copying) {
    for (auto& [device, times] : program.times)
      std::ranges::stable_sort(times, {}, &Interval::begin_ns);
  }
  XP_TRY(auto copies, CopyTimesOf(run, copying));
  XP_TRY(const DeviceTimes* devices, run.Get<DeviceTimes>());
  for (auto& [key, times] : copies) {
    const auto& [program, device] = key;
    for (const DeviceTime& time : devices->devices) {
      if (DeviceKey(time.process_id, time.device) != device) continue;
      auto& most = out.programs[program].measured;
      if (most && times.copy_ns <= most->times.copy_ns) continue;
      most = {.device = time.label,
              .on_host = time.on_host_threads,
              .times = times,
              .executions = int64_t(copying[program].times.at(device).size()),
              .span_ns = time.span().length_ns()};
    }
  }
  return out;
}

}  // namespace xlaprof

// Turns the events of one process of an XSpace into its facts: steps, compiles, executions and
// transfers.
//
// The reader hands over the few events that have a meaning (marks) and the beginnings and ends of
// the device's work. Write then puts them in order. No code here looks at bytes.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "profiler/import/graph/hlo_proto.h"
#include "profiler/import/importer.h"
#include "profiler/import/xspace/xspace_names.h"

namespace xlaprof {

// A host event with a role. Times are those of the store.
struct XMark {
  int64_t ts_ns = 0, end_ns = 0;
  XRole role = XRole::kNone;
  StringId name = 0;
  StringId text = 0;  // graph hash of kGraphCompile, module's name of kModule
  int64_t number =
      -1;  // step_num of kStep, bytes of copies and of kHostBuffer, run_id of kEnqueue; -1: not given
  int64_t device = -1;  // device_ordinal; -1: not given
  int64_t track_id = 0;
  int64_t offset = 0;  // byte in the source
  bool front = false;  // on a thread that runs the user's code
};

// A piece of work of a CPU client's thread or a GPU stream: one event with hlo_op.
struct XOp {
  int64_t ts_ns = 0, end_ns = 0;
  StringId name = 0;     // of the event: a GPU's kernel, or the op again
  StringId op = 0;       // hlo_op; ops may share a kernel, and launch several. 0: not given
  uint32_t program = 0;  // index given by Program()
  uint64_t flow = 0;     // flow out of the event; if it ends elsewhere, EndOf gives the end
  int64_t run_id = -1;   // -1: not given
  bool on_host = false;  // a host thread ran it
};

// An event of an `XLA Modules` line.
struct XModule {
  int64_t ts_ns = 0, end_ns = 0;
  OptInt program_id;  // from the name, jit_f(123)
  int64_t run_id = -1, device_ordinal = -1;
  StringId device = 0;
  std::string_view name;  // valid as long as the file is mapped
  int64_t offset = 0;
};

class XFacts {
 public:
  explicit XFacts(ImportContext& context) : context_(context) {}

  void Add(const XMark& mark) { marks_.push_back(mark); }
  void Add(const XOp& op) { ops_.push_back(op); }
  void Add(const XModule& module) { modules_.push_back(module); }
  // These add facts that the reader itself has found, with the track and, for an execution, the time
  // at which the host asked for it. Write sets their process, place in the order, step and scope.
  void Add(CompileRow row, int64_t offset) {
    given_.push_back({.ts_ns = row.ts_ns.value_or(0), .fact = std::move(row), .offset = offset});
  }
  void Add(ExecutionRow row, int64_t offset) {
    given_.push_back(
        {.ts_ns = row.enqueue_ts_ns.value_or(0), .fact = std::move(row), .offset = offset});
  }
  // Adds a step of a device's `Steps` line. They are used if no host annotation marks steps.
  void AddDeviceStep(int64_t ts_ns, int64_t end_ns, StringId name, int64_t offset, StringId device);
  // Notes that a device other than the host's CPU worked.
  void SawDeviceWork() { has_device_work_ = true; }
  // Notes that the op that produced `flow` ended by `ts_ns`.
  void EndOf(uint64_t flow, int64_t ts_ns) { ends_.emplace_back(flow, ts_ns); }
  // Returns a dense number for a program on a device.
  uint32_t Program(OptInt program_id, StringId device);
  void AddGraph(HloGraph graph, OptInt program_id) {
    if (program_id) graph_of_program_.try_emplace(*program_id, graph.graph_id);
    graphs_.push_back({std::move(graph), program_id});
  }

  absl::Status Write();

 private:
  struct Graph {
    HloGraph graph;
    OptInt program_id;
  };
  struct ProgramOnDevice {
    OptInt program_id;
    StringId device = 0;
  };
  struct Step {
    int64_t id = 0, ts_ns = 0, end_ns = 0;
  };
  struct Compile {
    const XMark* mark = nullptr;
    StringId hash = 0, module = 0;
    int64_t graph_id = 0;
    OptInt program_id;
    bool is_torchtpu = false;
  };
  // The device work of one execution.
  struct Run {
    int64_t ts_ns = INT64_MAX, end_ns = INT64_MIN;
    uint32_t program = 0;
    const XModule* module = nullptr;  // set if the run comes from a device's XLA Modules line
    int64_t work_ns = 0;              // sum of its ops, if it was told apart by their names
  };
  class DeviceQueues;
  // The execution that a mark of the host asked for.
  struct Request {
    CutKind cause = CutKind::kUnknown;
    const Compile* compiled = nullptr;  // if the mark's own sync compiled
    OptInt program_id;                  // of that compile
  };
  // A future row. Rows are numbered in the order in which they happened.
  struct Row {
    int64_t ts_ns = 0;
    // The alternatives are in the order of facts that begin together.
    std::variant<CompileRow, ExecutionRow, TransferRow> fact;
    int64_t offset = 0;
  };

  absl::Status WriteSteps();
  void FindCompiles();
  absl::Status JoinGraphs();
  void FindTransfers(std::vector<Row>& rows);
  void PlaceGiven(std::vector<Row>& rows);
  // These are in xspace_executions.cc.
  std::vector<Run> Runs();
  void FindExecutions(std::vector<Row>& rows);
  std::vector<const XMark*> MarksOf(XRole role) const;
  std::vector<Run> RunsWithModules(bool lazy, std::vector<const XModule*>& alone);
  void AddAloneModules(const std::vector<const XModule*>& alone, std::vector<Row>& rows) const;
  absl::flat_hash_map<const XMark*, int64_t> ReadWaits(XRole asking) const;
  Request RequestOf(const XMark& mark) const;
  void SetRun(const Run* run, const Request& request, ExecutionRow& out) const;
  void AddModuleRow(const XModule& module, const XMark* enqueue, std::vector<Row>& rows) const;
  ExecutionRow& Place(int64_t host_ts_ns, int64_t track_id, Row* row) const;
  void FindParents();
  const Step* StepAt(int64_t ts_ns) const;
  // Returns "outer/inner" of the user's scopes and steps that are open at `ts_ns` on a track. If
  // the track has none, it uses those of the thread that steps.
  std::string ScopeAt(int64_t ts_ns, int64_t track_id) const;
  CutKind CauseAt(const XMark& mark) const;
  bool MayHaveCaller(const XMark& mark) const;
  // Returns the innermost mark of a role that encloses `mark` on its track, or null if there is
  // none.
  const XMark* Around(const XMark& mark, XRole role) const;
  int64_t GraphOfProgram(OptInt program_id) const;
  // Returns the last compile that began on a track within a time range, or null if there is none.
  const Compile* LastCompile(int64_t track_id, int64_t from_ns, int64_t to_ns) const;
  void NameModules();

  ImportContext& context_;
  std::vector<XMark> marks_;  // in Write: by (start, -end)
  // For each mark, the innermost that encloses it on its track; -1: none.
  std::vector<int32_t> parents_;
  struct Extent {
    int64_t first_end_ns = INT64_MAX, last_begin_ns = INT64_MIN;
  };
  absl::flat_hash_map<int64_t, Extent> extents_;  // of the marks of each track
  // Marks of kScope and kStep by track, ordered by start.
  absl::flat_hash_map<int64_t, std::vector<int32_t>> scopes_of_track_;
  absl::flat_hash_map<int32_t, int32_t> last_step_mark_;  // by kStep mark: its last kStepMark
  bool has_calls_ = false;                                // there are calls of jitted functions by
                                                          // JAX
  int64_t main_track_id_ = 0;                             // the thread that steps
  std::vector<XOp> ops_;
  bool has_device_work_ = false;  // so ops on host threads only help the device's programs
  std::vector<XModule> modules_;
  std::vector<std::pair<uint64_t, int64_t>> ends_;
  std::vector<Graph> graphs_;
  absl::flat_hash_map<int64_t, int64_t> graph_of_program_;  // the first graph of each
  absl::flat_hash_map<std::pair<OptInt, StringId>, uint32_t> program_ids_;
  std::vector<ProgramOnDevice> programs_;
  struct DeviceStep {
    int64_t ts_ns, end_ns;
    StringId name, device;
    int64_t offset;
  };
  std::vector<DeviceStep> device_steps_;
  std::vector<Row> given_;
  std::vector<Step> steps_;        // by time
  std::vector<Compile> compiles_;  // by time
  absl::flat_hash_map<int64_t, std::vector<uint32_t>> compiles_of_track_;
};

}  // namespace xlaprof

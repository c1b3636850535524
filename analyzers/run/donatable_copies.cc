#include "analyzers/run/donatable_copies.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "analyzers/run/device_ops.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/tables.h"
#include "core/base/source_place.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

constexpr size_t kLongestCopies = 8;

// The times of the executions of one program on one device, sorted by start.
using Times = std::vector<Interval>;

// A copy that a device made.
struct CopyEvent {
  Interval time;
  int64_t event_id = 0;
};

// Finds the events of the programs' copies. Programs use the same names for their ops, so a copy
// belongs to the program that was executing.
class CopyReader {
 public:
  CopyReader(const Run& run, const std::vector<DonatableProgram>& programs,
             const std::map<std::pair<size_t, DeviceKey>, Times>& times)
      : store_(run.store()), run_(run), times_(times) {
    for (size_t p = 0; p < programs.size(); ++p) {
      for (const DonatableCopy& copy : programs[p].copies) programs_of_[copy.name].push_back(p);
    }
  }

  // Returns the copies of each program on each device.
  absl::StatusOr<std::map<std::pair<size_t, DeviceKey>, std::vector<CopyEvent>>> Read() {
    XP_TRY(const std::vector<TrackRow> tracks,
           run_.Rows<TrackRow>("WHERE kind IN ('host_thread', 'device', 'device_stream')"));
    EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
    const StringId op = store_.Find(TextOf(Category::kOp));
    if (op == 0 || programs_of_.empty()) return std::move(found_);
    options.categories = {op};
    std::map<int64_t, DeviceKey> device_of;
    for (const TrackRow& track : tracks) {
      device_of[track.id] = {track.process_id.value_or(0), track.device.value_or("CPU:0")};
      options.track_ids.push_back(track.id);
    }
    XP_TRY(EventScanner scanner, EventScanner::Make(store_, std::move(options)));
    EventBatch batch;
    while (true) {
      XP_TRY(bool more, scanner.Next(&batch));
      if (!more) return std::move(found_);
      const DeviceKey& device = device_of[batch.track_id];
      XP_TRY(const auto ops, OpsOf(batch));
      for (size_t i = 0; i < batch.size; ++i) {
        if (batch.category[i] != op || batch.dur_ns[i] <= 0) continue;
        const Interval time{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
        const size_t at = size_t(batch.first_index) + i;
        const Text* named = at < ops.size() && ops[at] ? std::get_if<Text>(&*ops[at]) : nullptr;
        for (size_t program : ProgramsOf(named == nullptr ? batch.name[i] : named->id)) {
          if (!IsDuring(program, device, time.begin_ns)) continue;
          found_[{program, device}].push_back({time, batch.first_event_id + int64_t(i)});
          break;
        }
      }
    }
  }

 private:
  // Returns the ops that the events of a GPU's streams, which are named after kernels, belong to.
  absl::StatusOr<std::vector<std::optional<ArgValue>>> OpsOf(const EventBatch& batch) const {
    const StringId key = store_.Find("hlo_op");
    if (key == 0) return std::vector<std::optional<ArgValue>>();
    return ReadArgumentColumn(store_, batch.chunk_id, key);
  }

  const std::vector<size_t>& ProgramsOf(StringId name) {
    auto [known, is_new] = programs_of_name_.try_emplace(name);
    if (is_new) {
      const auto found = programs_of_.find(OpName(store_.Text(name)));
      if (found != programs_of_.end()) known->second = found->second;
    }
    return known->second;
  }

  bool IsDuring(size_t program, const DeviceKey& device, int64_t ts_ns) const {
    const auto found = times_.find({program, device});
    if (found == times_.end()) return false;
    auto after = std::ranges::upper_bound(found->second, ts_ns, {}, &Interval::begin_ns);
    return after != found->second.begin() && ts_ns < std::prev(after)->end_ns;
  }

  const Store& store_;
  const Run& run_;
  const std::map<std::pair<size_t, DeviceKey>, Times>& times_;
  std::map<std::string, std::vector<size_t>, std::less<>> programs_of_;  // by the copy's name
  absl::flat_hash_map<StringId, std::vector<size_t>> programs_of_name_;
  std::map<std::pair<size_t, DeviceKey>, std::vector<CopyEvent>> found_;
};

// Returns the ids of optimised programs with a copy of a parameter.
absl::StatusOr<std::vector<int64_t>> Candidates(const Run& run) {
  std::vector<int64_t> ids;
  XP_TRY(run.store().Each(
      "SELECT DISTINCT c.graph_id FROM graph_node c JOIN graph g ON g.id = c.graph_id JOIN "
      "graph_node p ON p.graph_id = c.graph_id AND p.idx = CAST(c.operands AS INTEGER) WHERE "
      "g.printed_as = 'hlo_optimized' AND c.op = 'copy' AND c.computation IS NULL AND p.op = "
      "'parameter' AND p.shape = c.shape ORDER BY 1",
      [&](int64_t id) { ids.push_back(id); }));
  return ids;
}

// Sets the line that calls a program: that of its compilation, of its executions, or else the line
// of its result.
absl::Status SetSubject(const Run& run, const std::string& identity, DonatableProgram& program) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  auto take = [&](const auto& row) {
    if (!program.subject.file && graphs->IdentityOf(row.graph_id) == identity)
      program.subject = sites->SubjectOf(row.site_id);
  };
  XP_TRY(const Compiles* compiles, run.whole().Get<Compiles>());
  for (const CompileRow& row : compiles->rows) take(row);
  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ExecutionRow& row : executions->rows) take(row);
  program.subject.graph_hash = graphs->HashOf(program.graph_id);
  return absl::OkStatus();
}

// Sums the copies of one device. Copies of several threads may overlap.
DonatableProgram::Measured Sum(std::vector<CopyEvent> events, const DeviceTime& device,
                               int64_t executions) {
  DonatableProgram::Measured out{.device = device.label,
                                 .copies = int64_t(events.size()),
                                 .executions = executions,
                                 .span_ns = device.span().length_ns()};
  std::ranges::stable_sort(events, std::greater<>(),
                           [](const CopyEvent& e) { return e.time.length_ns(); });
  std::vector<Interval> times;
  for (const CopyEvent& event : events) {
    times.push_back(event.time);
    if (out.longest.size() < kLongestCopies) {
      out.longest.push_back({.table = "event",
                             .rows = {event.event_id},
                             .ts_ns = event.time.begin_ns,
                             .dur_ns = event.time.length_ns()});
    }
  }
  for (const Interval& time : Union(std::move(times))) out.copy_ns += time.length_ns();
  return out;
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
  XP_TRY(const std::vector<int64_t> candidates, Candidates(run));
  for (int64_t id : candidates) {
    const std::string identity = graphs->IdentityOf(id).value_or("");
    if (program_of.contains(identity)) continue;
    XP_TRY(const PrintedGraph graph, LoadGraph(run.store(), id));
    DonatableProgram program{.graph_id = id, .module = graph.name};
    program.copies = DonatableCopiesOf(graph);
    if (program.copies.empty()) continue;
    XP_TRY(SetSubject(run, identity, program));
    program_of.emplace(identity, out.programs.size());
    out.programs.push_back(std::move(program));
  }
  if (out.programs.empty()) return out;

  std::map<std::pair<size_t, DeviceKey>, Times> times;
  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ExecutionRow& row : executions->rows) {
    const auto program = program_of.find(graphs->IdentityOf(row.graph_id).value_or(""));
    if (program == program_of.end()) continue;
    ++out.programs[program->second].executions;
    if (!row.ts_ns || !row.dur_ns) continue;
    // Threads of a CPU's client do not say for which of its devices they work.
    std::string device = row.device.value_or("CPU:0");
    if (device.starts_with("CPU:")) device = "CPU:0";
    times[{program->second, {row.process_id.value_or(0), std::move(device)}}].push_back(
        {*row.ts_ns, *row.ts_ns + *row.dur_ns});
  }
  for (auto& [key, intervals] : times) std::ranges::stable_sort(intervals, {}, &Interval::begin_ns);
  XP_TRY(auto copies, CopyReader(run, out.programs, times).Read());
  XP_TRY(const DeviceTimes* devices, run.Get<DeviceTimes>());
  for (auto& [key, events] : copies) {
    const auto& [program, device] = key;
    for (const DeviceTime& time : devices->devices) {
      if (DeviceKey(time.process_id, time.device) != device) continue;
      auto& most = out.programs[program].measured;
      DonatableProgram::Measured here = Sum(events, time, int64_t(times[key].size()));
      if (!most || here.copy_ns > most->copy_ns) most = std::move(here);
    }
  }
  return out;
}

}  // namespace xlaprof

#include "analyzers/run/copy_times.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <variant>

#include "analyzers/run/async_ops.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr size_t kLongestCopies = 8;

// An op that a device ran.
struct ProgramOp {
  size_t execution = 0;  // number of the execution of the program on the device
  int op = 0;            // number in the program
  Interval time;         // of its event
  int64_t mark_ns = 0;   // when all parts of it were done; 0: not marked
  int64_t event_id = 0;
};
using ProgramOps = std::map<std::pair<size_t, DeviceKey>, std::vector<ProgramOp>>;

// Finds the events of the programs' ops. Programs use the same names for their ops, so an op
// belongs to the program that was executing.
class OpReader {
 public:
  OpReader(const Run& run, const AsyncOps& async, const std::vector<CopyingProgram>& programs)
      : store_(run.store()), run_(run), async_(async), programs_(programs) {
    for (size_t p = 0; p < programs.size(); ++p) {
      for (size_t i = 0; i < programs[p].ops.size(); ++i) {
        if (!programs[p].ops[i].empty()) programs_of_[programs[p].ops[i]].emplace_back(p, int(i));
      }
    }
  }

  // Returns the ops of each program on each device. Of devices other than the host's CPU, which run
  // one op after the other, only copies are returned.
  absl::StatusOr<ProgramOps> Read() {
    XP_TRY(const std::vector<TrackRow> tracks,
           run_.Rows<TrackRow>("WHERE kind IN ('host_thread', 'device', 'device_stream')"));
    EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
    const StringId op = store_.Find(TextOf(Category::kOp));
    if (op == 0 || programs_of_.empty()) return std::move(found_);
    options.categories = {op};
    std::map<int64_t, DeviceKey> device_of;
    for (const TrackRow& track : tracks) {
      device_of[track.id] = {track.process_id.value_or(0), track.device.value_or("")};
      options.track_ids.push_back(track.id);
    }
    XP_TRY(EachBatch(store_, std::move(options), [&](const EventBatch& batch) -> absl::Status {
      XP_TRY(const auto ops, OpsOf(batch));
      DeviceKey device = device_of[batch.track_id];
      const bool on_host = device.second.empty();
      if (on_host) device.second = "CPU:0";
      for (size_t i = 0; i < batch.size; ++i) {
        if (batch.category[i] != op || batch.dur_ns[i] <= 0) continue;
        const size_t at = size_t(batch.first_index) + i;
        const Text* named = at < ops.size() && ops[at] ? std::get_if<Text>(&*ops[at]) : nullptr;
        Add(device, on_host, named == nullptr ? batch.name[i] : named->id, batch, i);
      }
      return absl::OkStatus();
    }));
    return std::move(found_);
  }

 private:
  using NamedOp = std::pair<size_t, int>;  // program and op

  // Returns the ops that the events of a GPU's streams, which are named after kernels, belong to.
  absl::StatusOr<std::vector<std::optional<ArgValue>>> OpsOf(const EventBatch& batch) const {
    const StringId key = store_.Find("hlo_op");
    if (key == 0) return std::vector<std::optional<ArgValue>>();
    return ReadArgumentColumn(store_, batch.chunk_id, key);
  }

  void Add(const DeviceKey& device, bool on_host, StringId name, const EventBatch& batch,
           size_t i) {
    const Interval time{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
    const int64_t event_id = batch.first_event_id + int64_t(i);
    for (const auto& [program, op] : Named(name)) {
      if (!on_host && !programs_[program].is_copy[size_t(op)]) continue;
      const std::optional<size_t> execution = ExecutionAt(program, device, time.begin_ns);
      if (!execution) continue;
      const AsyncOp* async = on_host ? async_.Find(event_id) : nullptr;
      found_[{program, device}].push_back({.execution = *execution,
                                           .op = op,
                                           .time = time,
                                           .mark_ns = async == nullptr ? 0 : async->end_ns,
                                           .event_id = event_id});
      return;
    }
  }

  const std::vector<NamedOp>& Named(StringId name) {
    auto [known, is_new] = ops_of_name_.try_emplace(name);
    if (is_new) {
      const auto found = programs_of_.find(OpName(store_.Text(name)));
      if (found != programs_of_.end()) known->second = found->second;
    }
    return known->second;
  }

  std::optional<size_t> ExecutionAt(size_t program, const DeviceKey& device, int64_t ts_ns) const {
    const auto found = programs_[program].times.find(device);
    if (found == programs_[program].times.end()) return {};
    const std::vector<Interval>& times = found->second;
    const auto after = std::ranges::upper_bound(times, ts_ns, {}, &Interval::begin_ns);
    if (after == times.begin() || ts_ns >= std::prev(after)->end_ns) return {};
    return size_t(after - times.begin()) - 1;
  }

  const Store& store_;
  const Run& run_;
  const AsyncOps& async_;
  const std::vector<CopyingProgram>& programs_;
  std::map<std::string, std::vector<NamedOp>, std::less<>> programs_of_;  // by the op's name
  absl::flat_hash_map<StringId, std::vector<NamedOp>> ops_of_name_;
  ProgramOps found_;
};

// Moves the end of each op that goes on after its event to its mark, or to the start of the first
// op that waits for it.
void MoveEnds(const CopyingProgram& program, std::vector<ProgramOp>& ops) {
  std::map<std::pair<size_t, int>, std::vector<int64_t>> starts;  // of an op in an execution
  for (const ProgramOp& op : ops) starts[{op.execution, op.op}].push_back(op.time.begin_ns);
  for (auto& [key, times] : starts) std::ranges::sort(times);
  for (ProgramOp& op : ops) {
    if (op.mark_ns <= op.time.end_ns) continue;
    int64_t end_ns = op.mark_ns;
    for (const int user : program.users[size_t(op.op)]) {
      const auto found = starts.find({op.execution, user});
      if (found == starts.end()) continue;
      const auto first = std::ranges::upper_bound(found->second, op.time.begin_ns);
      if (first != found->second.end()) end_ns = std::min(end_ns, *first);
    }
    op.time.end_ns = std::max(op.time.end_ns, end_ns);
  }
}

// Returns the time of the copies, in which ops that run at the same time share it equally.
int64_t SharedTime(const CopyingProgram& program, const std::vector<ProgramOp>& ops) {
  struct Change {
    int64_t ts_ns = 0;
    bool is_copy = false;
    int by = 0;  // 1 at a start, -1 at an end
  };
  std::vector<Change> changes;
  for (const ProgramOp& op : ops) {
    const bool is_copy = program.is_copy[size_t(op.op)] != 0;
    changes.push_back({op.time.begin_ns, is_copy, 1});
    changes.push_back({op.time.end_ns, is_copy, -1});
  }
  std::ranges::sort(changes, {}, &Change::ts_ns);
  double shared_ns = 0;
  std::array<int64_t, 2> open = {};  // other ops, copies
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i > 0 && open[1] > 0) {
      shared_ns += double(changes[i].ts_ns - changes[i - 1].ts_ns) * double(open[1]) /
                   double(open[0] + open[1]);
    }
    open[size_t(changes[i].is_copy)] += changes[i].by;
  }
  return int64_t(shared_ns);
}

CopyTimes SumOf(const CopyingProgram& program, std::vector<ProgramOp> ops) {
  MoveEnds(program, ops);
  CopyTimes out{.copy_ns = SharedTime(program, ops)};
  std::erase_if(ops, [&](const ProgramOp& op) { return !program.is_copy[size_t(op.op)]; });
  out.copies = int64_t(ops.size());
  std::ranges::stable_sort(ops, std::greater<>(),
                           [](const ProgramOp& op) { return op.time.length_ns(); });
  if (ops.size() > kLongestCopies) ops.resize(kLongestCopies);
  for (const ProgramOp& op : ops) {
    out.longest.push_back({.table = "event",
                           .rows = {op.event_id},
                           .ts_ns = op.time.begin_ns,
                           .dur_ns = op.time.length_ns()});
  }
  return out;
}

}  // namespace

absl::StatusOr<std::map<std::pair<size_t, DeviceKey>, CopyTimes>> CopyTimesOf(
    const Run& run, const std::vector<CopyingProgram>& programs) {
  std::map<std::pair<size_t, DeviceKey>, CopyTimes> times;
  XP_TRY(const AsyncOps* async, run.Get<AsyncOps>());
  XP_TRY(ProgramOps ops, OpReader(run, *async, programs).Read());
  for (auto& [key, of_program] : ops) {
    CopyTimes sum = SumOf(programs[key.first], std::move(of_program));
    if (sum.copies > 0) times.emplace(key, std::move(sum));
  }
  return times;
}

}  // namespace xlaprof

#include "analyzers/run/device_reads.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_to_device.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_call.h"
#include "analyzers/run/user_code.h"
#include "base/source_place.h"
#include "profiler/store/ordered_events.h"
#include "profiler/vocabulary/calls.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

constexpr size_t kLongest = 5;
// Returns when executions ended, in order.
absl::StatusOr<std::vector<int64_t>> ExecutionEnds(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::vector<int64_t> ends_ns;
  for (const ExecutionRow& row : executions->rows) {
    if (row.ts_ns && row.dur_ns) ends_ns.push_back(*row.ts_ns + *row.dur_ns);
  }
  std::ranges::sort(ends_ns);
  return ends_ns;
}

enum class What : uint8_t {
  kOther,
  kStep,
  kScope,
  kPython,
  kRead,
  kCopy,
  kBlocks,
  kBlockingRead,
  kNumpy  // a call of NumPy, which blocks if it reads an array that is not ready
};

class Names {
 public:
  Names(const Store& store, absl::flat_hash_set<StringId> jax_waits)
      : store_(store),
        jax_waits_(std::move(jax_waits)),
        reads_(!jax_waits_.empty()),
        step_(store.Find(TextOf(Category::kStep))),
        scope_(store.Find(TextOf(Category::kScope))),
        python_(store.Find(TextOf(Category::kPython))),
        transfer_(store.Find(TextOf(Category::kTransfer))),
        host_(store.Find(TextOf(Category::kHost))) {
    for (const Op& op : TorchOps()) {
      const bool may_read = op.Has(OpTrait::kMayRead);
      if (!may_read && !op.Has(OpTrait::kReads)) continue;
      const StringId id = store.Find(op.name);
      if (id != 0) kind_of_[id] = may_read ? What::kCopy : What::kRead, reads_ = true;
    }
    for (const std::string& read : NamesOfCalls(CallTrait::kReads)) {
      if (StringId id = store.Find(read); id != 0) jax_reads_.insert(id), reads_ = true;
    }
    if (jax_reads_.empty()) return;  // a profile of JAX contains at least one
    // On a CPU, NumPy uses JAX's own memory, so that only Python's tracer sees its calls.
    for (const std::string& call : NamesOfCalls(CallTrait::kMayRead)) {
      if (StringId id = store.Find(call); id != 0) numpy_.insert(id);
    }
  }
  bool reads() const { return reads_; }
  What Of(StringId category, StringId name) {
    if (category == 0) return What::kOther;
    if (category == step_) return What::kStep;
    if (category == scope_) return What::kScope;
    if (category == python_) {
      return jax_waits_.contains(name) ? What::kBlockingRead
             : numpy_.contains(name)   ? What::kNumpy
                                       : What::kPython;
    }
    if (jax_reads_.contains(name)) return What::kBlockingRead;
    // The time of a copy that waits, such as one to pageable memory, includes the wait.
    if (category == transfer_) return What::kBlocks;
    auto [known, is_new] = kind_of_.try_emplace(name, What::kOther);
    if (is_new && FindCall(store_.Text(name)).kind == CallKind::kWaiting)
      known->second = What::kBlocks;
    return known->second == What::kBlocks && category != host_ ? What::kOther : known->second;
  }

 private:
  const Store& store_;
  const absl::flat_hash_set<StringId> jax_waits_;
  bool reads_;
  const StringId step_, scope_, python_, transfer_, host_;
  absl::flat_hash_map<StringId, What> kind_of_;
  absl::flat_hash_set<StringId> jax_reads_, numpy_;
};

struct OpenEvent {
  int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0;
  What what = What::kOther;
  bool copies_to_host = false;
};

// The properties that reads of one kind share.
struct ReadKey {
  StringId op = 0, scope = 0, python = 0;
  bool in_step = false;  // `scope` is a step's name
  auto operator<=>(const ReadKey&) const = default;
};

// Sweeps over the events of one thread in order, with a stack of open events.
class ReadSweep {
 public:
  // `first_step` is the name of the first step. Reads in all steps count as one place, although
  // each step has its own name. If `only_in_steps`, other reads are left out. `execution_ends_ns`
  // are sorted.
  ReadSweep(const Store& store, const UserCode& user, const std::vector<int64_t>& execution_ends_ns,
            bool only_in_steps, StringId& first_step, std::map<ReadKey, DeviceReads>& places)
      : store_(store),
        user_(user),
        execution_ends_ns_(execution_ends_ns),
        only_in_steps_(only_in_steps),
        first_step_(first_step),
        places_(places) {}

  void Take(OpenEvent event) {
    while (!stack_.empty() && stack_.back().end_ns <= event.begin_ns) Close();
    const bool by_numpy = event.what == What::kNumpy && IsCalledByUser() && IsWait(event);
    if (event.what == What::kNumpy) event.what = by_numpy ? What::kBlockingRead : What::kPython;
    // JAX's own event inside a call of NumPy says what is read.
    if (event.what == What::kBlockingRead && read_ != 0 && read_by_numpy_) read_ = blocking_ = 0;
    stack_.push_back(event);
    steps_ += event.what == What::kStep;
    in_steps_ += event.what == What::kStep;
    const bool blocks = event.what == What::kBlocks || event.what == What::kBlockingRead;
    const bool reads = event.what == What::kRead || event.what == What::kBlockingRead;
    if ((reads || event.what == What::kCopy) && read_ == 0)
      read_ = stack_.size(), blocked_ns_ = 0, is_read_ = false, read_by_numpy_ = by_numpy;
    is_read_ |= reads || event.copies_to_host;
    if (blocks && read_ != 0 && blocking_ == 0) {
      blocking_ = stack_.size();
      blocked_ns_ += event.end_ns - event.begin_ns;
    }
  }
  void CloseAll() {
    while (!stack_.empty()) Close();
  }
  int64_t steps() const { return steps_; }

 private:
  // Returns whether a call lasted until an execution ended, so that it may have waited for it. The
  // execution's own event ends a little later, because other threads have to wake up.
  bool IsWait(const OpenEvent& call) const {
    const int64_t late_ns = (call.end_ns - call.begin_ns) / 10;
    const auto end = std::ranges::upper_bound(execution_ends_ns_, call.begin_ns);
    return end != execution_ends_ns_.end() && *end <= call.end_ns + late_ns;
  }
  bool IsCalledByUser() {
    const auto caller = std::find_if(stack_.rbegin(), stack_.rend(), [](const OpenEvent& open) {
      return open.what == What::kPython;
    });
    return caller != stack_.rend() && IsUser(caller->name);
  }
  void Close() {
    if (blocking_ == stack_.size()) blocking_ = 0;
    if (read_ == stack_.size()) {
      if (is_read_ && blocked_ns_ > 0 && (in_steps_ > 0 || !only_in_steps_)) Count(stack_.back());
      read_ = 0;
    }
    in_steps_ -= stack_.back().what == What::kStep;
    stack_.pop_back();
  }
  void Count(const OpenEvent& read) {
    ReadKey place{.op = read.name};
    for (auto open = stack_.rbegin(); open != stack_.rend(); ++open) {
      const bool scope = open->what == What::kScope || open->what == What::kStep;
      if (scope && place.scope == 0)
        place.scope = open->name, place.in_step = open->what == What::kStep;
      if (open->what == What::kPython && place.python == 0 && IsUser(open->name))
        place.python = open->name;
    }
    if (place.in_step) place.scope = first_step_ == 0 ? first_step_ = place.scope : first_step_;
    DeviceReads& reads = places_[place];
    ++reads.count;
    reads.copies = read.what == What::kCopy;
    reads.blocked_ns += blocked_ns_;
    if (read.what == What::kBlockingRead)
      reads.all.push_back({read.begin_ns, read.end_ns - read.begin_ns});
    reads.longest.push_back({read.begin_ns, read.end_ns - read.begin_ns});
    std::ranges::stable_sort(reads.longest, std::greater(), &DeviceReads::Time::dur_ns);
    if (reads.longest.size() > kLongest) reads.longest.pop_back();
  }
  bool IsUser(StringId name) {
    auto [known, is_new] = is_user_.try_emplace(name, false);
    if (is_new) {
      known->second = user_.IsUserCall(SourcePlace::ParsePythonCall(store_.Text(name)));
    }
    return known->second;
  }

  const Store& store_;
  const UserCode& user_;
  const std::vector<int64_t>& execution_ends_ns_;
  const bool only_in_steps_;
  StringId& first_step_;
  std::map<ReadKey, DeviceReads>& places_;
  std::vector<OpenEvent> stack_;
  size_t read_ = 0, blocking_ = 0;  // depth of the outermost open one, from 1
  int64_t blocked_ns_ = 0;
  bool is_read_ = false;        // the outermost operation reads, and does not only copy
  bool read_by_numpy_ = false;  // the outermost operation is a call of NumPy
  int64_t steps_ = 0, in_steps_ = 0;
  absl::flat_hash_map<StringId, bool> is_user_;
};

// `to_host` are the flows of copies to the host.
absl::Status SweepTrack(OrderedEvents& events, int64_t track_id,
                        const absl::flat_hash_set<uint64_t>& to_host, Names& names,
                        ReadSweep& sweep) {
  XP_TRY(events.Open(track_id));
  EventBatch batch;
  const ChunkArguments* arguments = nullptr;
  while (true) {
    XP_TRY(bool more, events.Next(&batch, &arguments));
    if (!more) break;
    for (size_t i = 0; i < batch.size; ++i) {
      const What what = names.Of(batch.category[i], batch.name[i]);
      if (what == What::kOther || batch.dur_ns[i] <= 0) continue;
      sweep.Take({.begin_ns = batch.ts_ns[i],
                  .end_ns = batch.ts_ns[i] + batch.dur_ns[i],
                  .name = batch.name[i],
                  .what = what,
                  .copies_to_host = what == What::kBlocks && to_host.contains(batch.flow_out[i])});
    }
  }
  sweep.CloseAll();
  return absl::OkStatus();
}

// Returns the threads on which steps are marked.
absl::StatusOr<std::vector<int64_t>> StepThreads(const Store& store) {
  std::vector<int64_t> threads;
  const StringId step = store.Find(TextOf(Category::kStep));
  if (step == 0) return threads;
  EventScanner::Options options{.columns = kCategory, .categories = {step}};
  XP_TRY(store.Each("SELECT id FROM track WHERE kind = 'host_thread'",
                    [&](int64_t id) { options.track_ids.push_back(id); }));
  if (options.track_ids.empty()) return threads;
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    const bool known = !threads.empty() && threads.back() == batch.track_id;
    if (!known && std::ranges::find(batch.category, step) != batch.category.end())
      threads.push_back(batch.track_id);
  }));
  return threads;
}

// Returns the threads of the host whose calls lead to work of a device.
absl::StatusOr<std::vector<int64_t>> LaunchingThreads(const Store& store) {
  XP_TRY(const auto with_flows, TracksWithFlows(store));
  std::vector<int64_t> threads;
  XP_TRY(store.Each("SELECT id FROM track WHERE kind = 'host_thread' ORDER BY id", [&](int64_t id) {
    if (with_flows.contains(id)) threads.push_back(id);
  }));
  return threads;
}

void FillSubject(const Store& store, const ReadKey& place, DeviceReads& reads) {
  reads.op = store.Text(place.op);
  constexpr std::string_view kNumpyPrefix = "$numpy ";
  if (reads.op.starts_with(kNumpyPrefix)) {
    reads.op.replace(0, kNumpyPrefix.size(), "np.");
  } else if (reads.op.starts_with('$')) {
    reads.op = kJaxWait;
  }
  reads.subject.op = reads.op;
  reads.scope = place.scope, reads.in_step = place.in_step;
  if (place.python == 0) return;
  reads.subject.SetPlace(SourcePlace::ParsePythonCall(store.Text(place.python)));
}

}  // namespace

absl::StatusOr<DeviceReadsInSteps> DeviceReadsInSteps::Of(const Run& run) {
  const Store& store = run.store();
  DeviceReadsInSteps out;
  // The tracer does not see the method of an array with the same name.
  absl::flat_hash_set<StringId> jax_waits;
  for (const std::string_view function : FunctionsOfCalls(CallTrait::kReads)) {
    XP_TRY(auto names, NamesOfJaxCalls(store, function));
    jax_waits.merge(names);
  }
  Names names(store, std::move(jax_waits));
  if (!names.reads()) return out;
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  XP_TRY(std::vector<int64_t> threads, StepThreads(store));
  const bool has_steps = !threads.empty();
  if (!has_steps) {
    XP_TRY(threads, LaunchingThreads(store));
  }
  XP_TRY(const auto to_host, FlowsToOps(store, {"*DtoH*", "*DeviceToHost*"}));
  XP_TRY(const std::vector<int64_t> ends_ns, ExecutionEnds(run));
  std::map<ReadKey, DeviceReads> places;
  StringId first_step = 0;
  XP_TRY(OrderedEvents events,
         OrderedEvents::Make(store, kName | kCategory | kFlowOut, /*arguments=*/false));
  for (int64_t thread : threads) {
    ReadSweep sweep(store, *user, ends_ns, has_steps, first_step, places);
    XP_TRY(SweepTrack(events, thread, to_host, names, sweep));
    out.steps += sweep.steps();
  }
  for (auto& [place, reads] : places) {
    FillSubject(store, place, reads);
    out.places.push_back(std::move(reads));
  }
  std::ranges::stable_sort(out.places, std::greater(), &DeviceReads::blocked_ns);
  return out;
}

}  // namespace xlaprof

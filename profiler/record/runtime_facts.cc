#include "profiler/record/runtime_facts.h"

#include <iterator>
#include <utility>

#include "base/source_location.h"
#include "base/source_place.h"

namespace xlaprof::record {
namespace {

// A device queues some executions. The host waits for none that is older than the newest this many.
constexpr size_t kMaxNewest = 64;

std::string JoinedOperands(const std::vector<int32_t>& operands) {
  return fmt::to_string(fmt::join(operands, ","));
}


// Returns function@file:line, with the whole path that the compiler knew.
std::string PlaceText(const std::source_location& place) {
  return SourcePlace{place.file_name(), place.line(), FunctionName(place)}.TextWithFunction();
}

// Returns a place's file and line. Two source_location objects of one call may differ in their
// address.
std::pair<const void*, uint32_t> KeyOf(const std::source_location& place) {
  return {place.file_name(), place.line()};
}

}  // namespace

RuntimeFacts& RuntimeFacts::Get() {
  static RuntimeFacts& facts = *new RuntimeFacts;
  return facts;
}

void RuntimeFacts::Add(RuntimeFact fact) {
  std::lock_guard lock(mutex_);
  facts_.push_back(std::move(fact));
}

std::vector<RuntimeFact> RuntimeFacts::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(facts_, {});
}

void RuntimeFacts::PutBack(std::vector<RuntimeFact> facts) {
  std::lock_guard lock(mutex_);
  facts_.insert(facts_.begin(), std::make_move_iterator(facts.begin()),
                std::make_move_iterator(facts.end()));
}

absl::Status RuntimeFactWriter::Write(Store& store) {
  std::vector<RuntimeFact> news = RuntimeFacts::Get().Take();
  const size_t first = written_.size();
  // Moves all facts to written_ before the first is written, so that an error loses none.
  written_.insert(written_.end(), std::make_move_iterator(news.begin()),
                  std::make_move_iterator(news.end()));
  for (size_t i = first; i < written_.size(); ++i)
    XP_TRY(std::visit([&](const auto& told) { return Add(store, told); }, written_[i]));
  return absl::OkStatus();
}

void RuntimeFactWriter::Committed() {
  written_.clear();
  committed_ = now_;
}

void RuntimeFactWriter::RolledBack() {
  RuntimeFacts::Get().PutBack(std::exchange(written_, {}));
  now_ = committed_;
  newest_.clear();
  graphs_.clear();
  stacks_.clear();
  sites_.clear();
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::Graph& graph) {
  XP_TRY(int64_t id, store.Add(GraphRow{.process_id = process_id_,
                                        .hash = graph.hash,
                                        .name = graph.name,
                                        .node_count = int64_t(graph.nodes.size()),
                                        .input_count = graph.inputs,
                                        .output_count = graph.outputs,
                                        .printed_as = PrintedForm::kIrText}));
  graphs_[graph.hash] = id;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const observe::GraphNode& node = graph.nodes[i];
    XP_TRY(store.Add(GraphNodeRow{.graph_id = id,
                                  .idx = int64_t(i),
                                  .op = node.op,
                                  .shape = node.shape,
                                  .operands = JoinedOperands(node.operands),
                                  .attributes = TextOrNull(node.attributes),
                                  .scope = TextOrNull(node.scope),
                                  .location = PlaceText(node.location),
                                  .root = node.result,
                                  .name = fmt::to_string(i)}));
  }
  return absl::OkStatus();
}

// Adds a row with its process, its place in the order, and its call site.
template <class Row>
absl::StatusOr<int64_t> RuntimeFactWriter::AddFact(Store& store, Table table, Row row,
                                                   const observe::Stack& stack) {
  row.process_id = process_id_;
  row.ordinal = now_.ordinal++;
  XP_TRY(row.site_id, SiteOf(store, stack));
  if constexpr (requires { row.stack_id; }) {
    XP_TRY(row.stack_id, StackOf(store, stack));
  }
  XP_TRY(int64_t id, store.Add(row));
  if (now_.first_of_step[table] == 0) now_.first_of_step[table] = id;
  return id;
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::Compilation& compile) {
  XP_TRY(OptInt graph_id, GraphOf(store, compile.graph_hash));
  return internal::ToStatus(AddFact(store, kCompiles,
                                    CompileRow{.graph_id = graph_id,
                                               .ts_ns = compile.ts_ns - origin_ns_,
                                               .dur_ns = compile.dur_ns,
                                               .dur_from = TimeSource::kRecorded,
                                               .cause = ParseWord<CutKind>(compile.cause),
                                               .input_bytes = compile.argument_bytes,
                                               .output_bytes = compile.result_bytes,
                                               .alias_bytes = compile.alias_bytes,
                                               .temp_bytes = compile.temporary_bytes,
                                               .program_bytes = compile.program_bytes,
                                               .persistent_hit = compile.persistent_hit},
                                    compile.stack));
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::Execution& execution) {
  XP_TRY(OptInt graph_id, GraphOf(store, execution.graph_hash));
  XP_TRY(int64_t id, AddFact(store, kExecutions,
                             ExecutionRow{.graph_id = graph_id,
                                          .enqueue_ts_ns = execution.enqueue_ts_ns - origin_ns_,
                                          .ts_ns = execution.ts_ns - origin_ns_,
                                          .dur_ns = execution.dur_ns,
                                          .device = std::string(execution.device),
                                          .cause = ParseWord<CutKind>(execution.cause),
                                          .scope = TextOrNull(execution.scope)},
                             execution.stack));
  newest_.emplace_back(execution.run, id);
  if (newest_.size() > kMaxNewest) newest_.pop_front();
  return absl::OkStatus();
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::HostWait& wait) {
  for (const auto& [run, id] : newest_) {
    if (run != wait.run) continue;
    return store.Run(
        "UPDATE execution SET host_wait_ns = coalesce(host_wait_ns, 0) + ?2 WHERE id = ?1", id,
        wait.dur_ns);
  }
  return absl::OkStatus();
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::Transfer& transfer) {
  return internal::ToStatus(AddFact(
      store, kTransfers,
      TransferRow{.direction = transfer.to_device ? Direction::kToDevice : Direction::kFromDevice,
                  .bytes = transfer.bytes,
                  .ts_ns = transfer.ts_ns - origin_ns_,
                  .dur_ns = transfer.dur_ns,
                  .device = std::string(transfer.device),
                  .scope = TextOrNull(transfer.scope)},
      transfer.stack));
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::Fallback& fallback) {
  return internal::ToStatus(AddFact(
      store, kFallbacks, FallbackRow{.op = std::string(fallback.op), .count = 1}, fallback.stack));
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::Untied& untied) {
  XP_TRY(OptInt site_id, SiteOf(store, untied.stack));
  return internal::ToStatus(
      store.Add(UntiedWeightRow{.process_id = process_id_,
                                .ordinal = now_.ordinal++,
                                .names = fmt::to_string(fmt::join(untied.names, ", ")),
                                .copies = int64_t(untied.names.size()),
                                .bytes = untied.bytes,
                                .device = std::string(untied.device),
                                .site_id = site_id}));
}

absl::Status RuntimeFactWriter::Add(Store& store, const observe::LoaderEnd& end) {
  XP_TRY(OptInt site_id, SiteOf(store, end.stack));
  return internal::ToStatus(store.Add(LoaderEpochRow{.process_id = process_id_,
                                                     .ordinal = now_.ordinal++,
                                                     .devices = end.devices,
                                                     .batches = end.batches,
                                                     .dropped = end.dropped,
                                                     .site_id = site_id}));
}

// Adds a step. Facts since the step before it belong to this one.
absl::Status RuntimeFactWriter::Add(Store& store, const observe::Step& step) {
  XP_TRY(int64_t id, store.Add(StepRow{.process_id = process_id_,
                                       .ordinal = now_.step++,
                                       .number = step.number,
                                       .name = TextOrNull(step.name),
                                       .ts_ns = step.ts_ns - origin_ns_,
                                       .dur_ns = step.dur_ns}));
  // The + keeps SQLite from using the index of the process, which has all rows so far: the time of
  // a step would grow with the run.
  static constexpr const char* kSetStep[kTables] = {
      "UPDATE compile SET step_id = ?1 WHERE id >= ?2 AND +process_id = ?3",
      "UPDATE execution SET step_id = ?1 WHERE id >= ?2 AND +process_id = ?3",
      "UPDATE transfer SET step_id = ?1 WHERE id >= ?2 AND +process_id = ?3",
      "UPDATE fallback SET step_id = ?1 WHERE id >= ?2 AND +process_id = ?3"};
  for (size_t table = 0; table < kTables; ++table) {
    if (const int64_t first = std::exchange(now_.first_of_step[table], 0); first != 0)
      XP_TRY(store.Run(kSetStep[table], id, first, process_id_));
  }
  return absl::OkStatus();
}

absl::StatusOr<OptInt> RuntimeFactWriter::GraphOf(Store& store, const std::string& hash) {
  if (auto found = graphs_.find(hash); found != graphs_.end()) return OptInt(found->second);
  XP_TRY(auto known, store.One<int64_t>("SELECT id FROM graph WHERE process_id = ?1 AND hash = ?2",
                                        process_id_, hash));
  int64_t id = known.value_or(0);
  // A graph that was compiled before the recording began is known only by its hash.
  if (id == 0) {
    XP_TRY(id, store.Add(GraphRow{.process_id = process_id_, .hash = hash}));
  }
  graphs_[hash] = id;
  return OptInt(id);
}

absl::StatusOr<OptInt> RuntimeFactWriter::SiteOf(Store& store, const observe::Stack& stack) {
  if (stack.empty()) return OptInt();
  int64_t& id = sites_[KeyOf(stack.front())];
  if (id == 0) {
    XP_TRY(id, store.AddSite(FunctionName(stack.front()), stack.front().file_name(),
                             int64_t(stack.front().line())));
  }
  return OptInt(id);
}

absl::StatusOr<OptInt> RuntimeFactWriter::StackOf(Store& store, const observe::Stack& stack) {
  if (stack.empty()) return OptInt();
  std::vector<LineKey> key;
  for (const std::source_location& place : stack) key.push_back(KeyOf(place));
  int64_t& id = stacks_[key];
  if (id == 0) {
    std::vector<Store::Frame> frames;
    for (const std::source_location& place : stack)
      frames.push_back({.function = FunctionName(place),
                        .file = place.file_name(),
                        .line = int64_t(place.line()),
                        .owner = CodeOwner::kUser});
    XP_TRY(id, store.AddStack(frames));
  }
  return OptInt(id);
}

}  // namespace xlaprof::record

// With TORCH_TRACE, TorchTPU writes three records for each graph that it runs, all at once and up
// to five seconds later. Their payloads are indented by a tab:
//
//   V1124 23:31:49.031000 11490 torch_tpu/...:54] {"chromium_event": {}, "has_payload": "8428..."}
//     {"name":"torchtpu_eager/linear","ph":"X","ts":1795563107326044,"dur":21255,
//      "cat":"torchtpu_eager","pid":11490,"tid":0,
//      "args":{"cache_hit":false,"compile_failed":false,"reason":"synchronize()"}}
//   V1124 ... {"artifact": {"name": "torchtpu_eager_aten_graph", "encoding": "string",
//              "op_name": "torchtpu_eager/linear", ...}, "has_payload": "55cf..."}
//     # Graph: 2 ops, 3 inputs, reason: synchronize()
//     ...
//   V1124 ... {"artifact": {"name": "torchtpu_eager_stablehlo", ...}, "has_payload": "8172..."}
//     module @tt_jit_functional_L1777C0_relu_relu {
//     ...
//
// (records and the event are one line each). The name is that of the graph's first operation. Both
// graphs are empty if the program was in the cache. `dur` covers the lookup and the lowering;
// another thread compiles, so it is no compile time.
//
// What waits to run is divided into several graphs, which lie back to back: a step of training with
// one synchronize() has six. Only the execution of the last one gets the cause, so that the request
// counts once. The line that asked for it is not recorded, but each operation has its own.
#include "profiler/import/torch/torchtpu_cuts.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/source_place.h"
#include "profiler/import/graph/graph_rows.h"
#include "profiler/import/graph/stablehlo_text.h"
#include "profiler/import/graph/torchtpu_ops.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/rounds.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using CutJson = nlohmann::json;

constexpr std::string_view kEventBegin = "\t{\"name\":\"torchtpu_eager/";
constexpr std::string_view kOpPrefix = "torchtpu_eager/";
constexpr std::string_view kOpsArtifact = "torchtpu_eager_aten_graph";
constexpr std::string_view kStablehloArtifact = "torchtpu_eager_stablehlo";

constexpr std::string_view kModulePrefix = "tt_jit_";

// A graph that begins later than this after the one before it was asked for separately. Parts of
// one request lie ten microseconds apart, and 53 on a busy machine. Between two requests Python
// records operations and waits for them; that took at least 320 microseconds.
constexpr int64_t kMostBetweenPartsNs = 100'000;

// Returns the kind of a cut by the reason that TorchTPU gives.
CutKind CauseOfReason(std::string_view reason) {
  struct Reason {
    std::string_view word;
    CutKind kind;
  };
  static constexpr Reason kReasons[] = {{"synchronize()", CutKind::kSync},
                                        {".cpu()", CutKind::kValueAccess},
                                        {"item()", CutKind::kValueAccess},
                                        {"debug_mode", CutKind::kEagerOperation},
                                        {"repeated_op_heuristic", CutKind::kRepeatedOperations},
                                        {"autograd_post_backward", CutKind::kAfterBackward},
                                        {"distributed_op", CutKind::kCollective},
                                        {"compile_mode_execution", CutKind::kBeforeCompiled}};
  const auto* found = std::ranges::find(kReasons, reason, &Reason::word);
  return found == std::end(kReasons) ? CutKind::kUnknown : found->kind;
}

std::string TextMember(const CutJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string()
             ? ""
             : ToUtf8(found->get_ref<const std::string&>());
}

// Returns whether both cuts are parts of one request.
bool AreOneRequest(const TorchtpuCut& cut, const TorchtpuCut& next) {
  return cut.cause == next.cause && cut.cause != CutKind::kEagerOperation &&
         next.start_epoch_ns - (cut.start_epoch_ns + cut.dur_ns) <= kMostBetweenPartsNs;
}

// Returns whether a payload is an empty line, or has the end of its module.
bool IsWholeModule(std::string_view payload) {
  while (payload.ends_with('\n')) payload.remove_suffix(1);
  return payload == "\t" || payload.ends_with("\n\t}");
}

// Returns the line of the last operation of a graph that has one, or an empty place.
SourcePlace LastLine(const GraphText& graph) {
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (graph.nodes[i].location) return SourcePlace::Parse(*graph.nodes[i].location);
  }
  return {};
}

// Writes the steps if no cut marks one. Only the repetition of the operations shows them then.
// Returns the row of the step of each cut.
absl::StatusOr<std::vector<OptInt>> WriteRounds(const std::vector<TorchtpuCut>& cuts,
                                                int64_t process_id, int64_t offset_ns,
                                                ImportContext& context) {
  std::vector<OptInt> step_of_cut(cuts.size());
  if (std::ranges::find(cuts, CutKind::kSync, &TorchtpuCut::cause) != cuts.end())
    return step_of_cut;
  std::vector<std::string_view> ops;
  for (const TorchtpuCut& cut : cuts) ops.push_back(cut.op);
  const std::vector<Round> rounds = RoundsOf(ops);
  for (size_t r = 0; r < rounds.size(); ++r) {
    const auto [begin, end] = rounds[r];
    const int64_t begin_ns = cuts[begin].start_epoch_ns,
                  end_ns = end < cuts.size() ? cuts[end].start_epoch_ns
                                             : cuts.back().start_epoch_ns + cuts.back().dur_ns;
    XP_TRY(const int64_t step_id, context.store.Add(StepRow{.process_id = process_id,
                                                            .ordinal = int64_t(r),
                                                            .ts_ns = begin_ns + offset_ns,
                                                            .dur_ns = end_ns - begin_ns}));
    std::fill(step_of_cut.begin() + int64_t(begin), step_of_cut.begin() + int64_t(end), step_id);
  }
  return step_of_cut;
}

}  // namespace

bool TorchtpuCuts::Take(const TraceRecord& record) {
  ends_in_graph_ = false;
  const bool is_event = record.type == "chromium_event" && record.payload.starts_with(kEventBegin);
  const bool is_graph =
      record.type == "artifact" && (record.header.find(kOpsArtifact) != kNone ||
                                    record.header.find(kStablehloArtifact) != kNone);
  if (!is_event && !is_graph) return false;
  const bool is_read = is_event ? TakeEvent(record) : TakeGraph(record);
  if (!is_read && odd_records_++ == 0) first_odd_line_ = record.line;
  return true;
}

bool TorchtpuCuts::TakeEvent(const TraceRecord& record) {
  const CutJson event = CutJson::parse(record.payload, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return false;
  const auto ts = event.find("ts"), dur = event.find("dur"), args = event.find("args");
  if (ts == event.end() || !ts->is_number_integer() || args == event.end() || !args->is_object())
    return false;
  constexpr int64_t kMostUs = INT64_MAX / 4000;
  const auto ns_of = [&](const CutJson& us) {
    return std::clamp<int64_t>(us.get<int64_t>(), 0, kMostUs) * 1000;
  };
  TorchtpuCut cut{.offset = record.offset, .line = record.line, .start_epoch_ns = ns_of(*ts)};
  if (dur != event.end() && dur->is_number_integer()) cut.dur_ns = ns_of(*dur);
  cut.op = TextMember(event, "name").substr(kOpPrefix.size());
  cut.cause = CauseOfReason(TextMember(*args, "reason"));
  const auto is_set = [&](const char* key) {
    const auto found = args->find(key);
    return found != args->end() && *found == CutJson(true);
  };
  cut.is_hit = is_set("cache_hit");
  cut.has_failed = is_set("compile_failed");
  cuts_.push_back(std::move(cut));
  return true;
}

bool TorchtpuCuts::TakeGraph(const TraceRecord& record) {
  const CutJson header = CutJson::parse(record.header, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return false;
  const auto artifact = header.find("artifact");
  if (artifact == header.end() || !artifact->is_object()) return false;
  // All records of a cut lie together, so one of another operation has lost its event.
  if (cuts_.empty() ||
      TextMember(*artifact, "op_name") != fmt::format("{}{}", kOpPrefix, cuts_.back().op))
    return false;
  const bool is_ops = TextMember(*artifact, "name") == kOpsArtifact;
  (is_ops ? cuts_.back().ops : cuts_.back().stablehlo) = record.payload;
  ends_in_graph_ = is_ops || !IsWholeModule(record.payload);
  return true;
}

std::vector<TorchtpuCut> TorchtpuCuts::Finish() {
  if (ends_in_graph_) cuts_.back().ops = cuts_.back().stablehlo = {};
  std::ranges::stable_sort(cuts_, {}, &TorchtpuCut::start_epoch_ns);
  return std::move(cuts_);
}

absl::Status TorchtpuCutWriter::Begin() {
  if (const auto failed = std::ranges::find_if(cuts_, &TorchtpuCut::has_failed);
      failed != cuts_.end()) {
    XP_TRY(context_.Issue(
        "failed_graph", Severity::kWarning,
        "TorchTPU could not compile a graph, so the program raised an error there. The graph is not counted as executed.",
        failed->offset, failed->line, std::ranges::count_if(cuts_, &TorchtpuCut::has_failed)));
  }
  XP_TRY(step_of_cut_, WriteRounds(cuts_, process_id_, offset_ns_, context_));
  return absl::OkStatus();
}

absl::Status TorchtpuCutWriter::WriteBefore(OptInt epoch_ns) {
  for (; next_ < cuts_.size(); ++next_) {
    const TorchtpuCut& cut = cuts_[next_];
    if (epoch_ns && cut.start_epoch_ns >= *epoch_ns) break;
    if (cut.has_failed) continue;
    const bool is_last_part = next_ + 1 == cuts_.size() || !AreOneRequest(cut, cuts_[next_ + 1]);
    XP_TRY(Write(cut, is_last_part, step_of_cut_[next_]));
  }
  return absl::OkStatus();
}

absl::Status TorchtpuCutWriter::Write(const TorchtpuCut& cut, bool is_last_part, OptInt step_id) {
  std::optional<CutKind> cause;
  if (cut.cause != CutKind::kUnknown) cause = cut.cause;
  ExecutionRow execution{.process_id = process_id_,
                         .enqueue_ts_ns = cut.start_epoch_ns + offset_ns_,
                         .step_id = step_id};
  if (is_last_part) execution.cause = cause;
  if (cut.is_hit) {
    execution.graph_id = OnlyGraphOf(cut);
  } else {
    CompileRow compile{.process_id = process_id_,
                       .ordinal = context_.NextOrdinal(),
                       .ts_ns = cut.start_epoch_ns + offset_ns_,
                       .cause = cause,
                       .step_id = step_id,
                       .inferred = false};
    XP_TRY(compile.graph_id, GraphOf(cut, compile));
    XP_TRY(context_.Add(compile, cut.offset, cut.line));
    execution.graph_id = compile.graph_id;
  }
  execution.ordinal = context_.NextOrdinal();
  return internal::ToStatus(context_.Add(execution, cut.offset, cut.line));
}

OptInt TorchtpuCutWriter::OnlyGraphOf(const TorchtpuCut& cut) const {
  const auto known = by_op_.find(cut.op);
  if (known == by_op_.end() || !known->second.is_only) return {};
  return known->second.graph_id;
}

absl::StatusOr<OptInt> TorchtpuCutWriter::GraphOf(const TorchtpuCut& cut, CompileRow& compile) {
  const std::string ops = ToUtf8(TextOfPayload(cut.ops)),
                    stablehlo = ToUtf8(TextOfPayload(cut.stablehlo));
  GraphText graph = ParseTorchtpuOps(ops), program = ParseStableHloText(stablehlo);
  if (program.name.starts_with(kModulePrefix))
    compile.function = program.name.substr(kModulePrefix.size());
  if (graph.nodes.empty() && program.nodes.empty()) return OptInt();
  if (cut.cause == CutKind::kEagerOperation) {
    if (const SourcePlace place = LastLine(graph); !place.empty() && IsUserFile(place.file)) {
      XP_TRY(compile.site_id,
             context_.store.AddSite(place.function, place.file, place.line.value_or(0)));
    }
  }
  // The first line of the operations has the reason.
  const std::string_view identity =
      program.nodes.empty() ? std::string_view(ops).substr(std::min(ops.find('\n'), ops.size()))
                            : std::string_view(stablehlo);
  const std::string hash = HashOfLiteral(identity).substr(1);
  const auto [known, is_new] = by_hash_.try_emplace(hash);
  if (!is_new) return OptInt(known->second);
  // Regions and what reads their results belong to operations that are printed above.
  program.oddities.clear();
  OptInt printed;
  if (!graph.nodes.empty()) {
    GraphRow row{.process_id = process_id_, .hash = hash};
    if (!program.name.empty()) row.name = program.name;
    XP_TRY(printed, AddGraphRows(std::move(row), std::move(graph), cut.offset, cut.line, context_));
  }
  if (!program.nodes.empty()) {
    XP_TRY(const int64_t id, AddGraphRows(GraphRow{.process_id = process_id_, .hash = hash},
                                          std::move(program), cut.offset, cut.line, context_));
    if (!printed) printed = id;
  }
  known->second = *printed;
  const auto [same_op, is_first] = by_op_.try_emplace(cut.op, Known{*printed});
  if (!is_first) same_op->second.is_only = false;
  return printed;
}

}  // namespace xlaprof

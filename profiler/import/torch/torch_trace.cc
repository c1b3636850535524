// Reads torch's structured log (TORCH_TRACE=DIR): what torch.compile compiled, why again, and how long
// it took. trace_records.cc describes the records, and guard_failure.cc the reasons.
#include <algorithm>
#include <map>

#include "profiler/import/importer.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch/trace_compiles.h"
#include "profiler/import/torch/trace_records.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

int SniffTorchTrace(std::string_view head) { return IsTorchTrace(head) ? 97 : 0; }

absl::Status WriteIssues(const TraceCompiles& trace, ImportContext& context) {
  if (trace.is_cut) {
    XP_TRY(context.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        "The log ends inside a record: it was cut, or the run was killed or still runs. Everything before that is kept."));
  }
  if (trace.odd_lines > 0) {
    XP_TRY(context.Issue("odd_line", Severity::kInfo,
                         "A line belongs to no record of TORCH_TRACE, and was left out.", {},
                         trace.first_odd_line, trace.odd_lines));
  }
  if (trace.odd_records == 0) return absl::OkStatus();
  return context.Issue("odd_record", Severity::kWarning,
                       "A record of TORCH_TRACE is no valid JSON, and was left out.", {},
                       trace.first_odd_record_line, trace.odd_records);
}

// Returns the frame that shows where a function is compiled: the function itself, or the user's line
// that called it if it is a library's.
const Store::Frame* SiteOf(const TraceCompile& compile) {
  if (compile.function.is_user()) return &compile.function;
  const auto caller = std::ranges::find_if(compile.callers, &Store::Frame::is_user);
  if (caller != compile.callers.end()) return &*caller;
  return compile.function.file.empty() ? nullptr : &compile.function;
}

class Writer {
 public:
  Writer(ImportContext& context, int64_t process_id, int64_t epoch_ns, int64_t offset_ns,
         const std::vector<TraceExecution>& executions)
      : context_(context),
        process_id_(process_id),
        epoch_ns_(epoch_ns),
        offset_ns_(offset_ns),
        executions_(executions) {
    for (size_t i = 0; i < executions.size(); ++i) {
      if (executions[i].program) first_.try_emplace(*executions[i].program, i);
    }
  }

  // Returns whether the compilation made a program.
  static bool IsProgram(const TraceCompile& compile) {
    return compile.is_started && compile.has_ended && !compile.failure;
  }

  absl::Status Write(const TraceCompile& compile) {
    XP_TRY(WriteBreaks(compile));
    if (compile.limit) return WriteLimit(compile);
    if (compile.failure) return WriteFailure(compile);
    return IsProgram(compile) ? WriteCompile(compile) : absl::OkStatus();
  }

  // Writes the executions that come before a compilation: those that the log lists before it, and
  // those before the first one of its program, which runs right after it is compiled.
  absl::Status WriteExecutionsBefore(const TraceCompile& compile) {
    size_t end = executed_;
    while (end < executions_.size() && executions_[end].offset < compile.offset) ++end;
    if (const auto first = first_.find(compile.id()); first != first_.end())
      end = std::max(end, first->second);
    return WriteExecutionsUntil(end);
  }
  absl::Status WriteOtherExecutions() { return WriteExecutionsUntil(executions_.size()); }

 private:
  absl::Status WriteCompile(const TraceCompile& compile) {
    CompileRow row{.process_id = process_id_,
                   .ordinal = context_.NextOrdinal(),
                   .dur_ns = compile.dur_ns,
                   .cause = CutKind::kCompiledFunction,
                   .function = compile.function.function,
                   .inferred = false};
    row.ts_ns = TimeOf(compile);
    if (compile.dur_ns) row.dur_from = TimeSource::kLog;
    XP_TRY(row.graph_id, AddGraph(compile));
    XP_TRY(row.site_id, AddSiteOf(compile));
    XP_TRY(row.stack_id, AddStackOf(compile));
    XP_TRY(const int64_t id, context_.Add(row, compile.offset, compile.line));
    for (const CacheAnswer& answer : compile.caches) {
      XP_TRY(context_.store.Add(CacheLookupRow{.process_id = process_id_,
                                               .ordinal = cache_lookups_++,
                                               .compile_id = id,
                                               .cache = answer.cache,
                                               .result = answer.result,
                                               .key = TextOrNull(answer.key),
                                               .saved_ns = answer.saved_ns}));
    }
    for (size_t i = 0; i < compile.phase_ns.size(); ++i) {
      if (compile.phase_ns[i] == 0) continue;
      XP_TRY(context_.store.Add(CompilePhaseRow{
          .compile_id = id, .phase = CompilePhase(i), .dur_ns = compile.phase_ns[i]}));
    }
    return WriteReasons(id, compile);
  }

  // A failed compilation is none of the program's compilations, so it has a table of its own.
  absl::Status WriteFailure(const TraceCompile& compile) {
    const TraceFailure& failure = *compile.failure;
    CompileFailureRow row{.process_id = process_id_,
                          .ordinal = failures_++,
                          .function = TextOrNull(compile.function.function),
                          .ts_ns = TimeOf(compile),
                          .dur_ns = compile.dur_ns};
    SetFailure(failure.error, failure.text, row);
    XP_TRY(row.site_id, AddSiteOf(compile));
    XP_TRY(row.stack_id, AddStackOf(compile));
    if (!failure.place.empty()) {
      XP_TRY(row.failed_site_id, AddSite(failure.place));
    }
    return context_.Add(row, compile.offset, compile.line).status();
  }

  // A function that has reached its limit is no longer compiled.
  absl::Status WriteLimit(const TraceCompile& compile) {
    DynamoRecompileRow row{.process_id = process_id_,
                           .ordinal = limits_++,
                           .function = compile.function.function,
                           .programs = compile.limit,
                           .earlier = compile.program};
    XP_TRY(row.site_id, AddSiteOf(compile));
    if (!compile.reasons.empty()) {
      // The text begins with the number of the program that did not fit: "0/7: ".
      const GuardFailure& failure = compile.reasons.front().failure;
      const size_t begin = failure.program ? failure.text.find(' ') + 1 : 0;
      row.reason = ToBoundedUtf8(failure.text.substr(begin));
    }
    return context_.Add(row, compile.offset, compile.line).status();
  }

  absl::Status WriteBreaks(const TraceCompile& compile) {
    for (const TraceBreak& one : compile.breaks) {
      GraphBreakRow row{.process_id = process_id_,
                        .ordinal = breaks_++,
                        .function = TextOrNull(compile.function.function),
                        .code = TextOrNull(one.what.code),
                        .type = one.what.type,
                        .reason = one.what.reason,
                        .hint = TextOrNull(one.what.hint)};
      XP_TRY(row.site_id, AddSite(one.what.place));
      std::vector<Store::Frame> stack = one.what.frames;
      // A stack that ends in the function lacks what called it.
      if (!stack.empty() && stack.back().function == compile.function.function)
        stack.insert(stack.end(), compile.callers.begin(), compile.callers.end());
      if (!stack.empty()) {
        XP_TRY(row.stack_id, context_.store.AddStack(stack));
      }
      XP_TRY(context_.Add(row, one.offset, one.line));
    }
    return absl::OkStatus();
  }

  // Writes the executions before a place in their order.
  absl::Status WriteExecutionsUntil(size_t end) {
    for (; executed_ < end; ++executed_) {
      const TraceExecution& execution = executions_[executed_];
      ExecutionRow row{.process_id = process_id_,
                       .ordinal = context_.NextOrdinal(),
                       .cause = CutKind::kCompiledFunction};
      if (execution.program) {
        const auto graph = graphs_.find(*execution.program);
        if (graph != graphs_.end()) row.graph_id = graph->second;
      }
      XP_TRY(context_.Add(row, execution.offset, execution.line));
    }
    return absl::OkStatus();
  }
  // Adds the program that a compilation made.
  absl::StatusOr<int64_t> AddGraph(const TraceCompile& compile) {
    GraphRow graph{.process_id = process_id_,
                   .number = fmt::format("{}/{}", compile.frame, compile.program)};
    if (!compile.function.function.empty()) graph.name = compile.function.function;
    XP_TRY(const int64_t id, context_.Add(graph, compile.offset, compile.line));
    graphs_[compile.id()] = id;
    return id;
  }

  absl::Status WriteReasons(int64_t compile_id, const TraceCompile& compile) {
    for (size_t i = 0; i < compile.reasons.size(); ++i) {
      const TraceReason& reason = compile.reasons[i];
      CompileReasonRow row{.compile_id = compile_id,
                           .idx = int64_t(i),
                           .stated_by = StatedBy::kGuard,
                           .type = reason.failure.type,
                           .input = TextOrNull(reason.failure.input),
                           .before = TextOrNull(reason.failure.before),
                           .after = TextOrNull(reason.failure.after),
                           .text = reason.failure.text};
      if (reason.is_dynamic) row.is_dynamic = true;
      if (!reason.place.empty()) {
        XP_TRY(row.site_id, AddSite(reason.place));
      }
      XP_TRY(context_.store.Add(row));
    }
    return absl::OkStatus();
  }

  OptInt TimeOf(const TraceCompile& compile) const {
    if (!compile.start_epoch_ns) return {};
    return *compile.start_epoch_ns - epoch_ns_ + offset_ns_;
  }
  absl::StatusOr<int64_t> AddSite(const SourcePlace& place) {
    return context_.store.AddSite(place.function, place.file, place.line.value_or(0));
  }
  absl::StatusOr<OptInt> AddSiteOf(const TraceCompile& compile) {
    const Store::Frame* site = SiteOf(compile);
    if (site == nullptr) return OptInt();
    XP_TRY(const int64_t id, context_.store.AddSite(site->function, site->file, site->line));
    return id;
  }
  absl::StatusOr<int64_t> AddStackOf(const TraceCompile& compile) {
    std::vector<Store::Frame> stack = compile.callers;
    stack.insert(stack.begin(), compile.function);
    return context_.store.AddStack(stack);
  }

  ImportContext& context_;
  const int64_t process_id_, epoch_ns_, offset_ns_;
  int64_t breaks_ = 0, failures_ = 0, limits_ = 0, cache_lookups_ = 0;  // ordinals of rows
  const std::vector<TraceExecution>& executions_;
  std::map<TraceProgram, size_t> first_;    // execution of each program
  std::map<TraceProgram, int64_t> graphs_;  // rows
  size_t executed_ = 0;                     // executions that are written
};

absl::Status ReadTorchTrace(const Input& input, ImportContext& context) {
  const TraceCompiles trace = ReadTraceCompiles(input.bytes, context.progress);
  if (trace.records == 0) {
    return Invalid(
        "{}: it holds no record of TORCH_TRACE. xlaprof looked for lines such as 'V1124 23:20:15.918000 29823 torch/_dynamo/utils.py:1952] {{...}}'. Use the file that torch wrote, or name the format with --as",
        input.path);
  }
  XP_TRY(WriteIssues(trace, context));
  XP_TRY(const int64_t process_id, context.NewProcess({}, trace.pid, trace.rank));
  OptInt epoch_ns;
  for (const TraceCompile& compile : trace.compiles) {
    if (!compile.start_epoch_ns) continue;
    epoch_ns = std::min(epoch_ns.value_or(INT64_MAX), *compile.start_epoch_ns);
  }
  if (!trace.torchtpu_cuts.empty())
    epoch_ns = std::min(epoch_ns.value_or(INT64_MAX), trace.torchtpu_cuts.front().start_epoch_ns);
  int64_t offset_ns = 0;
  if (epoch_ns) {
    XP_TRY(offset_ns, context.AlignClock(*epoch_ns));
  }
  Writer writer(context, process_id, epoch_ns.value_or(0), offset_ns, trace.executions);
  TorchtpuCutWriter cuts(trace.torchtpu_cuts, process_id, offset_ns - epoch_ns.value_or(0),
                         context);
  XP_TRY(cuts.Begin());
  for (const TraceCompile& compile : trace.compiles) {
    if (compile.start_epoch_ns) XP_TRY(cuts.WriteBefore(compile.start_epoch_ns));
    if (Writer::IsProgram(compile)) XP_TRY(writer.WriteExecutionsBefore(compile));
    XP_TRY(writer.Write(compile));
  }
  XP_TRY(writer.WriteOtherExecutions());
  XP_TRY(cuts.WriteBefore({}));
  if (trace.torchtpu_cuts.empty()) return absl::OkStatus();
  return context.store.Run("UPDATE source SET framework = ?2 WHERE id = ?1", context.source_id,
                           TextOf(Framework::kTorchtpu));
}

}  // namespace

extern const Importer torch_trace{
    .name = "torch_trace",
    .summary = "TORCH_TRACE=DIR: torch.compile's structured log of what compiled, and why",
    .example = "dedicated_log_torch_trace_ymcos4ca.log",
    .sniff = SniffTorchTrace,
    .read = ReadTorchTrace,
    .maps_large_files = true,
    .framework = Framework::kPytorch,
    .has_own_folder = true};

}  // namespace xlaprof

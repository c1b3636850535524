#include "profiler/import/log/debug_rows.h"

#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

struct IssueText {
  const char* code;
  Severity severity;
  const char* advice;
};
constexpr IssueText kIssues[] = {
    {issue_codes::kCutFile, Severity::kWarning,
     "The log ends inside a block or line: the run was killed or still runs. Everything before that is kept."},
    {"headless_block", Severity::kInfo,
     "The log starts inside a block: the block's cause, graph and innermost Python frames are missing, so its line is not known. The block is counted."},
    {"headless_summary", Severity::kInfo,
     "Python frames of an exit summary come before its first FRAME line. The operation that they belong to is missing."},
    {"interleaved_blocks", Severity::kWarning,
     "A block began before the previous one ended, because several processes or threads write to this log. Hashes and counts are kept, mixed Python frames are not. Give each process its own PT_XLA_DEBUG_FILE."},
    {"invalid_utf8", Severity::kInfo, "Bytes that are not valid UTF-8 were replaced by U+FFFD."},
    {"post_without_compilation", Severity::kInfo,
     "A Post Compilation block has no Compilation block before it, as torch_xla prints for compilations on a thread without Python code, such as that of a backward pass: the cause, graph and line of this compilation are missing. If the log begins this way, the block is counted as a compilation."},
    {"unknown_block_line", Severity::kInfo,
     "A line inside a block has no known form and was left out."},
    {"unknown_cause", Severity::kInfo,
     "A cause line has an unknown wording. The cause was derived from the Python frames instead."},
    {"unknown_profiler_line", Severity::kInfo,
     "A pt-xla-profiler line has no known form and was left out."},
};

}  // namespace

absl::Status DebugWriter::WriteIssues() {
  for (const auto& [code, issue] : log_.issues) {
    for (const IssueText& text : kIssues) {
      if (code != text.code) continue;
      XP_TRY(reading_.context.Issue(text.code, text.severity, text.advice, issue.offset, issue.line,
                                    issue.count));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DebugWriter::Stack> DebugWriter::StackOf(int index) {
  if (index < 0) return Stack{};
  auto [found, added] = stacks_.try_emplace(index);
  if (added) {
    const std::vector<Store::Frame>& frames = log_.stacks[size_t(index)];
    XP_TRY(found->second.id, reading_.context.store.AddStack(frames));
    if (const Store::Frame* user = InnermostUser(frames)) {
      XP_TRY(found->second.site_id,
             reading_.context.store.AddSite(user->function, user->file, user->line));
    }
  }
  return found->second;
}

absl::StatusOr<OptInt> DebugWriter::GraphOf(int64_t process_id, const DebugFact& fact) {
  if (fact.hash.empty()) return OptInt();
  auto [found, added] = graphs_.try_emplace({process_id, fact.hash});
  if (added) {
    GraphRow row{.process_id = process_id,
                 .hash = fact.hash,
                 .node_count = fact.nodes,
                 .input_count = fact.inputs,
                 .output_count = fact.outputs};
    if (!fact.name.empty()) row.name = fact.name;
    if (!fact.input_shapes.empty()) row.printed_as = PrintedForm::kSignature;
    XP_TRY(found->second, reading_.context.Add(row, fact.offset, fact.line));
    for (size_t i = 0; i < fact.input_shapes.size(); ++i) {
      XP_TRY(reading_.context.store.Add(GraphNodeRow{.graph_id = found->second,
                                                     .idx = int64_t(i),
                                                     .op = "parameter",
                                                     .shape = ToUtf8(fact.input_shapes[i])}));
    }
  }
  return OptInt(found->second);
}

absl::Status DebugWriter::Write(const DebugFact& fact, int run) {
  XP_TRY(LogProcesses::Process * process,
         reading_.processes.Of(run, log_.origins[size_t(fact.origin)]));
  XP_TRY(Stack stack, StackOf(fact.stack));
  const std::optional<CutKind> cause = IfKnown(fact.cause);
  switch (fact.kind) {
    case DebugFact::kCompile: {
      XP_TRY(OptInt graph_id, GraphOf(process->id, fact));
      CompileRow row{.process_id = process->id,
                     .ordinal = process->next_ordinal++,
                     .graph_id = graph_id,
                     .dur_ns = fact.dur_ns,
                     .cause = cause,
                     .site_id = stack.site_id,
                     .stack_id = stack.id,
                     .input_bytes = fact.sizes[0],
                     .output_bytes = fact.sizes[1],
                     .alias_bytes = fact.sizes[2],
                     .temp_bytes = fact.sizes[3],
                     .program_bytes = fact.sizes[4]};
      if (!fact.name.empty()) row.function = fact.name;
      if (fact.dur_ns) row.dur_from = TimeSource::kLog;
      return internal::ToStatus(reading_.context.Add(row, fact.offset, fact.line));
    }
    case DebugFact::kExecution: {
      XP_TRY(OptInt graph_id, GraphOf(process->id, fact));
      return internal::ToStatus(
          reading_.context.Add(ExecutionRow{.process_id = process->id,
                                            .ordinal = process->next_ordinal++,
                                            .graph_id = graph_id,
                                            .dur_ns = fact.dur_ns,
                                            .cause = cause,
                                            .site_id = stack.site_id,
                                            .stack_id = stack.id},
                               fact.offset, fact.line));
    }
    case DebugFact::kProfilerLine:
      return internal::ToStatus(
          reading_.context.Add(ProfilerLineRow{.process_id = process->id,
                                               .ordinal = next_profiler_line_++,
                                               .rule = fact.rule,
                                               .samples = fact.samples,
                                               .steps = fact.steps,
                                               .text = fact.text},
                               fact.offset, fact.line));
    case DebugFact::kFallback: {
      FallbackRow row{.process_id = process->id,
                      .count = fact.count,
                      .site_id = stack.site_id,
                      .stack_id = stack.id};
      if (!fact.op.empty()) row.op = fact.op;
      return internal::ToStatus(reading_.context.Add(row, fact.offset, fact.line));
    }
  }
  return absl::OkStatus();
}

}  // namespace xlaprof

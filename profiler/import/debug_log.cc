// PT_XLA_DEBUG logs: debug_blocks.cc tells what they look like, debug_segments.cc where a run begins.
#include <algorithm>
#include <map>

#include "profiler/import/debug_blocks.h"
#include "profiler/import/importer.h"
#include "profiler/import/python_frames.h"

namespace xlaprof {
namespace {

int Sniff(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (has("Compilation Analysis: ====") || has("Execution Analysis: ====") || has("Execution Analysis: Execution Cause") ||
      has("Compilation Analysis: Compilation Cause")) {
    return 95;
  }
  // Markers that a log was left with after a filter or a cut.
  for (std::string_view label : {"Graph Hash: ", "Number of Graph ", "Python Frame Triggered", "Graph input size:"}) {
    size_t at = window.find(label);
    if (at != std::string_view::npos && window.substr(0, at).ends_with("Analysis:   ")) return 90;
    if (at != std::string_view::npos && window.substr(0, at).ends_with("Analysis: ")) return 90;
  }
  if (has("pt-xla-profiler: ") || has("Unlowered Op usage summary")) return 85;
  return has("pt-xla-profiler") || has("Computation hash: ") ? 5 : 0;
}

struct IssueText {
  const char *code, *severity, *advice;
};
constexpr IssueText kIssues[] = {
    {"cut_file", "warning", "The log ends inside a block or line: the run was killed or is still going on. What was whole is kept."},
    {"interleaved_blocks", "warning",
     "A block began before the one before it ended: several processes or threads write to this log. Hashes and counts "
     "are kept, mixed Python frames are not; give each process its own PT_XLA_DEBUG_FILE."},
    {"invalid_utf8", "info", "Bytes that are no UTF-8 were replaced by U+FFFD."},
    {"post_without_compilation", "info", "A Post Compilation block has no Compilation block before it; its sizes are not kept."},
    {"unknown_block_line", "info", "A line inside a block has no known form and was left out."},
    {"unknown_cause", "info", "A cause line has no known spelling; the cause is taken from the Python frames."},
    {"unknown_profiler_line", "info", "A pt-xla-profiler line has no known form and was left out."},
};

class Writer {
 public:
  Writer(const DebugLog& log, ImportContext& context) : log_(log), context_(context) {}

  absl::Status Write(std::span<const int> segments) {
    int last = segments.empty() ? 0 : *std::max_element(segments.begin(), segments.end());
    // Runs one after the other: origins of one run interleave, runs of one origin do not.
    for (int segment = 0; segment <= last; ++segment) {
      if (segment > 0) context_.Restart();
      processes_.clear();
      for (size_t i = 0; i < log_.facts.size(); ++i) {
        if (segments[i] == segment) XP_TRY(WriteFact(log_.facts[i]));
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Process {
    int64_t id = 0, next_ordinal = 0;
    std::map<std::string, int64_t> graphs;
  };
  struct Stack {
    OptInt id, site_id;
  };

  absl::StatusOr<Process*> ProcessOf(int origin) {
    auto [found, added] = processes_.try_emplace(origin);
    if (added) {
      const LogOrigin& from = log_.origins[size_t(origin)];
      if (processes_.size() == 1 && from == LogOrigin()) {
        XP_TRY(found->second.id, context_.ProcessId());
      } else {
        XP_TRY(found->second.id, context_.NewProcess(from.host, from.pid, from.rank));
      }
    }
    return &found->second;
  }

  absl::StatusOr<Stack> StackOf(int index) {
    if (index < 0) return Stack{};
    auto [found, added] = stacks_.try_emplace(index);
    if (added) {
      const std::vector<Store::Frame>& frames = log_.stacks[size_t(index)];
      XP_TRY(found->second.id, context_.store.AddStack(frames));
      if (const Store::Frame* user = InnermostUser(frames)) {
        XP_TRY(found->second.site_id, context_.store.AddSite(user->function, user->file, user->line));
      }
    }
    return found->second;
  }

  absl::StatusOr<OptInt> GraphOf(Process& process, const DebugFact& fact) {
    if (fact.hash.empty()) return OptInt();
    auto [found, added] = process.graphs.try_emplace(fact.hash);
    if (added) {
      GraphRow row{.process_id = process.id, .hash = fact.hash, .input_count = fact.inputs, .output_count = fact.outputs};
      if (!fact.name.empty()) row.name = fact.name;
      XP_TRY(found->second, context_.Add(row, fact.offset, fact.line));
    }
    return OptInt(found->second);
  }

  absl::Status WriteFact(const DebugFact& fact) {
    XP_TRY(Process * process, ProcessOf(fact.origin));
    XP_TRY(Stack stack, StackOf(fact.stack));
    OptText cause;
    if (!fact.cause.empty()) cause = fact.cause;
    switch (fact.kind) {
      case DebugFact::kCompile: {
        XP_TRY(OptInt graph_id, GraphOf(*process, fact));
        CompileRow row{.process_id = process->id, .ordinal = process->next_ordinal++, .graph_id = graph_id, .cause = cause,
                       .site_id = stack.site_id, .stack_id = stack.id,
                       .input_bytes = fact.sizes[0], .output_bytes = fact.sizes[1], .alias_bytes = fact.sizes[2],
                       .temp_bytes = fact.sizes[3], .program_bytes = fact.sizes[4]};
        if (!fact.name.empty()) row.function = fact.name;
        return internal::ToStatus(context_.Add(row, fact.offset, fact.line));
      }
      case DebugFact::kExecution: {
        XP_TRY(OptInt graph_id, GraphOf(*process, fact));
        return internal::ToStatus(context_.Add(
            ExecutionRow{.process_id = process->id, .ordinal = process->next_ordinal++, .graph_id = graph_id,
                         .cause = cause, .site_id = stack.site_id, .stack_id = stack.id},
            fact.offset, fact.line));
      }
      case DebugFact::kProfilerLine:
        return internal::ToStatus(context_.Add(
            ProfilerLineRow{.process_id = process->id, .ordinal = next_profiler_line_++, .rule = fact.rule,
                            .samples = fact.samples, .steps = fact.steps, .text = fact.text},
            fact.offset, fact.line));
      case DebugFact::kFallback: {
        FallbackRow row{.process_id = process->id, .count = fact.count, .site_id = stack.site_id, .stack_id = stack.id};
        if (!fact.op.empty()) row.op = fact.op;
        return internal::ToStatus(context_.Add(row, fact.offset, fact.line));
      }
    }
    return absl::OkStatus();
  }

  const DebugLog& log_;
  ImportContext& context_;
  std::map<int, Process> processes_;  // of this run, by origin
  std::map<int, Stack> stacks_;
  int64_t next_profiler_line_ = 0;
};

absl::Status Read(const Input& input, ImportContext& context) {
  DebugLog log = ParseDebugLog(input.bytes, context.progress);
  for (const auto& [code, issue] : log.issues) {
    for (const IssueText& text : kIssues) {
      if (code != text.code) continue;
      XP_TRY(context.Issue(text.code, text.severity, text.advice, issue.offset, issue.line, issue.count));
    }
  }
  if (log.facts.empty()) {
    return Invalid("{}: no PT_XLA_DEBUG output in its {} lines: looked for 'Compilation Analysis:', 'Execution Analysis:' "
                   "blocks, 'pt-xla-profiler:' lines and 'Unlowered Op usage summary'. Run with PT_XLA_DEBUG_LEVEL=2 "
                   "(and PT_XLA_DEBUG_FILE), or name the format with --as",
                   input.path, log.lines);
  }
  return Writer(log, context).Write(SegmentsOf(log));
}

}  // namespace

extern const Importer debug_log{"debug_log", "torch_xla with PT_XLA_DEBUG or PT_XLA_DEBUG_LEVEL: why graphs were cut and compiled",
                                "pt_xla_debug.log", Sniff, Read};

}  // namespace xlaprof

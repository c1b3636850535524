#include "analyzers/run/call_stacks.h"

#include <algorithm>

#include "analyzers/run/tables.h"
#include "profiler/vocabulary/code.h"

namespace xlaprof {
namespace {

template <class Row>
absl::Status AddRows(const Run& run, CallStacks& stacks) {
  XP_TRY(const Table<Row>* table, run.Get<Table<Row>>());
  auto& of_row = stacks.of_row[Row::kTable];
  for (const Row& row : table->rows) {
    if (row.stack_id) of_row[row.id] = *row.stack_id;
  }
  return absl::OkStatus();
}

bool Contains(const std::vector<CallFrame>& frames, const SourcePlace& place) {
  return std::ranges::any_of(frames,
                             [&](const CallFrame& frame) { return frame.place.IsLineOf(place); });
}

// Returns whether a line is in the function of a frame, which has the line of its definition. A function
// under torch.compile has such a frame.
bool IsInFunctionOf(const CallFrame& frame, const SourcePlace& line) {
  return !line.function.empty() && frame.place.function == line.function &&
         frame.place.file == line.file && frame.place.line && line.line &&
         *frame.place.line < *line.line;
}

// Returns whether a frame passes a call on, or cuts the graph for whoever called it.
bool OnlyPassesOn(const CallFrame& frame) {
  return frame.place.file.starts_with('<') ||
         FindPrintedCode(frame.place.file).Has(CodeTrait::kPassesOn);
}

}  // namespace

std::string TextInPackage(const SourcePlace& place) {
  return SourcePlace{std::string(PathInPackage(place.file)), place.line}.text();
}

const CallFrame* LibraryFrameOf(const std::vector<CallFrame>& frames) {
  for (const CallFrame& frame : frames) {
    if (frame.is_user) return nullptr;
    if (!OnlyPassesOn(frame)) return &frame;
  }
  return nullptr;
}

CallStack CallStacks::Of(const Finding& finding) const {
  if (!finding.subject.file || !finding.subject.line) return {};
  int64_t cited = 0;
  std::map<int64_t, int64_t> times;  // by stack
  for (const Evidence& evidence : finding.evidence) {
    const auto of_table = of_row.find(evidence.table);
    if (of_table == of_row.end()) continue;
    for (const int64_t row : evidence.rows) {
      ++cited;
      const auto stack = of_table->second.find(row);
      if (stack != of_table->second.end()) ++times[stack->second];
    }
  }
  CallStack most;
  int64_t most_times = 0;
  for (const auto& [id, count] : times) {
    const auto stack = by_id.find(id);
    const SourcePlace line = finding.subject.place();
    if (stack == by_id.end() || stack->second.empty()) continue;
    if (!Contains(stack->second, line) && !IsInFunctionOf(stack->second.front(), line)) continue;
    most.is_only = most.frames.empty();
    if (count <= most_times) continue;
    most.frames = stack->second, most_times = count;
    if (IsInFunctionOf(most.frames.front(), finding.subject.place()))
      most.frames.front().place.line = finding.subject.line;
  }
  return 2 * most_times > cited ? most : CallStack();
}

SourcePlace CallStacks::LibraryOf(OptInt stack_id) const {
  const auto stack = stack_id ? by_id.find(*stack_id) : by_id.end();
  const CallFrame* frame = stack == by_id.end() ? nullptr : LibraryFrameOf(stack->second);
  return frame == nullptr ? SourcePlace() : frame->place;
}

absl::StatusOr<CallStacks> CallStacks::Of(const Run& run) {
  CallStacks stacks;
  XP_TRY(const std::vector<FrameRow> frames, run.Rows<FrameRow>("ORDER BY stack_id, depth"));
  for (const FrameRow& row : frames) {
    if (!row.file) continue;
    stacks.by_id[row.stack_id].push_back({.place = {*row.file, row.line, row.function.value_or("")},
                                          .is_user = row.owner == CodeOwner::kUser});
  }
  XP_TRY(AddRows<CompileRow>(run, stacks));
  XP_TRY(AddRows<ExecutionRow>(run, stacks));
  XP_TRY(AddRows<FallbackRow>(run, stacks));
  XP_TRY(AddRows<CompileFailureRow>(run, stacks));
  XP_TRY(AddRows<GraphBreakRow>(run, stacks));
  return stacks;
}

}  // namespace xlaprof

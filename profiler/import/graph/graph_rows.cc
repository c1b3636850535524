#include "profiler/import/graph/graph_rows.h"

#include <algorithm>

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
     "The file ends inside a line: it was cut, or is still being written. Everything before that line is kept."},
    {"cut_labels", Severity::kInfo,
     "Labels of a dot graph are cut at 64 characters: shapes and attributes after that are unknown."},
    {"hash_collision", Severity::kWarning,
     "Graphs with the same hash are printed with different nodes. The first is kept for all of them. Compare them with an HLO dump (XLA_SAVE_TENSORS_FMT=hlo)."},
    {"invalid_utf8", Severity::kInfo, "Bytes that are not valid UTF-8 were replaced by U+FFFD."},
    {"more_modules", Severity::kWarning,
     "A text holds several HLO modules. Only the first one was read. Put each module into its own file."},
    {"no_entry", Severity::kWarning,
     "An HLO module has no ENTRY computation, because its text is cut. Everything before the cut is kept."},
    {"repeated_name", Severity::kWarning,
     "Two nodes of a graph have the same name. Operands of that name refer to the later node. The file may be damaged."},
    {"unknown_graph_form", Severity::kWarning,
     "A section's graph has none of the known forms (IR, HloModule, digraph, module). Its hash and frames are kept."},
    {"unknown_line", Severity::kInfo,
     "A line between two sections has no known form: another program writes to this file."},
    {"unknown_operand", Severity::kWarning,
     "A node names an operand that is not printed before it. The operand was left out. The file may be damaged."},
    {"unread_stablehlo", Severity::kInfo,
     "Lines of a StableHLO module could not be read and were left out: regions, called functions, and their edges. Set XLA_SAVE_TENSORS_FMT=hlo to get graphs that can be read completely."},
    {"unreadable_hash", Severity::kWarning,
     "A section's Graph Hash is not a hash. The graph is identified by its text instead."},
    {"unreadable_node", Severity::kWarning,
     "A line of a graph is not a node. It was left out. The file may be damaged or cut."},
};

}  // namespace

absl::Status AddGraphIssue(std::string_view code, const GraphText::Oddity& oddity, int64_t offset,
                           int64_t line, ImportContext& context) {
  const auto* text = std::find_if(std::begin(kIssues), std::end(kIssues),
                                  [&](const IssueText& t) { return code == t.code; });
  XP_CHECK(text != std::end(kIssues));
  return context.Issue(text->code, text->severity, text->advice, offset + oddity.offset,
                       line + oddity.line, oddity.count);
}

absl::StatusOr<int64_t> AddGraphRows(GraphRow row, GraphText graph, int64_t offset, int64_t line,
                                     ImportContext& context) {
  for (const auto& [code, oddity] : graph.oddities)
    XP_TRY(AddGraphIssue(code, oddity, offset, line, context));
  if (!row.input_count) row.input_count = graph.input_count;
  if (!row.output_count) row.output_count = graph.output_count;
  if (graph.printed_as != PrintedForm::kUnknown) {
    row.node_count = int64_t(graph.nodes.size());
    row.printed_as = graph.printed_as;
  }
  if (!row.name && !graph.name.empty()) row.name = std::move(graph.name);
  XP_TRY(int64_t id, context.Add(row, offset, line));
  for (GraphNodeRow& node : graph.nodes) {
    node.graph_id = id;
    XP_TRY(context.store.Add(node));
  }
  return id;
}

}  // namespace xlaprof

#include "profiler/import/xla/dumped_program.h"

#include "profiler/import/graph/graph_rows.h"
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/graph/printed_graph.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {

std::string_view WithoutNumber(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && digits + 1 < name.size() &&
                 name[digits] == '.'
             ? name.substr(0, digits)
             : name;
}

OptInt ModuleNumber(const Input& input) {
  const std::string_view path = input.path;
  const auto name = ParseXlaDumpName(path.substr(path.find_last_of('/') + 1));
  return name ? OptInt(name->module) : std::nullopt;
}

absl::StatusOr<DumpedProgram> AddPrintedProgram(const Input& input, bool is_cut,
                                                ImportContext& context) {
  if (is_cut) {
    XP_TRY(context.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        fmt::format(
            "The program's text ends at byte {}, before its last brace, so the graph is incomplete. Copy or dump it again.",
            input.bytes.size()),
        int64_t(input.bytes.size())));
  }
  GraphText graph = ParsePrintedGraph(input.bytes);
  DumpedProgram program{.module = graph.name, .call_site = graph.call_site};
  XP_TRY(int64_t process_id, context.ProcessId());
  XP_TRY(program.graph_id,
         AddGraphRows({.process_id = process_id, .program_id = ModuleNumber(input)},
                      std::move(graph), 0, 1, context));
  return program;
}

absl::Status AddCompile(const DumpedProgram& program, ImportContext& context) {
  XP_TRY(int64_t process_id, context.ProcessId());
  // JAX names its modules after the functions that it calls: jit_f.
  const std::string_view function = FunctionOfModule(program.module);
  CompileRow row{.process_id = process_id,
                 .ordinal = context.NextOrdinal(),
                 .graph_id = program.graph_id,
                 .function = std::string(WithoutNumber(function)),
                 .inferred = true};
  if (function != program.module) row.cause = CutKind::kCall;
  if (row.function->empty()) row.function.reset();
  if (const Store::Frame& site = program.call_site; !site.file.empty()) {
    XP_TRY(row.site_id, context.store.AddSite(site.function, site.file, site.line));
  }
  return internal::ToStatus(context.Add(row, 0));
}

}  // namespace xlaprof

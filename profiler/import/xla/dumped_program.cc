#include "profiler/import/xla/dumped_program.h"

#include "profiler/import/graph/jit_call_site.h"

namespace xlaprof {

// Turns "SyncTensorsGraph.5" into "SyncTensorsGraph", because the number counts nodes.
static std::string_view WithoutNumber(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && digits + 1 < name.size() &&
                 name[digits] == '.'
             ? name.substr(0, digits)
             : name;
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

// Reads folders of JAX_DUMP_IR_TO, and single modules of JAX: the StableHLO of each function that
// was compiled, in the order of the compilations. xla_dump_name.cc describes the names of the
// files, stablehlo_text.cc and mlir_locations.cc their content.
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/graph/printed_graph.h"
#include "profiler/import/importer.h"
#include "profiler/import/xla/dumped_program.h"

namespace xlaprof {
namespace {

// JAX names its modules after the functions that it compiles: module @jit_f. The modules of
// torch_xla are graphs of a dump.
int SniffJaxIr(std::string_view head) {
  // MLIR prints the names of many arguments before the module. Then nothing else may be in `head`.
  if (head.starts_with("#loc") && head.find("\nmodule ") == std::string_view::npos)
    return head.find(" = loc(") == std::string_view::npos ? 0 : 60;
  constexpr std::string_view kModule = "module @";
  const size_t at = head.find(kModule);
  if (at == std::string_view::npos || FormOf(head) != PrintedForm::kStablehlo) return 0;
  std::string_view name = head.substr(at + kModule.size());
  name = name.substr(0, name.find_first_of(" \n"));
  return FunctionOfModule(name) != name ? 90 : 0;
}

absl::Status ReadJaxIr(const Input& input, ImportContext& context) {
  if (FormOf(input.bytes) != PrintedForm::kStablehlo) {
    return Invalid(
        "{}: the file contains no StableHLO module. Name a file that JAX_DUMP_IR_TO=DIR wrote to DIR",
        input.path);
  }
  // The module's last brace comes before the locations.
  const bool is_cut = input.bytes.find("\n}") == std::string_view::npos;
  XP_TRY(const DumpedProgram program, AddPrintedProgram(input, is_cut, context));
  // A module that is not named after a function was not jitted. No compilation of its graph is
  // known.
  return FunctionOfModule(program.module) == program.module ? absl::OkStatus()
                                                            : AddCompile(program, context);
}

}  // namespace

extern const Importer jax_ir{.name = "jax_ir",
                             .summary = "JAX with JAX_DUMP_IR_TO: each compiled function",
                             .example = "jax_ir0003_jit_step_compile.mlir",
                             .sniff = SniffJaxIr,
                             .read = ReadJaxIr,
                             .framework = Framework::kJax,
                             .kind = SourceKind::kLowered};

}  // namespace xlaprof

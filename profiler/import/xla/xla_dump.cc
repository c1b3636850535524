// Reads folders of XLA's --xla_dump_to, and single HLO modules: text or HloProto. A folder has
// dozens of files per program. import.cc gives Read the program itself and then its list of
// buffers, and all files of one folder to one process. xla_dump_name.cc describes the names of the
// files, hlo_text.cc and hlo.proto their content. The folder shows no times and no executions.
#include "profiler/import/graph/hlo_proto.h"
#include "profiler/import/graph/printed_graph.h"
#include "profiler/import/importer.h"
#include "profiler/import/xla/dumped_program.h"

namespace xlaprof {
namespace {

// Returns whether a file begins like a serialised HloProto. Field 1 is a module, whose field 1, its
// name, is text. Field 2 of the module, the name of its entry, follows.
bool LooksLikeHloProto(std::string_view head) {
  size_t at = 0;
  auto varint = [&](uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && at < head.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(head[at++]);
      *value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  uint64_t size = 0, name = 0, entry = 0;
  if (head.empty() || head[at++] != '\x0a' || !varint(&size)) return false;
  if (at >= head.size() || head[at++] != '\x0a' || !varint(&name) || name == 0 || name > 1000 ||
      at + name >= head.size() || size < name)
    return false;
  for (unsigned char c : head.substr(at, name)) {
    if (c < 0x20) return false;
  }
  at += name;
  if (head[at++] != '\x12' || !varint(&entry) || entry == 0 || entry > 1000 ||
      at + entry >= head.size())
    return false;
  at += entry;
  return head[at] == '\x1a';  // its computations
}

// Returns whether the last line is the brace that ends a computation. Some versions of XLA print
// the computation's name after it: `} // main.11`.
bool EndsWithItsBrace(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n\r\t") + 1);
  const size_t line = text.rfind('\n');
  if (line == std::string_view::npos) return false;
  text.remove_prefix(line + 1);
  return text == "}" || text.starts_with("} //");
}

int SniffXlaDump(std::string_view head) {
  if (LooksLikeHloProto(head)) return 90;
  if (IsBufferAssignment(head)) return 90;
  return FormOf(head) == PrintedForm::kHlo ? 90 : 0;
}

absl::StatusOr<DumpedProgram> AddProgram(const Input& input, ImportContext& context) {
  if (FormOf(input.bytes) == PrintedForm::kHlo) {
    return AddPrintedProgram(input, !EndsWithItsBrace(input.bytes), context);
  }
  if (!LooksLikeHloProto(input.bytes)) return Invalid("it contains no HLO, neither text nor proto");
  XP_TRY(HloGraph graph, AddHloGraph(input.bytes, ModuleNumber(input), 0, context, HloForm::kTold));
  return DumpedProgram{.graph_id = graph.graph_id,
                       .module = std::move(graph.name),
                       .call_site = std::move(graph.call_site)};
}

absl::Status ReadXlaDump(const Input& input, ImportContext& context) {
  XP_TRY(int64_t process_id, context.ProcessId());
  if (IsBufferAssignment(input.bytes)) {
    const ProgramBytes bytes = ParseBufferAssignment(input.bytes);
    XP_TRY(auto compile_id, context.store.One<int64_t>(
                                "SELECT max(id) FROM compile WHERE process_id = ?1", process_id));
    if (!compile_id) {
      return Invalid(
          "{}: a buffer assignment cannot be read without its program. Name the directory that XLA dumped to",
          input.path);
    }
    return context.store.Run(
        "UPDATE compile SET input_bytes = ?2, output_bytes = ?3, alias_bytes = ?4, temp_bytes = ?5 "
        "WHERE id = ?1",
        *compile_id, bytes.input, bytes.output, bytes.alias, bytes.temp);
  }
  auto program = AddProgram(input, context);
  if (!program.ok()) {
    return Invalid(
        "{}: {}. Name XLA's text or proto of a module (--xla_dump_hlo_as_text, --xla_dump_hlo_as_proto)",
        input.path, Message(program.status()));
  }
  // The module that _get_xla_tensors_hlo() prints was never compiled in this form.
  return program->module.starts_with("IrToHlo") ? absl::OkStatus() : AddCompile(*program, context);
}

}  // namespace

extern const Importer xla_dump{.name = "xla_dump",
                               .summary = "XLA with --xla_dump_to: each compiled program",
                               .example = "module_0004.jit_step.before_optimizations.txt",
                               .sniff = SniffXlaDump,
                               .read = ReadXlaDump,
                               .kind = SourceKind::kCompiled};

}  // namespace xlaprof

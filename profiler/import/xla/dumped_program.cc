#include "profiler/import/xla/dumped_program.h"

#include "base/numbers.h"
#include "profiler/import/graph/graph_rows.h"
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/graph/printed_graph.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kTitle = "BufferAssignment:", kAllocation = "allocation ";

}  // namespace

bool IsBufferAssignment(std::string_view text) {
  return text.starts_with(kTitle) &&
         text.substr(kTitle.size(), 200).find(kAllocation) != std::string_view::npos;
}

// Each buffer has one line, and the values in it follow below:
//   allocation 1: size 1024, parameter 0, shape |f32[16,16]| at ShapeIndex {}:
//   allocation 4: size 16, output shape is |(f32[16,16], f32[])|, maybe-live-out:
//   allocation 12: size 536, preallocated-temp:
// Others are thread-local and constant. A parameter that lives out is donated.
ProgramBytes ParseBufferAssignment(std::string_view text) {
  constexpr int64_t kLargest = int64_t{1} << 60;
  ProgramBytes bytes;
  auto add = [](int64_t* sum, int64_t size) {
    if (*sum < kLargest) *sum += size;
  };
  for (Lines lines(text); lines.Next();) {
    const std::string_view line = lines.line();
    constexpr std::string_view kSize = ": size ";
    const size_t at = line.find(kSize);
    if (!line.starts_with(kAllocation) || at == std::string_view::npos) continue;
    std::string_view rest = line.substr(at + kSize.size());
    const int64_t size = TakeInteger(&rest).value_or(-1);
    if (size < 0 || size > kLargest) continue;
    auto has = [&](std::string_view word) { return rest.find(word) != std::string_view::npos; };
    const bool parameter = has(", parameter "), lives = has("maybe-live-out");
    if (parameter) add(&bytes.input, size);
    if (lives) add(&bytes.output, size);
    if (parameter && lives) add(&bytes.alias, size);
    if (!parameter && !lives && !has("constant") && !has("thread-local")) add(&bytes.temp, size);
  }
  return bytes;
}

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

#include "profiler/import/xla/xla_dump_name.h"

#include "base/numbers.h"

namespace xlaprof {
namespace {

std::string_view WithoutPacking(std::string_view name) {
  for (std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name;
}

// Parses jax_ir0003_jit_f_compile.mlir; the number had fewer digits once.
std::optional<XlaDumpName> ParseJaxDumpName(std::string_view name) {
  constexpr std::string_view kPrefix = "jax_ir";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  XlaDumpName out{.is_jax = true};
  std::string_view rest = name.substr(kPrefix.size());
  out.module = TakeInteger(&rest).value_or(-1);
  if (!rest.starts_with('_') || out.module < 0) return std::nullopt;
  out.stem = name.substr(0, name.find('.'));
  // Other stages (_export, _verification) belong to programs that may never be compiled.
  if (WithoutPacking(name).ends_with("_compile.mlir")) out.kind = XlaDumpName::kBefore;
  return out;
}

}  // namespace

// module_0004.jit_f.before_optimizations.txt          .hlo.pb, .hlo.pb.gz, .html, .dot
// module_0004.jit_f.cpu_after_optimizations.txt       sm_9.0_gpu_after_optimizations on GPUs
// module_0004.jit_f.cl_597.after_optimizations.txt    TPU; also after_codegen
// module_0004.jit_f.cpu_after_optimizations-buffer-assignment.txt, -live-range.txt,
//   -memory-usage-report.txt, -buffer-assignment-values.txt
// module_0004.jit_f.0003.simplification.after_x.before_y.txt      with --xla_dump_hlo_pass_re
// module_0004.jit_f.thunk_sequence.txt, .debug_options, .ir-with-opt.ll, .obj-file.k.o, .ptx
std::optional<XlaDumpName> ParseXlaDumpName(std::string_view name) {
  if (auto jax = ParseJaxDumpName(name)) return jax;
  constexpr std::string_view kModule = "module_";
  const size_t at = name.find(kModule);
  if (at == std::string_view::npos) return std::nullopt;
  if (at > 0 && (name[at - 1] != '.' || !IsDigits(name.substr(0, at - 1)))) return std::nullopt;
  XlaDumpName out;
  std::string_view rest = name.substr(at + kModule.size());
  out.module = TakeInteger(&rest).value_or(-1);
  if (!rest.starts_with('.') || out.module < 0) return std::nullopt;
  const std::string_view whole = name;
  name = WithoutPacking(name);
  const bool text = name.ends_with(".txt");
  out.is_proto = name.ends_with(".hlo.pb");
  auto is = [&](std::string_view what) {
    for (std::string_view type : {".txt", ".hlo", ".hlo.pb"}) {
      if (name.ends_with(std::string(what) + std::string(type))) return true;
    }
    return false;
  };
  if (is(".before_optimizations")) {
    out.kind = XlaDumpName::kBefore;
  } else if (is("after_optimizations") || is(".after_codegen")) {
    out.kind = XlaDumpName::kAfter;
  } else if (text && name.ends_with("-buffer-assignment.txt")) {
    out.kind = XlaDumpName::kBuffers;
  }
  const size_t stem_end = whole.find('.', whole.size() - rest.size() + 1);
  out.stem = whole.substr(0, stem_end);
  return out;
}

}  // namespace xlaprof

#include "core/debug/dump.h"

#include <fmt/format.h>

#include "core/ir/hlo_text.h"
#include "core/ir/stablehlo.h"

namespace xlaprof::lazy::debug {

std::string GraphText(const Program& program, std::string_view format, TextOptions options) {
  if (format == "hlo") return HloText(program, options);
  if (format == "dot") return DotText(program, options);
  if (format == "stablehlo") return StableHloText(program);
  return IrText(program, options);
}

std::string SectionBegin(const std::vector<std::string>& frames, std::span<const Hash> roots,
                         std::string_view graph) {
  std::string text = "[ScheduleSyncTensorsGraph]\nTensorsGraphInfo:\n";
  for (const std::string& frame : frames) text += fmt::format("  {}\n", frame);
  text += "\nRoot Hashes: (";
  const char* before = "";
  for (const Hash& root : roots) text += std::exchange(before, ", ") + root.ToText();
  return text + fmt::format(")\n\n## BEGIN_GRAPH\n{}", graph);
}

std::string SectionEnd(const Hash& hash) {
  return fmt::format("\nGraph Hash: {}\n\n## END_GRAPH\n\n", hash.ToText());
}

std::string HloSection(int64_t number, int64_t thread, std::string_view hlo) {
  return fmt::format("[HLO Graph {} From Thread {}]\n{}\n", number, thread, hlo);
}

}  // namespace xlaprof::lazy::debug

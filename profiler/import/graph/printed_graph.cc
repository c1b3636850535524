#include "profiler/import/graph/printed_graph.h"

#include "profiler/import/graph/hlo_text.h"
#include "profiler/import/graph/ir_dot.h"
#include "profiler/import/graph/ir_text.h"
#include "profiler/import/graph/stablehlo_text.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

bool IsPlain(std::string_view text) {
  for (char c : text) {
    if (static_cast<signed char>(c) <= 0) return false;
  }
  return true;
}

}  // namespace

PrintedForm FormOf(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = Trim(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line = Trim(line.substr(0, line.size() - 1));
    if (line.empty() || line.starts_with("//")) continue;
    if (line == "IR {") return PrintedForm::kIrText;
    if (line.starts_with("HloModule ")) return PrintedForm::kHlo;
    if (line.starts_with("digraph ")) return PrintedForm::kIrDot;
    if (line.starts_with("module @") || line.starts_with("module {") ||
        line.starts_with("module attributes"))
      return PrintedForm::kStablehlo;
    if (!line.starts_with('#')) return PrintedForm::kUnknown;  // MLIR's aliases begin with #
  }
  return PrintedForm::kUnknown;
}

GraphText ParsePrintedGraph(std::string_view text) {
  std::string repaired;
  int64_t bad = 0;
  if (!IsPlain(text)) {
    repaired = ToUtf8(text, &bad);
    if (bad > 0) text = repaired;
  }
  const PrintedForm form = FormOf(text);
  GraphText graph;
  if (form == PrintedForm::kIrText) graph = ParseIrText(text);
  if (form == PrintedForm::kIrDot) graph = ParseIrDot(text);
  if (form == PrintedForm::kHlo) graph = ParseHloText(text);
  if (form == PrintedForm::kStablehlo) graph = ParseStableHloText(text);
  if (bad > 0) graph.oddities["invalid_utf8"].count = bad;
  return graph;
}

}  // namespace xlaprof

#include "profiler/import/text/python_frames.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/numbers.h"
#include "base/source_place.h"

namespace xlaprof {
namespace {

// The functions of our own lazy runtime in a C++ program.
constexpr std::string_view kLazyRuntime = "xlaprof::lazy::";

// Returns the kind of cut of a step that a function of our runtime ended.
CutKind CauseFromLazyRuntime(std::string_view function) {
  if (function.ends_with("::next")) return CutKind::kParallelLoader;
  return function.ends_with("::~StepTrace") ? CutKind::kStepTraceExit : CutKind::kUserSync;
}

}  // namespace

std::optional<Store::Frame> ParseFrame(std::string_view line) {
  size_t end_of_line = line.find_last_not_of(" \t\r");
  if (end_of_line == std::string_view::npos || line[end_of_line] != ')') return std::nullopt;
  line = line.substr(0, end_of_line + 1);
  size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const OptInt number = ParseCount(line.substr(colon + 1, line.size() - colon - 2));
  if (!number) return std::nullopt;
  // "  <module> (/x/a (1).py:3)": the function ends at the first " (" after a word that two spaces
  // precede; the text before them is the prefix of a log collector. If the indentation was lost,
  // the function ends at the first " (".
  size_t begin = line.find_first_not_of(" \t");
  size_t open = line.find(" (", begin);
  if (open == std::string_view::npos || open > colon) return std::nullopt;
  for (size_t at = open; at < colon; at = line.find(" (", at + 1)) {
    size_t before = at == 0 ? std::string_view::npos : line.find_last_of(" \t", at - 1);
    size_t word = before == std::string_view::npos ? 0 : before + 1;
    bool indented =
        word >= 2 && word < at && std::isspace(static_cast<unsigned char>(line[word - 2]));
    if (indented) {
      begin = word, open = at;
      break;
    }
  }
  Store::Frame frame;
  frame.function = line.substr(begin, open - begin);
  frame.file = line.substr(open + 2, colon - open - 2);
  frame.line = *number;
  frame.owner = frame.function.starts_with(kLazyRuntime) ? CodeOwner::kTool : OwnerOf(frame.file);
  return frame;
}

std::optional<Store::Frame> ParseTracebackFrame(std::string_view line) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kIn = ", in ";
  const size_t file = line.find(kFile);
  if (file == line.npos) return std::nullopt;
  line.remove_prefix(file + kFile.size());
  const size_t number = line.find(kLine), in = line.find(kIn, number);
  if (number == line.npos || in == line.npos) return std::nullopt;
  const size_t digits = number + kLine.size();
  Store::Frame frame{.function = std::string(line.substr(in + kIn.size())),
                     .file = std::string(line.substr(0, number)),
                     .line = ParseCount(line.substr(digits, in - digits)).value_or(0)};
  frame.owner = OwnerOf(frame.file);
  return frame;
}

const Store::Frame* InnermostUser(std::span<const Store::Frame> frames) {
  for (const Store::Frame& frame : frames) {
    if (frame.is_user()) return &frame;
  }
  return nullptr;
}

std::string NearestLine(std::span<const Store::Frame> stack) {
  const Store::Frame* frame = InnermostUser(stack);
  if (frame == nullptr && !stack.empty()) frame = &stack.front();
  if (frame == nullptr) return "";
  return SourcePlace{frame->file, frame->line, frame->function}.TextWithFunction();
}

CutKind CauseFromFrames(std::span<const Store::Frame> frames) {
  if (frames.empty()) return CutKind::kUnknown;
  auto in = [](const Store::Frame& frame, std::string_view suffix) {
    return std::string_view(frame.file).ends_with(suffix);
  };
  const Store::Frame& first = frames[0];
  if (first.function.starts_with(kLazyRuntime)) return CauseFromLazyRuntime(first.function);
  if (first.function == "mark_step" || (first.function == "sync" && in(first, "torch_xla.py"))) {
    for (const Store::Frame& frame : frames.subspan(1)) {
      if (frame.function == "next" && in(frame, "parallel_loader.py"))
        return CutKind::kParallelLoader;
      if (frame.function == "__exit__" && in(frame, "profiler.py")) return CutKind::kStepTraceExit;
      if ((frame.function == "extract_compiled_graph_helper" ||
           frame.function == "extract_internal") &&
          in(frame, "dynamo_bridge.py")) {
        return CutKind::kDynamoInputs;
      }
      if (frame.function == "_compile" && in(frame, "torch_xla.py"))
        return CutKind::kTorchXlaCompile;
      if (frame.function == "_clear_pending_ops_before_compile" && in(frame, "torch_xla.py")) {
        return CutKind::kCompileClearPending;
      }
    }
    return CutKind::kUserSync;
  }
  if (first.function == "extract_graph_helper" && in(first, "dynamo_bridge.py"))
    return CutKind::kDynamoCompile;
  return CutKind::kValueAccess;
}

CutKind CauseFromText(std::string_view text) {
  // The first pattern that the line contains decides. Older versions say mark_step for
  // torch_xla.sync, and the documentation shows backticks and (), which are taken out first.
  std::string plain;
  for (char c : text) {
    if (c != '`' && c != '(' && c != ')') plain += c;
  }
  static constexpr std::array<std::pair<std::string_view, CutKind>, 11> kPatterns = {{
      {"clear the pending graph", CutKind::kCompileClearPending},
      {"in parallel loader", CutKind::kParallelLoader},
      {"exiting a profiler StepTrace", CutKind::kStepTraceExit},
      {"dynamo processing input graphs", CutKind::kDynamoInputs},
      {"dynamo is compiling", CutKind::kDynamoCompile},
      {"dynamo is executing", CutKind::kDynamoExecute},
      {"trying to access tensor value", CutKind::kValueAccess},
      {"torch_xla.compile", CutKind::kTorchXlaCompile},
      {"user torch_xla.sync", CutKind::kUserSync},
      {"user mark_step", CutKind::kUserSync},
      {"user code trying to access", CutKind::kValueAccess},
  }};
  for (const auto& [pattern, cause] : kPatterns) {
    if (plain.find(pattern) != std::string::npos) return cause;
  }
  return CutKind::kUnknown;
}

}  // namespace xlaprof

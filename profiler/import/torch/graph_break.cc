// A text of PyTorch 2.15:
//
//   Graph break in user code at /home/u/train.py:15
//   Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):
//
//   Unsupported Tensor.item() call with capture_scalar_outputs=False
//     Explanation: Dynamo does not support tracing `Tensor.item()` with ...
//     Hint: Set `torch._dynamo.config.capture_scalar_outputs = True` or ...
//
//     Developer debug context: call_method TensorVariable() item () {}
//
//    For more details about this graph break, please visit: https://.../gb/gb0124.html
//
//   User code traceback:
//     File "/home/u/train.py", line 28, in <module>
//       loss = block(x)
//     ...
//
// PyTorch 2.9 has the reason directly behind "Graph Break Reason:", and 2.6 has
// "Reason: Unsupported: Tensor.item" and nothing else before the traceback. A break that was printed
// before has "(details suppressed)" or "(user stack suppressed due to duplicate graph break)" behind
// its first two words.
#include "profiler/import/torch/graph_break.h"

#include <algorithm>

#include "base/numbers.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

constexpr std::string_view kBegin = "Graph break", kPlace = "in user code at ",
                           kTraceback = "User code traceback:", kHint = "Hint: ";
// Advice that tells nothing about the program.
constexpr std::string_view kEmptyHints[] = {"Please report an issue to PyTorch",
                                            "This graph break is fundamental",
                                            "It may be possible to write Dynamo tracing rules"};
// A sentence before the reason, which only says that there is one.
constexpr std::string_view kEncountered = "Encountered graph break when attempting to trace";

// Returns the text behind `label` if the line begins with it, apart from spaces.
std::optional<std::string_view> After(std::string_view line, std::string_view label) {
  line = Trim(line);
  if (!line.starts_with(label)) return {};
  return Trim(line.substr(label.size()));
}

// Reads the traceback of the program, which is outermost first.
std::vector<Store::Frame> FramesOf(std::string_view traceback) {
  std::vector<Store::Frame> frames;
  for (Lines lines(traceback); lines.Next();) {
    std::optional<Store::Frame> frame = ParseTracebackFrame(lines.line());
    if (!frame) continue;
    frame->function = ToUtf8(frame->function);
    frame->file = ToUtf8(frame->file);
    frame->owner = OwnerOf(frame->file);
    frames.push_back(*std::move(frame));
  }
  std::ranges::reverse(frames);
  return frames;
}

// Returns what a message of Dynamo says that it cannot trace: the line before its explanation.
// "Data-dependent branching\n  Explanation: ..." is "Data-dependent branching".
std::string UntraceableOf(std::string_view message) {
  for (Lines lines(message); lines.Next();) {
    std::string_view line = Trim(lines.line());
    for (std::string_view label : {"Graph Break Reason:", "Reason:", "Unsupported:"}) {
      if (const auto rest = After(line, label)) line = *rest;
    }
    if (line.empty() || line.starts_with(kEncountered)) continue;
    return ToBoundedUtf8(line);
  }
  return "";
}

// Returns the advice in a message of Dynamo, without what helps no user; "" if there is none.
std::string HintsOf(std::string_view message) {
  std::string hints;
  for (Lines lines(message); lines.Next();) {
    const auto hint = After(lines.line(), kHint);
    if (!hint || hint->empty()) continue;
    const bool is_empty = std::ranges::any_of(
        kEmptyHints, [&](std::string_view begin) { return hint->starts_with(begin); });
    if (is_empty) continue;
    if (!hints.empty()) hints += ' ';
    hints += *hint;
    if (!hints.ends_with('.')) hints += '.';
  }
  return ToBoundedUtf8(hints);
}

// Returns PyTorch's number of a reason, such as gb0124, from the address in a message; "" without one.
std::string ReasonCodeOf(std::string_view message) {
  constexpr std::string_view kFolder = "/gb/", kEnd = ".html";
  const size_t begin = message.find(kFolder);
  if (begin == kNone) return "";
  const std::string_view code = message.substr(begin + kFolder.size());
  const size_t end = code.find(kEnd);
  constexpr size_t kMostBytes = 16;
  if (end == kNone || end > kMostBytes) return "";
  return ToUtf8(code.substr(0, end));
}

// Returns kValueAccess if a line that cannot be traced reads a tensor's value, kDataDependentBranch if
// it branches on one, and kUntraceable for everything else.
ReasonType UntraceableType(std::string_view reason) {
  // The spellings of torch 2.6 to 2.15; some begin a sentence.
  constexpr std::string_view kReads[] = {"Tensor.item", ".item()", "tolist", "_local_scalar_dense"};
  constexpr std::string_view kBranches[] = {"ata-dependent branching", "ata-dependent jump",
                                            "generic_jump"};
  const auto is_in = [&](std::string_view part) { return reason.find(part) != kNone; };
  if (std::ranges::any_of(kBranches, is_in)) return ReasonType::kDataDependentBranch;
  return std::ranges::any_of(kReads, is_in) ? ReasonType::kValueAccess : ReasonType::kUntraceable;
}

ReasonType FailureType(std::string_view error, std::string_view message) {
  for (const std::string_view words : {"InvalidCxxCompiler", "No working C++ compiler"}) {
    if (message.find(words) != kNone) return ReasonType::kNoCompiler;
  }
  if (error == "BackendCompilerFailed" || error == "InductorError")
    return ReasonType::kBackendError;
  // The first line says what cannot be traced; the advice behind it may name other reasons.
  return error == "Unsupported" ? UntraceableType(message.substr(0, message.find('\n')))
                                : ReasonType::kUnknown;
}

// Returns the first line of a message, with the one that says what failed: PyTorch begins with
// "backend='inductor' raised:" and gives the reason in the next line.
std::string HeadOf(std::string_view message) {
  Lines lines(message);
  if (!lines.Next()) return "";
  std::string head(lines.line());
  if (head.ends_with("raised:") && lines.Next()) head += fmt::format(" {}", lines.line());
  return head;
}

}  // namespace

void SetFailure(std::string_view error, std::string_view message, CompileFailureRow& row) {
  row.error = TextOrNull(ToUtf8(error));
  row.text = TextOrNull(ToBoundedUtf8(message));
  row.type = FailureType(error, message);
  row.reason = TextOrNull(HeadOf(row.text.value_or("")));
  row.hint = TextOrNull(HintsOf(message));
}

std::optional<GraphBreak> ParseGraphBreak(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  const size_t at = first.find(kPlace);
  if (!first.starts_with(kBegin) || at == kNone) return {};
  const std::string_view place = Trim(first.substr(at + kPlace.size()));
  const size_t colon = place.rfind(':');
  if (colon == kNone) return {};
  GraphBreak result;
  result.place.file = ToUtf8(place.substr(0, colon));
  result.place.line = ParseCount(place.substr(colon + 1));
  std::string_view rest = text.substr(std::min(first.size() + 1, text.size()));
  const size_t traceback = rest.find(kTraceback);
  const std::string_view message = rest.substr(0, traceback);
  result.reason = UntraceableOf(message);
  result.type = UntraceableType(result.reason);
  result.hint = HintsOf(message);
  result.code = ReasonCodeOf(message);
  if (traceback != kNone) {
    // Dynamo's own stack follows, after an empty line.
    rest = rest.substr(traceback + kTraceback.size());
    result.frames = FramesOf(rest.substr(0, rest.find("\n\n")));
  }
  if (!result.frames.empty()) result.place.function = result.frames.front().function;
  return result;
}

}  // namespace xlaprof

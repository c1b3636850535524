#include "profiler/import/torch/guard_failure.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Takes "0/3: " and returns 3.
OptInt TakeProgram(std::string_view* text) {
  const size_t end = text->find_first_not_of("0123456789/");
  if (end == kNone || !text->substr(end).starts_with(": ")) return {};
  const std::string_view id = text->substr(0, end);
  const size_t slash = id.find('/');
  if (slash == kNone) return {};
  text->remove_prefix(end + 2);
  return ParseCount(id.substr(slash + 1));
}

// Returns the place that ends `text`, as in "... # for i in range(n):  # prog/a.py:7 in unroll". What
// PyTorch adds in parentheses has to be removed before.
SourcePlace PlaceAtEnd(std::string_view text) {
  const size_t hash = text.rfind("# "), in = text.rfind(" in ");
  if (hash == kNone || in == kNone || in < hash) return {};
  const std::string_view place = text.substr(hash + 2, in - hash - 2);
  const size_t colon = place.rfind(':');
  if (colon == kNone) return {};
  const OptInt line = ParseCount(place.substr(colon + 1));
  if (!line || !place.substr(0, colon).ends_with(".py")) return {};
  return {.file = std::string(place.substr(0, colon)),
          .line = *line,
          .function = std::string(Trim(text.substr(in + 4)))};
}

// Returns the last frame of the user's that PyTorch 2.15 prints below the text:
//   User stack trace:
//     File "/x/train.py", line 14, in forward
//       self.calls += 1
SourcePlace PlaceInStack(std::string_view text) {
  SourcePlace place;
  for (Lines lines(text); lines.Next();) {
    const std::optional<Store::Frame> frame = ParseTracebackFrame(lines.line());
    if (!frame || !frame->is_user()) continue;
    place = {.file = frame->file, .line = frame->line, .function = frame->function};
  }
  return place;
}

// Returns whether a path, of which PyTorch prints only the last folders, is one of its own.
bool IsTorchs(std::string_view file) {
  return file.starts_with("nn/modules/") || file.starts_with("modules/") ||
         file.starts_with("_dynamo/") || file.starts_with("_inductor/") ||
         file.starts_with("optim/") || !IsUserFile(file);
}

// Removes the parts in parentheses that end a text: PyTorch's hints, and its own line.
std::string_view WithoutParentheses(std::string_view text) {
  text = Trim(text);
  while (text.ends_with(')')) {
    int depth = 0;
    size_t open = text.size();
    while (open > 0) {
      --open;
      depth += text[open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
      if (depth == 0) break;
    }
    // A call such as f(x) is no remark.
    if (depth != 0 || open == 0 || text[open - 1] != ' ') break;
    text = Trim(text.substr(0, open));
    if (text.ends_with(" and")) text = Trim(text.substr(0, text.size() - 4));
  }
  return text;
}

// Takes "'x'" and returns x, which may hold quotes itself: 'kwargs['ids']'.
std::string TakeQuoted(std::string_view* text, std::string_view behind) {
  if (!text->starts_with('\'')) return "";
  const size_t end = text->find(behind);
  if (end == kNone || end < 1) return "";
  std::string name(text->substr(1, end - 1));
  text->remove_prefix(end + behind.size());
  return name;
}

// Reads "expected 64, actual 48", and "expected requires_grad=0".
void TakeExpected(std::string_view text, GuardFailure& failure) {
  constexpr std::string_view kExpected = "expected ", kActual = ", actual ";
  const size_t expected = text.find(kExpected), actual = text.rfind(kActual);
  if (expected == kNone) return;
  const size_t from = expected + kExpected.size();
  failure.before = Trim(text.substr(from, actual == kNone ? actual : actual - from));
  if (actual == kNone) return;
  std::string_view after = text.substr(actual + kActual.size());
  if (!after.starts_with("Dispatch")) after = after.substr(0, after.find_first_of(" #,;"));
  if (after.ends_with('.')) after.remove_suffix(1);  // more sentences follow
  failure.after = after;
}

// Reads "tensor 'x' size mismatch at index 0. expected 64, actual 48".
bool TakeTensor(std::string_view text, GuardFailure& failure) {
  if (!TakePrefix(&text, "tensor ")) return false;
  static constexpr std::pair<std::string_view, ReasonType> kKinds[] = {
      {"size mismatch", ReasonType::kShapeChange},
      {"rank mismatch", ReasonType::kShapeChange},
      {"stride mismatch", ReasonType::kLayoutChange},
      {"dtype mismatch", ReasonType::kDtypeChange},
      {"requires_grad mismatch", ReasonType::kGradientChange},
      {"dispatch key set mismatch", ReasonType::kDeviceChange}};
  const auto* kind =
      std::ranges::find_if(kKinds, [&](const auto& of) { return text.find(of.first) != kNone; });
  if (kind == std::end(kKinds)) return false;
  failure.type = kind->second;
  failure.input = NameInFailures(TakeQuoted(&text, "' "));
  constexpr std::string_view kIndex = " at index ";
  if (const size_t at = text.find(kIndex); at != kNone) {
    const std::string_view digits = text.substr(at + kIndex.size());
    failure.dimension = ParseCount(digits.substr(0, digits.find_first_not_of("0123456789")));
  }
  TakeExpected(text, failure);
  if (failure.type == ReasonType::kShapeChange && !failure.dimension) {
    for (std::string* rank : {&failure.before, &failure.after}) {
      if (!rank->empty()) *rank = "rank " + *rank;
    }
  }
  // torch prints requires_grad=0 for a program that was compiled without gradients.
  if (failure.type == ReasonType::kGradientChange && failure.after.empty() &&
      (failure.before == "requires_grad=0" || failure.before == "requires_grad=1"))
    failure.after = failure.before.ends_with('0') ? "requires_grad=1" : "requires_grad=0";
  return true;
}

// Reads a check of values, without its remark: "start == 2", "2 <= x.size()[0] <= 10", "a is b".
void TakeCheck(std::string_view check, GuardFailure& failure) {
  if (check.starts_with("___check_obj_id") || check.starts_with("___check_type_id") ||
      check.starts_with("CodeGuardAccessor") || check.starts_with("ClosureGuardAccessor")) {
    const size_t open = check.find('('), end = check.find_first_of(",)", open);
    if (open != kNone && end != kNone)
      failure.input = NameInFailures(check.substr(open + 1, end - open - 1));
    const bool is_function = check.find("__code__") != kNone || check.find(".func") != kNone ||
                             !check.starts_with("___check");
    failure.type = is_function ? ReasonType::kRedefinedFunction : ReasonType::kConstantChange;
    return;
  }
  if (check.find(".size()[") != kNone && check.find("<=") != kNone) {
    failure.type = ReasonType::kShapeChange;
    const size_t size = check.find(".size()[");
    const size_t begin = check.substr(0, size).find_last_of(" (") + 1;  // npos + 1: the first
    failure.input = NameInFailures(check.substr(begin, size - begin));
    failure.before = check;
    return;
  }
  if (const size_t is = check.find(" is "); is != kNone && check.substr(is) != " is None") {
    failure.type = ReasonType::kParameterSharingChange;
    failure.input = NameInFailures(check);
    return;
  }
  for (std::string_view sign : {" == ", " is "}) {
    const size_t at = check.find(sign);
    if (at == kNone) continue;
    failure.input = NameInFailures(Trim(check.substr(0, at)));
    failure.before = Trim(check.substr(at + sign.size()));
    failure.type = failure.input.starts_with("len(") ? ReasonType::kInputStructureChange
                                                     : ReasonType::kConstantChange;
    return;
  }
}

}  // namespace

std::string WholePathBeside(std::string_view end, std::string_view known) {
  constexpr size_t kLost = 2;  // the slash and the character
  const std::string_view folder = known.substr(0, known.rfind('/') + 1);
  if (folder.size() <= kLost + 1 || folder[0] != '/' || folder[1] == '/' || folder[kLost] == '/')
    return "";
  if (!end.starts_with(folder.substr(kLost))) return "";
  return fmt::format("{}{}", folder.substr(0, kLost), end);
}

std::string NameInFailures(std::string_view name) {
  // A number that became a tensor of one element is read out of it.
  constexpr std::string_view kAsTensor = "___as_tensor(", kItem = ").item()";
  std::string text(name);
  if (text.starts_with(kAsTensor) && text.ends_with(kItem))
    text = text.substr(kAsTensor.size(), text.size() - kAsTensor.size() - kItem.size());
  for (size_t at = text.find("L['"); at != text.npos; at = text.find("L['", at)) {
    const size_t end = text.find("']", at);
    if (end == text.npos) break;
    const bool is_name = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (!is_name) {
      ++at;
      continue;
    }
    text = text.substr(0, at) + text.substr(at + 3, end - at - 3) + text.substr(end + 2);
  }
  return text;
}

std::optional<std::pair<std::string, std::string>> TakeEqualsMatch(std::string_view* text) {
  constexpr std::string_view kMatch = "EQUALS_MATCH: ";
  for (size_t at = text->find(kMatch); at != kNone; at = text->find(kMatch)) {
    text->remove_prefix(at + kMatch.size());
    std::string_view check = text->substr(0, text->find('\n'));
    check = check.substr(0, check.find("  #"));
    if (const size_t equals = check.find(" == "); equals != kNone)
      return std::pair(NameInFailures(check.substr(0, equals)),
                       ToUtf8(Trim(check.substr(equals + 4))));
  }
  return {};
}

GuardFailure ParseGuardFailure(std::string_view text) {
  GuardFailure failure;
  const size_t stack = text.find("\nUser stack trace:");
  if (stack != kNone) failure.place = PlaceInStack(text.substr(stack));
  text = text.substr(0, stack);
  failure.text = Trim(text);
  failure.program = TakeProgram(&text);
  constexpr std::string_view kState = "GLOBAL_STATE changed: ";
  if (TakePrefix(&text, kState)) {
    failure.type = ReasonType::kEnvironmentChange;
    failure.input = Trim(text);
    // torch 2.15 names the device, and older ones do not: autocast(cpu)_enabled.
    if (failure.input.starts_with("autocast(")) failure.input = "autocast";
    return failure;
  }
  if (TakeTensor(text, failure)) return failure;
  if (text.starts_with("expected type of '")) {
    failure.type = ReasonType::kInputStructureChange;
    text.remove_prefix(std::string_view("expected type of ").size());
    failure.input = NameInFailures(TakeQuoted(&text, "' "));
    if (const size_t found = text.rfind("found "); found != kNone)
      failure.after = Trim(text.substr(found + 6));
    return failure;
  }
  const std::string_view line = WithoutParentheses(text.substr(0, text.find('\n')));
  if (failure.place.empty()) {
    failure.place = PlaceAtEnd(line);
    if (IsTorchs(failure.place.file)) failure.place = {};
  }
  TakeCheck(Trim(line.substr(0, line.find("  #"))), failure);
  return failure;
}

}  // namespace xlaprof

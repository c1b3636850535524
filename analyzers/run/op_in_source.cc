#include "analyzers/run/op_in_source.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <string>

#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

bool IsOfName(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Returns whether the line calls a function of this name: "histc(", as a whole word.
bool Calls(std::string_view line, std::string_view name) {
  for (size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || !IsOfName(line[at - 1]);
    if (begins && end < line.size() && line[end] == '(') return true;
  }
  return false;
}

// Returns whether the line has an index that may be a tensor: x[mask], but not x[0], x[:, 1] or [a, b].
bool HasTensorIndex(std::string_view line) {
  for (size_t at = line.find('['); at != line.npos; at = line.find('[', at + 1)) {
    const bool indexes = at > 0 && (IsOfName(line[at - 1]) || line[at - 1] == ')' || line[at - 1] == ']');
    const std::string_view index = line.substr(at + 1, line.find(']', at) - at - 1);
    if (indexes && std::ranges::any_of(index, [](char c) { return absl::ascii_isalpha(c); }) &&
        index.find_first_of("\"'") == index.npos)
      return true;
  }
  return false;
}

// Returns the op's name without namespace, overload and the parts that PyTorch's functions do not have:
// eig for aten::linalg_eig, and eigh for aten::_linalg_eigh.
std::string FunctionOf(std::string_view bare) {
  while (bare.starts_with('_')) bare.remove_prefix(1);
  if (constexpr std::string_view kFolder = "linalg_"; bare.starts_with(kFolder))
    bare.remove_prefix(kFolder.size());
  return std::string(bare);
}

std::string_view WithoutNamespace(std::string_view op) {
  if (const size_t colons = op.find("::"); colons != op.npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

// Returns the line without a comment and without the texts of strings, in which a name is no call.
std::string CodeOf(std::string_view line) {
  std::string code;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0, code += c;
      continue;
    }
    if (c == '#' || line.substr(i).starts_with("//")) break;
    if (c == '"' || c == '\'') quote = c;
    code += c;
  }
  return code;
}

}  // namespace

bool LineCallsOp(std::string_view line, std::string_view op, bool fetches_mask) {
  const std::string code = CodeOf(line);
  const std::string_view bare = WithoutNamespace(op);
  if (bare.empty()) return false;
  if (Calls(code, bare) || Calls(code, FunctionOf(bare))) return true;
  const bool has_caller = std::ranges::any_of(CallersOfOps(), [&](const CallerOfOp& caller) {
    return caller.op == bare && Calls(code, caller.function);
  });
  return has_caller ||
         (FindTorchOp(op).Has(OpTrait::kListsPlaces) && fetches_mask && HasTensorIndex(code));
}

bool LineReadsValue(std::string_view line) {
  const std::string code = CodeOf(line);
  return std::ranges::any_of(ReadingFunctions(),
                             [&](std::string_view read) { return Calls(code, read); });
}

}  // namespace xlaprof

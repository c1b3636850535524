// Compilers print functions in these forms:
//
//   int main(int, char**)
//   xlaprof::lazy::Tensor demo::Net<T>::Forward(const Tensor&) const [with T = float]
//   demo::Train(int)::<lambda(int)>          auto demo::Train(int)::(lambda)::operator()() const
//   {anonymous}::Step()                      void (anonymous namespace)::Step()
#include "base/source_location.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/source_place.h"

namespace xlaprof {
namespace {

constexpr std::string_view kOperator = "operator";

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns where the name `operator...` at `at` ends, or `at` if there is none.
size_t EndOfOperator(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with(kOperator)) return at;
  size_t end = at + kOperator.size();
  if ((at > 0 && IsWord(text[at - 1])) || (end < text.size() && IsWord(text[end]))) return at;
  if (text.substr(end).starts_with("()")) return end + 2;
  return std::min(text.find('(', end), text.size());
}

}  // namespace

std::vector<std::string> FunctionNameParts(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (size_t end = EndOfOperator(text, i); depth == 0 && end != i) {
      parts.back() = text.substr(i, end - i);
      return parts;
    }
    const char c = text[i];
    if (c == '(' && depth == 0) {
      // The parameters begin here, unless a part of the name or a type is itself in parentheses.
      if (!text.substr(i).starts_with("(anonymous") && !parts.back().ends_with("decltype")) break;
      i = std::min(text.find(')', i), text.size());
    } else if (c == '<' || c == '{') {
      ++depth;
    } else if (c == '>' || c == '}') {
      --depth;
    } else if (depth > 0) {
      continue;
    } else if (c == ' ') {
      parts.assign(1, "");  // all so far was the type
    } else if (text.substr(i).starts_with("::")) {
      parts.emplace_back();
      ++i;
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string FunctionName(const std::source_location& location) {
  return FunctionName(location.function_name());
}

std::string FunctionName(std::string_view text) {
  for (std::string_view lambda : {"<lambda", "(lambda", "(anonymous class"}) {
    size_t at = text.find(lambda);
    if (at == std::string_view::npos) continue;
    // A whole function is before the lambda's `::`, or a namespace if the lambda is in no function.
    text = text.substr(0, at);
    if (text.ends_with("::")) text.remove_suffix(2);
    if (text.find('(') == std::string_view::npos) return "<static>";
  }
  const std::vector<std::string> parts = FunctionNameParts(text);
  const std::string& name = parts.back();
  if (name.empty()) return "<static>";
  if (parts.size() < 2) return name;
  const std::string& around = parts[parts.size() - 2];
  const bool is_class = !around.empty() && around[0] >= 'A' && around[0] <= 'Z';
  return is_class ? around + "::" + name : name;
}

std::string_view FileName(const std::source_location& location) {
  std::string_view path = location.file_name();
  return path.substr(path.rfind('/') + 1);
}

std::string LocationText(const std::source_location& location) {
  return SourcePlace{std::string(FileName(location)), location.line(), FunctionName(location)}
      .TextWithFunction();
}

}  // namespace xlaprof

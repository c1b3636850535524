#include "core/ir/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/source_location.h"
#include "core/ir/sharding.h"

namespace xlaprof::lazy {
namespace {

struct Tag {
  std::string_view name;
  std::string value;
};

// Returns a constant's value, which its type says is a float or an integer.
std::string ConstantText(const Attributes& attributes) {
  return IsFloat(DType(attributes[1])) ? fmt::format("{}", RealOf(attributes[0]))
                                       : fmt::format("{}", attributes[0]);
}

std::vector<Tag> AttributeTags(const Op& op, const Attributes& attributes) {
  // A constant's type is in its shape, so only its value is a tag.
  if (&op == &op::constant) return {{"value", ConstantText(attributes)}};
  if (&op == &op::device_data || &op == &op::mark_sharding) {
    if (attributes.empty()) return {};
    return {{"sharding", Sharding::Of(attributes).ToText()}};
  }
  std::vector<Tag> tags;
  size_t next = 0;
  for (std::string_view name : op.attributes) {
    if (name.ends_with("...") || name.ends_with("[2]")) {
      const size_t count = name.ends_with("]") ? 2 : attributes.size() - next;
      tags.push_back(
          {name.substr(0, name.size() - 3),
           fmt::format("({})", fmt::join(attributes.begin() + int64_t(next),
                                         attributes.begin() + int64_t(next + count), ", "))});
      next += count;
      continue;
    }
    const int64_t value = attributes[next++];
    if (name.starts_with('='))
      tags.push_back({name.substr(1), fmt::format("{}", RealOf(value))});
    else
      tags.push_back(
          {name, name == "dtype" ? std::string(XlaName(DType(value))) : std::to_string(value)});
  }
  return tags;
}

// Returns the user's calls that led to the instruction's line, innermost first:
// f@a.cc:3, main@a.cc:9
std::string CallersText(const Instruction& instruction) {
  if (instruction.call_stack == 0) return "";
  std::string text;
  const std::vector<SourcePlace> places = UserPlaces(instruction.call_stack, instruction.location);
  for (const SourcePlace& caller : std::span(places).subspan(1))
    text += fmt::format("{}{}@{}", text.empty() ? "" : ", ", caller.function, caller.ShortText());
  return text;
}

std::vector<Tag> Tags(const Instruction& instruction, TextOptions options) {
  std::vector<Tag> tags;
  if (options.debug) {
    if (instruction.scope != 0)
      tags.push_back({"scope", std::string(ScopeText(instruction.scope))});
    tags.push_back({"location", LocationText(instruction.location)});
    const std::string callers = CallersText(instruction);
    if (!callers.empty()) tags.push_back({"callers", fmt::format("({})", callers)});
  }
  tags.push_back({"xla_shape", instruction.shape.ToXlaText()});
  for (Tag& tag : AttributeTags(*instruction.op, instruction.attributes))
    tags.push_back(std::move(tag));
  return tags;
}

// Returns, for each instruction, the results that it is.
std::vector<std::vector<size_t>> Roots(const Program& program) {
  std::vector<std::vector<size_t>> roots(program.instructions.size());
  for (size_t i = 0; i < program.results.size(); ++i)
    roots[size_t(program.results[i])].push_back(i);
  return roots;
}

}  // namespace

std::string AttributesText(const Op& op, const Attributes& attributes) {
  std::string text;
  for (const Tag& tag : AttributeTags(op, attributes))
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", tag.name, tag.value);
  return text;
}

std::string IrText(const Program& program, TextOptions options) {
  const auto roots = Roots(program);
  std::string text = "IR {\n";
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    text += fmt::format("  %{} = {} {}(", i, instruction.shape.ToXlaText(), instruction.op->name);
    for (size_t j = 0; j < instruction.operands.size(); ++j)
      text += fmt::format("{}%{}", j > 0 ? ", " : "", instruction.operands[j]);
    text += ')';
    for (const Tag& tag : Tags(instruction, options))
      text += fmt::format(", {}={}", tag.name, tag.value);
    for (size_t root : roots[i]) text += fmt::format(", ROOT={}", root);
    text += '\n';
  }
  return text + "}\n";
}

std::string IdentityText(const Program& program) {
  std::string text = IrText(program);
  for (auto [parameter, result] : program.donations)
    text += fmt::format("parameter {} gives its memory to result {}\n", parameter, result);
  return text;
}

std::string DotText(const Program& program, TextOptions options) {
  constexpr size_t kLongestValue = 64;
  const auto roots = Roots(program);
  std::string text = "digraph G {\n";
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    text += fmt::format("  node{} [label=\"{}\\n{}", i, instruction.op->name,
                        instruction.shape.ToXlaText());
    for (const Tag& tag : Tags(instruction, options)) {
      if (tag.name == "callers") continue;  // longer than any label
      text += fmt::format("\\n{}={}", tag.name, tag.value.substr(0, kLongestValue));
      if (tag.value.size() >= kLongestValue) text += "...";
    }
    for (size_t root : roots[i]) text += fmt::format("\\nROOT={}", root);
    text += "\"]\n";
  }
  for (size_t i = program.instructions.size(); i-- > 0;) {
    const auto& operands = program.instructions[i].operands;
    for (size_t j = 0; j < operands.size(); ++j) {
      text += fmt::format("  node{} -> node{}", operands[j], i);
      if (operands.size() > 1) text += fmt::format(" [label=\"i={}\"]", j);
      text += '\n';
    }
  }
  return text + "}\n";
}

}  // namespace xlaprof::lazy

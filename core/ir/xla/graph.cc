#include "core/ir/xla/graph.h"

#include <fmt/format.h>

#include <map>

#include "base/status.h"
#include "core/ir/sharding.h"
#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {

std::string_view HloName(Element element) {
  if (element == Element::kU32) return "u32";
  if (element == Element::kU64) return "u64";
  return XlaName(DType(element));
}

std::string_view StableHloName(Element element) {
  if (element == Element::kU32) return "ui32";
  if (element == Element::kU64) return "ui64";
  return lazy::StableHloName(DType(element));
}

bool IsFloat(Element element) { return element >= Element::kBF16 && element <= Element::kF64; }

std::string Type::HloText() const {
  // Takes only the sizes, to put them after the name of any type.
  const std::string text = Shape{DType::kBool, dims}.ToText();
  return std::string(HloName(element)) + text.substr(text.find('['));
}

std::string Type::HloLayoutText() const {
  const std::string text = Shape{DType::kBool, dims}.ToXlaText();
  return std::string(HloName(element)) + text.substr(text.find('['));
}

std::string Type::StableHloText() const {
  std::string text = "tensor<";
  for (int64_t dim : dims) text += std::to_string(dim) + 'x';
  text += xla::StableHloName(element);
  return text + '>';
}

std::string OpType(const Op& op) {
  std::string name(op.name);
  if (size_t at = name.find("::"); at != std::string::npos) name.replace(at, 2, "__");
  return name;
}

std::string OpName(const lazy::Instruction& instruction) {
  const std::string type = OpType(*instruction.op);
  if (instruction.scope == 0) return type;
  return fmt::format("{}/{}", ScopeText(instruction.scope), type);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  }
  return quoted + '"';
}

static const Rules& AllRules() {
  static const Rules* rules = [] {
    auto* all = new Rules;
    AddElementwiseRules(all);
    AddShapeRules(all);
    AddContractionRules(all);
    AddReductionRules(all);
    AddIndexingRules(all);
    AddPoolingRules(all);
    AddBatchNormRules(all);
    AddRandomRules(all);
    AddCollectiveRules(all);
    return all;
  }();
  return *rules;
}

std::vector<LargestStep> LargestSteps(Element element) {
  std::vector<LargestStep> steps{{"larger", "compare", {"a", "b"}, "GT"},
                                 {"same", "compare", {"a", "b"}, "EQ"}};
  std::string_view larger = "larger", same = "same";
  if (IsFloat(element)) {
    steps.insert(steps.end(), {{"nan_a", "compare", {"a", "a"}, "NE"},
                               {"nan_b", "compare", {"b", "b"}, "NE"},
                               {"number_b", "not", {"nan_b"}},
                               {"only_a", "and", {"nan_a", "number_b"}},
                               {"both", "and", {"nan_a", "nan_b"}},
                               {"above", "or", {"larger", "only_a"}},
                               {"alike", "or", {"same", "both"}}});
    larger = "above", same = "alike";
  }
  steps.insert(steps.end(), {{"first", "compare", {"i", "j"}, "LT", true},
                             {"earlier", "and", {same, "first"}},
                             {"wins", "or", {larger, "earlier"}},
                             {"value", "select", {"wins", "a", "b"}},
                             {"place", "select", {"wins", "i", "j"}, "", true}});
  return steps;
}

Graph Lower(const Program& program) {
  Graph graph;
  std::vector<Value> values;
  // Nodes that differ only in their output number share one value with all outputs.
  std::map<std::tuple<const Op*, std::vector<Value>, std::vector<int64_t>>, Value> whole;
  const auto sharding_of = [&](const lazy::Instruction& instruction) {
    const Sharding sharding = Sharding::Of(instruction.attributes);
    graph.partitions = std::max(graph.partitions, int64_t(sharding.grid.devices.size()));
    return sharding.ToText();
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const lazy::Instruction& instruction = program.instructions[i];
    Builder builder(&graph, int32_t(i));
    const Type type = Of(instruction.shape);
    if (instruction.op == &op::device_data) {
      // The parameter's number is set below.
      Instruction parameter{.kind = Kind::kParameter, .name = "parameter", .type = type};
      if (!instruction.attributes.empty()) parameter.sharding = sharding_of(instruction);
      values.push_back(builder.Add(std::move(parameter)));
      continue;
    }
    if (instruction.op == &op::mark_sharding) {
      values.push_back(builder.Add({.kind = Kind::kSharding,
                                    .name = "custom_call",
                                    .type = type,
                                    .operands = {values[size_t(instruction.operands[0])]},
                                    .sharding = sharding_of(instruction)}));
      continue;
    }
    if (instruction.op == &op::constant) {
      values.push_back(builder.Add({.kind = Kind::kConstant,
                                    .name = "constant",
                                    .type = type,
                                    .number = instruction.attributes[0]}));
      continue;
    }
    auto rule = AllRules().find(instruction.op);
    XP_CHECK(rule != AllRules().end());
    std::vector<Value> operands;
    for (int32_t operand : instruction.operands) operands.push_back(values[size_t(operand)]);
    Value* all = nullptr;
    if (instruction.op->outputs > 1) {
      const Attributes& a = instruction.attributes;
      all = &whole.try_emplace({instruction.op, operands, {a.begin(), a.end() - 1}}, -1)
                 .first->second;
    }
    values.push_back(rule->second({builder, operands, instruction.attributes, type, all}));
    const Instruction& last = graph.instructions.back();
    if (last.kind == Kind::kCollective) graph.ranks = int64_t(last.lists[0].size());
    if (instruction.op == &op::local_part) graph.ranks = instruction.attributes[1];
  }
  for (int32_t parameter : program.parameters) {
    const Value value = values[size_t(parameter)];
    graph.instructions[size_t(value)].number = int64_t(graph.parameters.size());
    graph.parameters.push_back(value);
  }
  for (int32_t result : program.results) graph.results.push_back(values[size_t(result)]);
  return graph;
}

}  // namespace xlaprof::lazy::xla

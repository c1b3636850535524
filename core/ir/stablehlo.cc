// Prints operations in StableHLO's short form, except those with regions and those whose short form
// changed between versions. These are in MLIR's general form, which all versions read.
#include "core/ir/stablehlo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/ir/xla/graph.h"

namespace xlaprof::lazy {
namespace {

using xla::Kind;

std::string List(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

// Returns a list: array<i64: 1, 2>
std::string Array(const Dims& dims) {
  return fmt::format("array<i64{}{}>", dims.empty() ? "" : ": ", fmt::join(dims, ", "));
}

// Returns low and high padding in the form of reduce_window and convolution.
std::string Padding(const xla::Window& window) {
  std::string rows;
  for (size_t i = 0; i < window.low.size(); ++i)
    rows += fmt::format("{}[{}, {}]", i > 0 ? ", " : "", window.low[i], window.high[i]);
  return fmt::format("dense<[{}]> : tensor<{}x2xi64>", rows, window.low.size());
}

// Returns a literal. MLIR accepts infinities and NaN only by their bits, and requires a point in
// all other floats.
std::string Literal(int64_t value, xla::Element element) {
  if (element == xla::Element::kBool) return value != 0 ? "true" : "false";
  if (!IsFloat(element)) return std::to_string(value);
  const double real = RealOf(value);
  if (!std::isfinite(real)) {
    const float narrow = float(real);
    switch (element) {
      case xla::Element::kBF16:
        return fmt::format("0x{:04X}", BFloat16(narrow).bits);
      case xla::Element::kF16:
        return fmt::format("0x{:04X}", std::bit_cast<uint16_t>(Float16(narrow)));
      case xla::Element::kF32:
        return fmt::format("0x{:08X}", std::bit_cast<uint32_t>(narrow));
      default:
        return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(real));
    }
  }
  std::string text = fmt::format("{}", real);
  if (text.find('.') == std::string::npos) {
    const size_t exponent = text.find('e');
    text.insert(std::min(exponent, text.size()), ".0");
  }
  return text;
}

// Converts bf01_oi01->bf01 to [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1].
std::string ConvolutionNumbers(std::string_view labels) {
  std::string text = "[";
  for (size_t i = 0; i < labels.size(); ++i) {
    const bool last = i + 1 == labels.size() || labels[i + 1] == '_' || labels[i + 1] == '-';
    if (labels[i] == '_') {
      text += "]x[";
    } else if (labels[i] == '-') {
      text += "]->[";
      ++i;
    } else {
      text += labels[i];
      if (!last) text += ", ";
    }
  }
  return text + "]";
}

class StableHloPrinter {
 public:
  explicit StableHloPrinter(const Program& program)
      : program_(program), graph_(xla::Lower(program)) {
    names_.resize(graph_.instructions.size());
    for (size_t i = 0; i < graph_.parameters.size(); ++i)
      names_[size_t(graph_.parameters[i])] = fmt::format("%p{}", i);
  }

  std::string Print() {
    text_ = fmt::format("module @{}{} {{\n  func.func public @main(",
                        xla::Quoted(program_.name.empty() ? "main" : program_.name),
                        ModuleAttributes());
    for (size_t i = 0; i < graph_.parameters.size(); ++i) Parameter(i);
    text_ += ") -> (";
    for (size_t i = 0; i < graph_.results.size(); ++i)
      text_ += (i > 0 ? ", " : "") + TypeText(graph_.results[i]);
    text_ += ") {\n";
    for (size_t i = 0; i < graph_.instructions.size(); ++i) {
      if (graph_.instructions[i].kind == Kind::kParameter) continue;
      const xla::Instruction& instruction = graph_.instructions[i];
      if (instruction.kind == Kind::kOutput) {  // only a name
        names_[i] = fmt::format("{}#{}", Operands(instruction), instruction.number);
        continue;
      }
      names_[i] = fmt::format("%{}", next_++);
      const size_t outputs = instruction.outputs.size();
      text_ +=
          fmt::format("    {}{} = ", names_[i], outputs > 0 ? fmt::format(":{}", outputs) : "");
      Operation(instruction);
      text_ += Location(instruction) + '\n';
    }
    text_ += "    return";
    std::string types;
    for (size_t i = 0; i < graph_.results.size(); ++i) {
      text_ += (i > 0 ? ", " : " ") + names_[size_t(graph_.results[i])];
      types += (i > 0 ? ", " : " : ") + TypeText(graph_.results[i]);
    }
    return text_ + types + "\n  }\n}\n";
  }

 private:
  std::string ModuleAttributes() const {
    const auto count = [](std::string_view name, int64_t number) {
      return number == 1 ? "" : fmt::format("mhlo.{} = {} : i32", name, number);
    };
    const std::string replicas = count("num_replicas", graph_.ranks),
                      partitions = count("num_partitions", graph_.partitions);
    if (replicas.empty() && partitions.empty()) return "";
    const bool both = !replicas.empty() && !partitions.empty();
    return fmt::format(" attributes {{{}{}{}}}", replicas, both ? ", " : "", partitions);
  }

  std::string TypeText(int32_t value) const {
    return graph_.instructions[size_t(value)].type.StableHloText();
  }

  // Returns a stack of calls, innermost first: callsite("f"("a.cc":3:0) at "main"("a.cc":9:0))
  static std::string CallSite(std::span<const SourcePlace> stack) {
    const std::string callee =
        fmt::format("{}({}:{}:0)", xla::Quoted(stack[0].function), xla::Quoted(stack[0].file),
                    stack[0].line.value_or(0));
    if (stack.size() == 1) return callee;
    return fmt::format("callsite({} at {})", callee, CallSite(stack.subspan(1)));
  }

  std::string Location(const xla::Instruction& instruction) const {
    const Instruction& origin = program_.instructions[size_t(instruction.origin)];
    const std::string name = xla::Quoted(xla::OpName(origin));
    if (origin.call_stack != 0)
      return fmt::format(" loc({}({}))", name,
                         CallSite(UserPlaces(origin.call_stack, origin.location)));
    return fmt::format(" loc({}({}:{}:{}))", name, xla::Quoted(origin.location.file_name()),
                       origin.location.line(), origin.location.column());
  }

  void Parameter(size_t i) {
    const int32_t value = graph_.parameters[i];
    text_ += fmt::format("{}{}: {}", i > 0 ? ", " : "", names_[size_t(value)], TypeText(value));
    const xla::Instruction& parameter = graph_.instructions[size_t(value)];
    std::string attributes;
    if (!parameter.sharding.empty()) attributes = ShardingText(parameter);
    for (const Program::Donation& donation : program_.donations) {
      if (donation.parameter == int32_t(i))
        attributes += fmt::format("{}tf.aliasing_output = {} : i32", attributes.empty() ? "" : ", ",
                                  donation.result);
    }
    if (!attributes.empty()) text_ += fmt::format(" {{{}}}", attributes);
    text_ += Location(parameter);
  }

  static std::string ShardingText(const xla::Instruction& instruction) {
    return "mhlo.sharding = " + xla::Quoted(instruction.sharding);
  }

  std::string Operands(const xla::Instruction& instruction) const {
    std::string text;
    for (int32_t operand : instruction.operands)
      text += (text.empty() ? "" : ", ") + names_[size_t(operand)];
    return text;
  }

  // Returns (operands) -> result, or (operands) -> (results).
  std::string Signature(const xla::Instruction& instruction) const {
    std::string text = "(";
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      text += (i > 0 ? ", " : "") + TypeText(instruction.operands[i]);
    text += ") -> ";
    if (instruction.outputs.empty()) return text + instruction.type.StableHloText();
    for (const xla::Type& output : instruction.outputs)
      text += (&output == &instruction.outputs[0] ? "(" : ", ") + output.StableHloText();
    return text + ')';
  }

  void Short(const xla::Instruction& instruction, std::string_view middle) {
    text_ += fmt::format("stablehlo.{} {}{} : {}", instruction.name, Operands(instruction), middle,
                         Signature(instruction));
  }

  void Elementwise(const xla::Instruction& instruction) {
    const std::string operands = Operands(instruction), type = instruction.type.StableHloText();
    if (instruction.name == "erf")
      text_ += fmt::format("chlo.erf {} : {} -> {}", operands, type, type);
    else if (instruction.name == "convert" || instruction.name == "reshape")
      Short(instruction, "");
    else if (instruction.name == "select")
      text_ += fmt::format("stablehlo.select {} : {}, {}", operands,
                           TypeText(instruction.operands[0]), type);
    else
      text_ += fmt::format("stablehlo.{} {} : {}", instruction.name, operands, type);
  }

  void Slice(const xla::Instruction& instruction) {
    std::string ranges;
    const auto& lists = instruction.lists;
    for (size_t i = 0; i < lists[0].size(); ++i) {
      ranges += fmt::format("{}{}:{}", i > 0 ? ", " : "", lists[0][i], lists[1][i]);
      if (lists[2][i] != 1) ranges += fmt::format(":{}", lists[2][i]);
    }
    Short(instruction, fmt::format(" [{}]", ranges));
  }

  void Dot(const xla::Instruction& instruction) {
    const int64_t batch = instruction.number;
    Short(instruction,
          fmt::format("{}, contracting_dims = [{}] x [{}]",
                      batch > 0 ? ", batching_dims = [0] x [0]" : "", batch + 1, batch));
  }

  // Prints the general form: "stablehlo.scatter"(%0, %1) REGIONS {ATTRIBUTES} : ...
  void General(const xla::Instruction& instruction, std::string_view name, std::string_view regions,
               std::string_view attributes) {
    text_ += fmt::format("\"stablehlo.{}\"({}){} {{{}}} : {}", name, Operands(instruction), regions,
                         attributes, Signature(instruction));
  }

  // Returns a region that takes two elements with their places.
  std::string CombineLargest(const xla::Instruction& instruction) {
    const int64_t n = next_++;
    const auto scalar = [](const xla::Type& type) {
      return xla::Type{type.element, {}}.StableHloText();
    };
    const std::string type = scalar(instruction.outputs[0]), place = scalar(instruction.outputs[1]);
    std::string text = fmt::format(
        "{{\n    ^bb0(%a{0}: {1}, %i{0}: {2}, %b{0}: {1}, %j{0}: {2}):\n", n, type, place);
    for (const xla::LargestStep& step : xla::LargestSteps(instruction.type.element)) {
      std::string operands;
      for (std::string_view operand : step.operands)
        operands += fmt::format("{}%{}{}", operands.empty() ? "" : ", ", operand, n);
      const std::string& of = step.of_places ? place : type;
      if (step.opcode == "compare")
        text +=
            fmt::format("      %{1}{0} = stablehlo.compare {2}, {3} : ({4}, {4}) -> tensor<i1>\n",
                        n, step.name, step.direction, operands, of);
      else if (step.opcode == "select")
        text += fmt::format("      %{1}{0} = stablehlo.select {2} : tensor<i1>, {3}\n", n,
                            step.name, operands, of);
      else
        text += fmt::format("      %{1}{0} = stablehlo.{2} {3} : tensor<i1>\n", n, step.name,
                            step.opcode, operands);
    }
    return text + fmt::format(
                      "      stablehlo.return %value{0}, %place{0} : {1}, {2}\n"
                      "    }}",
                      n, type, place);
  }

  // Returns a region. The names of its arguments are unique.
  std::string Combine(const xla::Instruction& instruction) {
    if (instruction.combine == xla::kLargest) return CombineLargest(instruction);
    const int64_t n = next_++;
    const std::string type = xla::Type{instruction.type.element, {}}.StableHloText();
    if (instruction.combine.empty()) {
      return fmt::format(
          "{{\n"
          "    ^bb0(%a{0}: {1}, %b{0}: {1}):\n"
          "      stablehlo.return %b{0} : {1}\n"
          "    }}",
          n, type);
    }
    return fmt::format(
        "{{\n"
        "    ^bb0(%a{0}: {1}, %b{0}: {1}):\n"
        "      %c{0} = stablehlo.{2} %a{0}, %b{0} : {1}\n"
        "      stablehlo.return %c{0} : {1}\n"
        "    }}",
        n, type, instruction.combine);
  }

  void Convolution(const xla::Instruction& instruction) {
    const xla::Window& window = instruction.window;
    const std::string_view reversed = window.reversed ? "true" : "false";
    General(instruction, "convolution", "",
            fmt::format("window_strides = {}, padding = {}, lhs_dilation = {}, rhs_dilation = {}, "
                        "window_reversal = array<i1: {}, {}>, "
                        "dimension_numbers = #stablehlo.conv<{}>, "
                        "feature_group_count = {} : i64, batch_group_count = {} : i64",
                        Array(window.stride), Padding(window), Array(window.base_dilation),
                        Array(window.window_dilation), reversed, reversed,
                        ConvolutionNumbers(instruction.name), window.feature_groups,
                        window.batch_groups));
  }

  void Windowed(const xla::Instruction& instruction, std::string_view regions) {
    General(instruction, instruction.name, regions,
            fmt::format("window_dimensions = {}, window_strides = {}, padding = {}",
                        Array(instruction.window.size), Array(instruction.window.stride),
                        Padding(instruction.window)));
  }

  int64_t IndexVectorDim(const xla::Instruction& instruction) const {
    return graph_.instructions[size_t(instruction.operands[1])].type.rank() - 1;
  }

  void Gather(const xla::Instruction& instruction) {
    const auto& lists = instruction.lists;
    General(instruction, "gather", "",
            fmt::format("dimension_numbers = #stablehlo.gather<offset_dims = {}, "
                        "collapsed_slice_dims = {}, start_index_map = {}, index_vector_dim = {}>, "
                        "slice_sizes = {}, indices_are_sorted = false",
                        List(lists[0]), List(lists[1]), List(lists[2]), IndexVectorDim(instruction),
                        Array(lists[3])));
  }

  void Scatter(const xla::Instruction& instruction) {
    const auto& lists = instruction.lists;
    General(
        instruction, "scatter", fmt::format(" ({})", Combine(instruction)),
        fmt::format("scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {}, "
                    "inserted_window_dims = {}, scatter_dims_to_operand_dims = {}, "
                    "index_vector_dim = {}>, indices_are_sorted = false, unique_indices = "
                    "false",
                    List(lists[0]), List(lists[1]), List(lists[2]), IndexVectorDim(instruction)));
  }

  void Collective(const xla::Instruction& instruction) {
    const Dims& ranks = instruction.lists[0];
    const int64_t group = instruction.number;
    std::string rows;
    for (size_t i = 0; i < ranks.size(); i += size_t(group)) {
      rows += fmt::format("{}[{}]", i > 0 ? ", " : "",
                          fmt::join(ranks.begin() + int64_t(i),
                                    ranks.begin() + int64_t(i) + group, ", "));
    }
    std::string attributes = fmt::format("replica_groups = dense<[{}]> : tensor<{}x{}xi64>", rows,
                                         int64_t(ranks.size()) / group, group);
    if (instruction.name == "all_gather")
      attributes += fmt::format(", all_gather_dim = {} : i64", instruction.lists[1][0]);
    if (instruction.name == "reduce_scatter")
      attributes += fmt::format(", scatter_dimension = {} : i64", instruction.lists[1][0]);
    const bool combines = !instruction.combine.empty();
    General(instruction, instruction.name,
            combines ? fmt::format(" ({})", Combine(instruction)) : "", attributes);
  }

  void Operation(const xla::Instruction& instruction) {
    const auto& lists = instruction.lists;
    const std::string type = instruction.type.StableHloText();
    switch (instruction.kind) {
      case Kind::kParameter:
      case Kind::kOutput:
        return;
      case Kind::kConstant:
        text_ += fmt::format("stablehlo.constant dense<{}> : {}",
                             Literal(instruction.number, instruction.type.element), type);
        return;
      case Kind::kElementwise:
        return Elementwise(instruction);
      case Kind::kCompare:
        text_ += fmt::format("stablehlo.compare {}, {} : {}", instruction.name,
                             Operands(instruction), Signature(instruction));
        return;
      case Kind::kBroadcast:
      case Kind::kTranspose:
        return Short(instruction, ", dims = " + List(lists[0]));
      case Kind::kReverse:
        text_ += fmt::format("stablehlo.reverse {}, dims = {} : {}", Operands(instruction),
                             List(lists[0]), type);
        return;
      case Kind::kConcatenate:
        return Short(instruction, fmt::format(", dim = {}", lists[0][0]));
      case Kind::kIota:
        text_ += fmt::format("stablehlo.iota dim = {} : {}", lists[0][0], type);
        return;
      case Kind::kSlice:
        return Slice(instruction);
      case Kind::kPad:
        return Short(instruction, fmt::format(", low = {}, high = {}, interior = {}",
                                              List(lists[0]), List(lists[1]), List(lists[2])));
      case Kind::kDot:
        return Dot(instruction);
      case Kind::kConvolution:
        return Convolution(instruction);
      case Kind::kReduce:
        if (instruction.combine == xla::kLargest)
          return General(instruction, instruction.name, fmt::format(" ({})", Combine(instruction)),
                         "dimensions = " + Array(lists[0]));
        text_ += fmt::format(
            "stablehlo.reduce({} init: {}) applies stablehlo.{} across "
            "dimensions = {} : {}",
            names_[size_t(instruction.operands[0])], names_[size_t(instruction.operands[1])],
            instruction.combine, List(lists[0]), Signature(instruction));
        return;
      case Kind::kReduceWindow:
        return Windowed(instruction, fmt::format(" ({})", Combine(instruction)));
      case Kind::kBatchNorm:
        return General(instruction, instruction.name, "",
                       fmt::format("epsilon = {} : f32, feature_index = 1 : i64",
                                   Literal(instruction.number, xla::Element::kF32)));
      case Kind::kGather:
        return Gather(instruction);
      case Kind::kScatter:
        return Scatter(instruction);
      case Kind::kCollective:
        return Collective(instruction);
      case Kind::kSharding:
        text_ += fmt::format("stablehlo.custom_call @Sharding({}) {{{}}} : {}",
                             Operands(instruction), ShardingText(instruction),
                             Signature(instruction));
        return;
    }
  }

  const Program& program_;
  const xla::Graph graph_;
  std::vector<std::string> names_;  // names of graph_'s instructions
  int64_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string StableHloText(const Program& program) { return StableHloPrinter(program).Print(); }

}  // namespace xlaprof::lazy

#include "core/ir/hlo_text.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "core/ir/xla/graph.h"

namespace xlaprof::lazy {
namespace {

using xla::Kind;

std::string Braces(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

// Returns a valid name, which may have letters, digits and these: _ . -
std::string NameOf(std::string_view text) {
  std::string name(text.empty() ? "main" : text);
  for (char& c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-') c = '_';
  }
  return name;
}

std::string Opcode(const xla::Instruction& instruction) {
  switch (instruction.kind) {
    case Kind::kCompare:
      return "compare";
    case Kind::kConvolution:
      return "convolution";
    case Kind::kDot:
      return "dot";
    case Kind::kBroadcast:
      return "broadcast";
    default: {
      std::string name(instruction.name);
      std::replace(name.begin(), name.end(), '_', '-');
      return name;
    }
  }
}

std::string Literal(const xla::Instruction& constant) {
  if (constant.type.element == xla::Element::kBool) return constant.number != 0 ? "true" : "false";
  if (!IsFloat(constant.type.element)) return std::to_string(constant.number);
  const double value = RealOf(constant.number);
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string WindowText(const xla::Window& window) {
  std::string padding;
  for (size_t i = 0; i < window.low.size(); ++i)
    padding += fmt::format("{}{}_{}", i > 0 ? "x" : "", window.low[i], window.high[i]);
  std::string text = fmt::format("window={{size={} stride={} pad={}", fmt::join(window.size, "x"),
                                 fmt::join(window.stride, "x"), padding);
  if (!window.base_dilation.empty())
    text += fmt::format(" lhs_dilate={} rhs_dilate={}", fmt::join(window.base_dilation, "x"),
                        fmt::join(window.window_dilation, "x"));
  if (window.reversed) text += " rhs_reversal=1x1";
  return text + "}";
}

std::string GroupsText(const xla::Window& window) {
  std::string text;
  if (window.feature_groups != 1)
    text += fmt::format(", feature_group_count={}", window.feature_groups);
  if (window.batch_groups != 1) text += fmt::format(", batch_group_count={}", window.batch_groups);
  return text;
}

// Collects the tables in which XLA prints stacks of calls. Each row is printed once, and its number
// begins at 1.
class HloFrames {
 public:
  // Returns the number of the innermost frame of a stack, which refers to its caller's.
  int64_t Add(std::span<const SourcePlace> stack) {
    int64_t frame = 0;
    for (size_t i = stack.size(); i-- > 0;) {
      const SourcePlace& place = stack[i];
      const int64_t file = files_.Add(xla::Quoted(place.file)),
                    function = functions_.Add(xla::Quoted(place.function));
      const int64_t location = locations_.Add(fmt::format(
          "{{file_name_id={0} function_name_id={1} line={2} end_line={2} column=0 end_column=0}}",
          file, function, place.line.value_or(0)));
      // XLA prints parents one too high: 1 means none.
      frame = frames_.Add(
          fmt::format("{{file_location_id={} parent_frame_id={}}}", location, frame + 1));
    }
    return frame;
  }
  // Returns the tables, which end with an empty line, or "" if there are no stacks.
  std::string Text() const {
    if (frames_.rows.empty()) return "";
    return files_.Text("FileNames") + functions_.Text("FunctionNames") +
           locations_.Text("FileLocations") + frames_.Text("StackFrames");
  }

 private:
  struct Table {
    std::vector<std::string> rows;
    absl::flat_hash_map<std::string, int64_t> numbers;

    int64_t Add(std::string row) {
      const auto [at, is_new] = numbers.try_emplace(row, int64_t(rows.size()) + 1);
      if (is_new) rows.push_back(std::move(row));
      return at->second;
    }
    std::string Text(std::string_view name) const {
      std::string text = fmt::format("{}\n", name);
      for (size_t i = 0; i < rows.size(); ++i) text += fmt::format("{} {}\n", i + 1, rows[i]);
      return text + "\n";
    }
  };
  Table files_, functions_, locations_, frames_;
};

class HloPrinter {
 public:
  HloPrinter(const Program& program, TextOptions options)
      : program_(program),
        debug_(options.debug),
        name_(NameOf(program.name)),
        graph_(xla::Lower(program)) {}

  std::string Print() {
    for (size_t i = 0; i < graph_.instructions.size(); ++i) {
      const xla::Instruction& instruction = graph_.instructions[i];
      names_.push_back(instruction.kind == Kind::kParameter
                           ? fmt::format("p{}.{}", instruction.number, i + 1)
                           : fmt::format("{}.{}", Opcode(instruction), i + 1));
    }
    std::string entry;
    for (size_t i = 0; i < graph_.instructions.size(); ++i) {
      const xla::Instruction& instruction = graph_.instructions[i];
      entry += fmt::format("  %{} = {} {}({}){}{}\n", names_[i], TypeText(int32_t(i)),
                           Opcode(instruction), Operands(instruction), Attributes(instruction),
                           Metadata(instruction));
    }
    entry += fmt::format("  ROOT %tuple.{} = {} tuple({})\n", graph_.instructions.size() + 1,
                         Results(true), Listed(graph_.results));
    std::string text = ModuleLine() + "\n" + frames_.Text();
    for (const std::string& computation : computations_) text += computation + "\n";
    return text + fmt::format("ENTRY %{} ({}) -> {} {{\n{}}}\n", name_, Parameters(),
                              Results(false), entry);
  }

 private:
  const xla::Type& TypeOf(int32_t value) const { return graph_.instructions[size_t(value)].type; }
  // Returns a type with its layout; it is a tuple if there are several outputs.
  std::string TypeText(int32_t value) const {
    const xla::Instruction& instruction = graph_.instructions[size_t(value)];
    if (instruction.outputs.empty()) return instruction.type.HloLayoutText();
    std::string text;
    for (const xla::Type& output : instruction.outputs)
      text += (text.empty() ? "(" : ", ") + output.HloLayoutText();
    return text + ")";
  }

  std::string Results(bool layout) const {
    std::string text = "(";
    for (size_t i = 0; i < graph_.results.size(); ++i) {
      const xla::Type& type = TypeOf(graph_.results[i]);
      text += (i > 0 ? ", " : "") + (layout ? type.HloLayoutText() : type.HloText());
    }
    return text + ")";
  }

  std::string Parameters() const {
    std::string text;
    for (int32_t value : graph_.parameters)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", names_[size_t(value)],
                          TypeOf(value).HloText());
    return text;
  }

  std::string ModuleLine() const {
    std::string parameters, aliases;
    for (int32_t value : graph_.parameters)
      parameters += (parameters.empty() ? "" : ", ") + TypeOf(value).HloLayoutText();
    for (const Program::Donation& donation : program_.donations)
      aliases += fmt::format("{} {{{}}}: ({}, {{}}, may-alias)", aliases.empty() ? "" : ",",
                             donation.result, donation.parameter);
    if (!aliases.empty()) aliases = fmt::format(", input_output_alias={{{} }}", aliases);
    std::string replicas =
        graph_.ranks == 1 ? "" : fmt::format(", replica_count={}", graph_.ranks);
    if (graph_.partitions > 1) replicas += fmt::format(", num_partitions={}", graph_.partitions);
    return fmt::format("HloModule {}{}, entry_computation_layout={{({})->{}}}{}\n", name_, aliases,
                       parameters, Results(true), replicas);
  }

  template <class Values>
  std::string Listed(const Values& values) const {
    std::string text;
    for (int32_t value : values)
      text +=
          fmt::format("{}{} %{}", text.empty() ? "" : ", ", TypeText(value), names_[size_t(value)]);
    return text;
  }

  std::string Operands(const xla::Instruction& instruction) const {
    if (instruction.kind == Kind::kParameter) return std::to_string(instruction.number);
    if (instruction.kind == Kind::kConstant) return Literal(instruction);
    return Listed(instruction.operands);
  }

  std::string Metadata(const xla::Instruction& instruction) {
    if (!debug_) return "";
    const Instruction& origin = program_.instructions[size_t(instruction.origin)];
    std::string frame;
    if (origin.call_stack != 0)
      frame = fmt::format(" stack_frame_id={}",
                          frames_.Add(UserPlaces(origin.call_stack, origin.location)));
    return fmt::format(", metadata={{op_type={} op_name={} source_file={} source_line={}{}}}",
                       xla::Quoted(xla::OpType(*origin.op)), xla::Quoted(xla::OpName(origin)),
                       xla::Quoted(origin.location.file_name()), origin.location.line(), frame);
  }

  // Returns the name of the computation that combines two elements, which is made when it is first
  // needed. Without an opcode it returns the second.
  std::string Computation(std::string_view opcode, xla::Element element) {
    const std::string type = xla::Type{element, {}}.HloText();
    if (opcode.empty()) {
      const std::string second = fmt::format("second_{}", xla::HloName(element));
      computations_.insert(
          fmt::format("%{0} (a: {1}, b: {1}) -> {1} {{\n"
                      "  %a = {1} parameter(0)\n"
                      "  ROOT %b = {1} parameter(1)\n"
                      "}}\n",
                      second, type));
      return "%" + second;
    }
    const std::string name = fmt::format("{}_{}", opcode, xla::HloName(element));
    computations_.insert(
        fmt::format("%{0} (a: {1}, b: {1}) -> {1} {{\n"
                    "  %a = {1} parameter(0)\n"
                    "  %b = {1} parameter(1)\n"
                    "  ROOT %{2} = {1} {2}({1} %a, {1} %b)\n"
                    "}}\n",
                    name, type, opcode));
    return "%" + name;
  }

  // Returns the name of the computation that combines two elements with their places.
  std::string LargestComputation(const xla::Instruction& instruction) {
    const auto scalar = [](const xla::Type& type) { return xla::Type{type.element, {}}.HloText(); };
    const std::string type = scalar(instruction.outputs[0]), place = scalar(instruction.outputs[1]);
    const std::string name = fmt::format("largest_{}_{}", xla::HloName(instruction.type.element),
                                         xla::HloName(instruction.outputs[1].element));
    std::string text = fmt::format(
        "%{0} (a: {1}, i: {2}, b: {1}, j: {2}) -> ({1}, {2}) {{\n"
        "  %a = {1} parameter(0)\n"
        "  %i = {2} parameter(1)\n"
        "  %b = {1} parameter(2)\n"
        "  %j = {2} parameter(3)\n",
        name, type, place);
    for (const xla::LargestStep& step : xla::LargestSteps(instruction.type.element)) {
      std::string operands;
      for (std::string_view operand : step.operands) {
        const std::string_view of = operand == "a" || operand == "b"   ? std::string_view(type)
                                    : operand == "i" || operand == "j" ? std::string_view(place)
                                                                       : "pred[]";
        operands += fmt::format("{}{} %{}", operands.empty() ? "" : ", ", of, operand);
      }
      const std::string_view result = step.opcode != "select" ? "pred[]"
                                      : step.of_places        ? std::string_view(place)
                                                              : std::string_view(type);
      text += fmt::format("  %{} = {} {}({})", step.name, result, step.opcode, operands);
      text += step.direction.empty() ? "\n" : fmt::format(", direction={}\n", step.direction);
    }
    computations_.insert(text +
                         fmt::format("  ROOT %largest = ({0}, {1}) tuple({0} %value, {1} %place)\n"
                                     "}}\n",
                                     type, place));
    return "%" + name;
  }

  std::string ComputationOf(const xla::Instruction& instruction) {
    if (instruction.combine == xla::kLargest) return LargestComputation(instruction);
    return Computation(instruction.combine, instruction.type.element);
  }

  std::string Attributes(const xla::Instruction& instruction) {
    const auto& lists = instruction.lists;
    const xla::Element element = instruction.type.element;
    switch (instruction.kind) {
      case Kind::kParameter:
        return instruction.sharding.empty() ? "" : ", sharding=" + instruction.sharding;
      case Kind::kConstant:
      case Kind::kElementwise:
        return "";
      case Kind::kSharding:
        return ", custom_call_target=\"Sharding\", sharding=" + instruction.sharding;
      case Kind::kCompare:
        return fmt::format(", direction={}", instruction.name);
      case Kind::kBroadcast:
      case Kind::kTranspose:
      case Kind::kReverse:
      case Kind::kConcatenate:
        return ", dimensions=" + Braces(lists[0]);
      case Kind::kIota:
        return fmt::format(", iota_dimension={}", lists[0][0]);
      case Kind::kSlice: {
        std::string ranges;
        for (size_t i = 0; i < lists[0].size(); ++i) {
          ranges += fmt::format("{}[{}:{}", i > 0 ? ", " : "", lists[0][i], lists[1][i]);
          ranges += lists[2][i] == 1 ? "]" : fmt::format(":{}]", lists[2][i]);
        }
        return fmt::format(", slice={{{}}}", ranges);
      }
      case Kind::kPad: {
        std::string text;
        for (size_t i = 0; i < lists[0].size(); ++i)
          text +=
              fmt::format("{}{}_{}_{}", i > 0 ? "x" : "", lists[0][i], lists[1][i], lists[2][i]);
        return ", padding=" + text;
      }
      case Kind::kDot: {
        const int64_t batch = instruction.number;
        return fmt::format("{}, lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}",
                           batch > 0 ? ", lhs_batch_dims={0}, rhs_batch_dims={0}" : "", batch + 1,
                           batch);
      }
      case Kind::kConvolution:
        return fmt::format(", {}, dim_labels={}{}", WindowText(instruction.window),
                           instruction.name, GroupsText(instruction.window));
      case Kind::kReduce:
        return fmt::format(", dimensions={}, to_apply={}", Braces(lists[0]),
                           ComputationOf(instruction));
      case Kind::kReduceWindow:
        return fmt::format(", {}, to_apply={}", WindowText(instruction.window),
                           ComputationOf(instruction));
      case Kind::kBatchNorm:
        return fmt::format(", epsilon={}, feature_index=1", RealOf(instruction.number));
      case Kind::kOutput:
        return fmt::format(", index={}", instruction.number);
      case Kind::kGather:
        return fmt::format(
            ", offset_dims={}, collapsed_slice_dims={}, start_index_map={}, "
            "index_vector_dim={}, slice_sizes={}",
            Braces(lists[0]), Braces(lists[1]), Braces(lists[2]),
            TypeOf(instruction.operands[1]).rank() - 1, Braces(lists[3]));
      case Kind::kScatter:
        return fmt::format(
            ", update_window_dims={}, inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={}, index_vector_dim={}, to_apply={}",
            Braces(lists[0]), Braces(lists[1]), Braces(lists[2]),
            TypeOf(instruction.operands[1]).rank() - 1, Computation(instruction.combine, element));
      case Kind::kCollective: {
        std::string text;
        const Dims& ranks = instruction.lists[0];
        for (size_t i = 0; i < ranks.size(); i += size_t(instruction.number)) {
          const auto begin = ranks.begin() + int64_t(i);
          text += (i > 0 ? "," : "") + Braces({begin, begin + instruction.number});
        }
        text = fmt::format(", replica_groups={{{}}}", text);
        if (instruction.lists[1][0] >= 0)
          text += fmt::format(", dimensions={}", Braces(instruction.lists[1]));
        if (!instruction.combine.empty())
          text += ", to_apply=" + Computation(instruction.combine, element);
        return text;
      }
    }
    return "";
  }

  const Program& program_;
  const bool debug_;
  const std::string name_;
  const xla::Graph graph_;
  std::vector<std::string> names_;  // names of graph_'s instructions
  std::set<std::string> computations_;
  HloFrames frames_;
};

}  // namespace

std::string HloText(const Program& program, TextOptions options) {
  return HloPrinter(program, options).Print();
}

}  // namespace xlaprof::lazy

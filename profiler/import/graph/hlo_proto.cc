#include "profiler/import/graph/hlo_proto.h"

#include <absl/container/flat_hash_map.h>
#include <google/protobuf/arena.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/source_place.h"
#include "profiler/import/graph/graph_text.h"
#include "profiler/import/graph/hlo.pb.h"
#include "profiler/import/graph/hlo_metadata.h"
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

// Literals of up to this many elements are printed. Larger ones are replaced by a hash, which is
// enough to distinguish two of them.
constexpr int kPrintedElements = 16;
// Protobuf files nest shapes and literals (tuples of tuples). Only hostile files nest deeper.
constexpr int kMaxDepth = 32;

// The names of PrimitiveType, by number.
constexpr std::string_view kElementTypes[] = {
    "invalid",    "pred",       "s8",   "s16",    "s32",      "s64",    "u8",     "u16",
    "u32",        "u64",        "f16",  "f32",    "f64",      "tuple",  "opaque", "c64",
    "bf16",       "token",      "c128", "f8e5m2", "f8e4m3fn", "s4",     "u4",     "f8e4m3b11fnuz",
    "f8e5m2fnuz", "f8e4m3fnuz", "s2",   "u2",     "f8e4m3",   "f8e3m4", "s1",     "u1",
    "f4e2m1fn",   "f8e8m0fnu"};
constexpr int kTuple = 13;

std::string_view ElementType(int type) {
  return type >= 0 && type < int(std::size(kElementTypes)) ? kElementTypes[type] : "unknown";
}

template <class Numbers>
std::string Joined(const Numbers& numbers, std::string_view between = ",") {
  return fmt::format("{}", fmt::join(numbers, between));
}

// Appends a shape as XLA's text has it: f32[64,10]{1,0:T(8,128)S(5)}.
void AppendShape(const hlo::Shape& shape, std::string* out, int depth = 0) {
  if (shape.element_type() == kTuple) {
    *out += '(';
    for (int i = 0; i < shape.tuple_shapes_size() && depth < kMaxDepth; ++i) {
      if (i > 0) *out += ", ";
      AppendShape(shape.tuple_shapes(i), out, depth + 1);
    }
    *out += ')';
    return;
  }
  *out += ElementType(shape.element_type());
  *out += '[';
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    bool dynamic = i < shape.is_dynamic_dimension_size() && shape.is_dynamic_dimension(i);
    fmt::format_to(std::back_inserter(*out), "{}{}{}", i > 0 ? "," : "", dynamic ? "<=" : "",
                   shape.dimensions(i));
  }
  *out += ']';
  if (!shape.has_layout() || shape.dimensions_size() == 0) return;
  const hlo::Layout& layout = shape.layout();
  *out += '{';
  *out += Joined(layout.minor_to_major());
  if (layout.tiles_size() > 0 || layout.memory_space() != 0 || layout.element_size_in_bits() != 0)
    *out += ':';
  if (layout.tiles_size() > 0) {
    *out += 'T';
    for (const hlo::Tile& tile : layout.tiles()) {
      *out += '(';
      for (int i = 0; i < tile.dimensions_size(); ++i) {
        if (i > 0) *out += ',';
        // XLA marks a dimension that is combined with the next one this way.
        *out += tile.dimensions(i) == INT64_MIN ? "*" : fmt::to_string(tile.dimensions(i));
      }
      *out += ')';
    }
  }
  if (layout.element_size_in_bits() != 0)
    fmt::format_to(std::back_inserter(*out), "E({})", layout.element_size_in_bits());
  if (layout.memory_space() != 0)
    fmt::format_to(std::back_inserter(*out), "S({})", layout.memory_space());
  *out += '}';
}

std::string ShapeText(const hlo::Shape& shape) {
  std::string text;
  AppendShape(shape, &text);
  return text;
}

double Half(uint16_t bits) {
  double sign = bits >> 15 ? -1 : 1;
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <class T>
std::vector<T> Elements(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// Returns {1, 2, 3}, or one number for a scalar, or # and a hash if there are many elements.
std::string LiteralText(const hlo::Literal& literal, int depth = 0) {
  if (literal.tuple_literals_size() > 0 && depth < kMaxDepth) {
    std::string text = "(";
    for (const hlo::Literal& element : literal.tuple_literals()) {
      text += fmt::format("{}{}", text.size() > 1 ? ", " : "", LiteralText(element, depth + 1));
    }
    return text + ")";
  }
  std::vector<std::string> printed;
  size_t count = 0;
  auto print = [&](const auto& values) {
    count = size_t(values.size());
    if (count > kPrintedElements) return;
    for (auto value : values) printed.push_back(fmt::format("{}", value));
  };
  auto halves = [&](std::string_view bytes, auto decode) {
    std::vector<double> values;
    if (bytes.size() / 2 > kPrintedElements) {
      count = bytes.size() / 2;
      return;
    }
    for (uint16_t bits : Elements<uint16_t>(bytes)) values.push_back(decode(bits));
    print(values);
  };
  if (literal.preds_size() > 0) print(literal.preds());
  if (!literal.u8s().empty()) print(Elements<uint8_t>(literal.u8s()));
  if (!literal.s8s().empty()) print(Elements<int8_t>(literal.s8s()));
  if (!literal.u16s().empty()) print(Elements<uint16_t>(literal.u16s()));
  if (!literal.s16s().empty()) print(Elements<int16_t>(literal.s16s()));
  if (literal.s32s_size() > 0) print(literal.s32s());
  if (literal.s64s_size() > 0) print(literal.s64s());
  if (literal.u32s_size() > 0) print(literal.u32s());
  if (literal.u64s_size() > 0) print(literal.u64s());
  if (literal.f32s_size() > 0) print(literal.f32s());
  if (literal.f64s_size() > 0) print(literal.f64s());
  if (!literal.f16s().empty()) halves(literal.f16s(), Half);
  if (!literal.bf16s().empty()) {
    halves(literal.bf16s(),
           [](uint16_t bits) { return double(std::bit_cast<float>(uint32_t(bits) << 16)); });
  }
  if (count > kPrintedElements) {
    std::string bytes;
    (void)literal.SerializeToString(&bytes);
    return HashOfLiteral(bytes);
  }
  if (printed.size() == 1 && literal.shape().dimensions_size() == 0) return printed[0];
  return fmt::format("{{{}}}", fmt::join(printed, ", "));
}

// Returns a window as XLA prints it: {size=3x3 stride=2x2 pad=1_1x1_1}. Values that are the default
// everywhere are left out.
std::string WindowText(const hlo::Window& window) {
  auto all = [&](auto value) {
    std::string text;
    for (const hlo::WindowDimension& d : window.dimensions())
      text += fmt::format("{}{}", text.empty() ? "" : "x", value(d));
    return text;
  };
  auto any = [&](auto differs) {
    for (const hlo::WindowDimension& d : window.dimensions()) {
      if (differs(d)) return true;
    }
    return false;
  };
  std::string text = "{size=" + all([](auto& d) { return fmt::to_string(d.size()); });
  if (any([](auto& d) { return d.stride() != 1; }))
    text += " stride=" + all([](auto& d) { return fmt::to_string(d.stride()); });
  if (any([](auto& d) { return d.padding_low() != 0 || d.padding_high() != 0; })) {
    text += " pad=" +
            all([](auto& d) { return fmt::format("{}_{}", d.padding_low(), d.padding_high()); });
  }
  if (any([](auto& d) { return d.base_dilation() > 1; })) {
    text += " lhs_dilate=" + all([](auto& d) { return fmt::to_string(d.base_dilation()); });
  }
  if (any([](auto& d) { return d.window_dilation() > 1; })) {
    text += " rhs_dilate=" + all([](auto& d) { return fmt::to_string(d.window_dilation()); });
  }
  if (any([](auto& d) { return d.window_reversal(); })) {
    text += " rhs_reversal=" + all([](auto& d) { return d.window_reversal() ? "1" : "0"; });
  }
  return text + "}";
}

// Returns b01f_01io->b01f, with one letter per dimension (b batch, f feature; i input, o output;
// digits: spatial).
std::string ConvolutionText(const hlo::ConvolutionDimensionNumbers& numbers) {
  auto labels = [](int64_t a, char a_label, int64_t b, char b_label, const auto& spatial) {
    std::string text(size_t(spatial.size()) + 2, '?');
    auto put = [&](int64_t at, char label) {
      if (at >= 0 && at < int64_t(text.size())) text[size_t(at)] = label;
    };
    put(a, a_label);
    put(b, b_label);
    for (int i = 0; i < spatial.size(); ++i) put(spatial.Get(i), char('0' + i));
    return text;
  };
  return fmt::format(
      "{}_{}->{}",
      labels(numbers.input_batch_dimension(), 'b', numbers.input_feature_dimension(), 'f',
             numbers.input_spatial_dimensions()),
      labels(numbers.kernel_input_feature_dimension(), 'i',
             numbers.kernel_output_feature_dimension(), 'o', numbers.kernel_spatial_dimensions()),
      labels(numbers.output_batch_dimension(), 'b', numbers.output_feature_dimension(), 'f',
             numbers.output_spatial_dimensions()));
}

// Returns the attributes of an instruction. `computation_of_id` gives the numbers of computations
// that are called.
std::string AttributesText(const hlo::HloInstruction& in,
                           const absl::flat_hash_map<int64_t, int64_t>& computation_of_id) {
  std::vector<std::string> parts;
  auto add = [&](std::string_view key, std::string value) {
    parts.push_back(fmt::format("{}={}", key, value));
  };
  auto add_list = [&](std::string_view key, const auto& numbers) {
    add(key, fmt::format("{{{}}}", Joined(numbers)));
  };
  auto list = [&](std::string_view key, const auto& numbers) {
    if (numbers.size() > 0) add_list(key, numbers);
  };
  if (in.opcode() == "parameter") add("parameter", fmt::to_string(in.parameter_number()));
  if (in.has_literal()) add("literal", LiteralText(in.literal()));
  if (in.opcode() == "get-tuple-element") add("index", fmt::to_string(in.tuple_index()));
  if (in.dimensions_size() > 0 || in.opcode() == "broadcast")
    add_list("dimensions", in.dimensions());
  if (in.opcode() == "iota" && in.dimensions_size() == 0) add("iota_dimension", "0");
  if (in.slice_dimensions_size() > 0) {
    std::string text;
    for (const hlo::SliceDimensions& d : in.slice_dimensions()) {
      text += fmt::format("{}[{}:{}", text.empty() ? "" : ", ", d.start(), d.limit());
      if (d.stride() != 1) text += fmt::format(":{}", d.stride());
      text += ']';
    }
    add("slice", fmt::format("{{{}}}", text));
  }
  list("dynamic_slice_sizes", in.dynamic_slice_sizes());
  if (in.has_window()) add("window", WindowText(in.window()));
  if (in.has_convolution_dimension_numbers())
    add("dim_labels", ConvolutionText(in.convolution_dimension_numbers()));
  if (in.has_padding_config()) {
    std::string text;
    for (const auto& d : in.padding_config().dimensions()) {
      text += fmt::format("{}{}_{}", text.empty() ? "" : "x", d.edge_padding_low(),
                          d.edge_padding_high());
      if (d.interior_padding() != 0) text += fmt::format("_{}", d.interior_padding());
    }
    add("padding", text);
  }
  if (in.has_dot_dimension_numbers()) {
    const auto& dot = in.dot_dimension_numbers();
    list("lhs_batch_dims", dot.lhs_batch_dimensions());
    list("lhs_contracting_dims", dot.lhs_contracting_dimensions());
    list("rhs_batch_dims", dot.rhs_batch_dimensions());
    list("rhs_contracting_dims", dot.rhs_contracting_dimensions());
  }
  if (in.has_gather_dimension_numbers()) {
    const auto& gather = in.gather_dimension_numbers();
    add_list("offset_dims", gather.offset_dims());
    add_list("collapsed_slice_dims", gather.collapsed_slice_dims());
    add_list("start_index_map", gather.start_index_map());
    add("index_vector_dim", fmt::to_string(gather.index_vector_dim()));
  }
  list("slice_sizes", in.gather_slice_sizes());
  if (in.has_scatter_dimension_numbers()) {
    const auto& scatter = in.scatter_dimension_numbers();
    add_list("update_window_dims", scatter.update_window_dims());
    add_list("inserted_window_dims", scatter.inserted_window_dims());
    add_list("scatter_dims_to_operand_dims", scatter.scatter_dims_to_operand_dims());
    add("index_vector_dim", fmt::to_string(scatter.index_vector_dim()));
  }
  if (!in.comparison_direction().empty()) add("direction", in.comparison_direction());
  if (!in.fusion_kind().empty()) add("kind", in.fusion_kind());
  if (!in.custom_call_target().empty())
    add("custom_call_target", fmt::format("\"{}\"", in.custom_call_target()));
  if (in.called_computation_ids_size() > 0) {
    std::vector<int64_t> called;
    for (int64_t id : in.called_computation_ids()) {
      auto found = computation_of_id.find(id);
      called.push_back(found == computation_of_id.end() ? -1 : found->second);
    }
    add("calls",
        called.size() == 1 ? fmt::to_string(called[0]) : fmt::format("{{{}}}", Joined(called)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns which result takes the memory of each donated parameter, or -1 if none does. Donated parts
// of a parameter that is a tuple are not distinguished.
absl::flat_hash_map<int64_t, int64_t> Donated(const hlo::HloModule& module) {
  absl::flat_hash_map<int64_t, int64_t> result_of;
  for (const hlo::InputOutputAlias::Entry& entry : module.input_output_alias().entries()) {
    result_of[entry.parameter_number()] =
        entry.output_shape_index_size() > 0 ? entry.output_shape_index(0) : 0;
  }
  for (const hlo::BufferDonor::Entry& entry : module.buffer_donor().entries())
    result_of.try_emplace(entry.parameter_number(), -1);
  return result_of;
}

// Returns the frames of an instruction, innermost first.
std::vector<Store::Frame> Stack(const hlo::OpMetadata& metadata,
                                const hlo::StackFrameIndex& index) {
  constexpr int kMaxFrames = 1000;
  std::vector<Store::Frame> stack;
  int frame = metadata.stack_frame_id();
  for (int depth = 0; depth < kMaxFrames && frame >= 1 && frame <= index.stack_frames_size();
       ++depth) {
    const auto& stack_frame = index.stack_frames(frame - 1);
    frame = stack_frame.parent_frame_id();
    const int at = stack_frame.file_location_id();
    if (at < 1 || at > index.file_locations_size()) continue;
    const auto& location = index.file_locations(at - 1);
    const int file = location.file_name_id(), function = location.function_name_id();
    if (file < 1 || file > index.file_names_size()) continue;
    const bool named = function >= 1 && function <= index.function_names_size();
    stack.push_back({named ? index.function_names(function - 1) : std::string(),
                     index.file_names(file - 1), location.line(),
                     OwnerOf(index.file_names(file - 1))});
  }
  return stack;
}

// The computations in the order of the proto, with the entry moved to the end. Called ones are
// identified by their place in that order.
struct Computations {
  std::vector<const hlo::HloComputation*> in_order;
  const hlo::HloComputation* entry = nullptr;
  absl::flat_hash_map<int64_t, int64_t> place_of_id;
  int64_t node_count = 0;

  explicit Computations(const hlo::HloModule& module) {
    for (const hlo::HloComputation& computation : module.computations()) {
      if (entry == nullptr && (computation.id() == module.entry_computation_id() ||
                               computation.name() == module.entry_computation_name())) {
        entry = &computation;
      } else {
        in_order.push_back(&computation);
      }
    }
    if (entry == nullptr && !in_order.empty()) {
      entry = in_order.back();
      in_order.pop_back();
    }
    if (entry != nullptr) in_order.push_back(entry);
    for (size_t i = 0; i < in_order.size(); ++i) {
      place_of_id.emplace(in_order[i]->id(), int64_t(i));
      node_count += in_order[i]->instructions_size();
    }
  }
};

GraphRow RowOf(const hlo::HloModule& module, const Computations& computations, OptInt program_id,
               HloForm form) {
  GraphRow row{.name = ToUtf8(module.name()),
               .program_id = program_id,
               .node_count = computations.node_count,
               .printed_as = form == HloForm::kOptimized || module.has_schedule()
                                 ? PrintedForm::kHloOptimized
                                 : PrintedForm::kHlo};
  if (module.has_host_program_shape()) {
    const hlo::ProgramShape& shape = module.host_program_shape();
    row.input_count = shape.parameters_size();
    row.output_count =
        shape.result().element_type() == kTuple ? shape.result().tuple_shapes_size() : 1;
  }
  return row;
}

// Adds the instructions of a module as nodes of `graph`, and sets what they show of the user's code.
class NodeWriter {
 public:
  NodeWriter(const hlo::HloModule& module, const Computations& computations, Store& store,
             HloGraph& graph)
      : module_(module),
        computations_(computations),
        store_(store),
        graph_(graph),
        donated_(Donated(module)) {}

  absl::Status Write(const hlo::HloComputation& computation) {
    absl::flat_hash_map<int64_t, int64_t> idx_of_id;
    const hlo::HloInstruction* root = nullptr;
    for (const hlo::HloInstruction& in : computation.instructions()) {
      idx_of_id.emplace(in.id(), next_ + int64_t(idx_of_id.size()));
      if (in.id() == computation.root_id()) root = &in;
    }
    const bool is_entry = &computation == computations_.entry;
    for (const hlo::HloInstruction& in : computation.instructions()) {
      GraphNodeRow node = NodeOf(in, idx_of_id);
      // The root is one result as a whole; a tuple's elements are its operands.
      if (is_entry && root == &in) node.root = 0;
      if (!is_entry) node.computation = ToUtf8(computation.name());
      if (is_entry && in.opcode() == "parameter") AddParameter(in, node);
      XP_TRY(store_.Add(node));
    }
    return absl::OkStatus();
  }

 private:
  GraphNodeRow NodeOf(const hlo::HloInstruction& in,
                      const absl::flat_hash_map<int64_t, int64_t>& idx_of_id) {
    GraphNodeRow node{.graph_id = graph_.graph_id,
                      .idx = next_++,
                      .op = ToUtf8(in.opcode()),
                      .shape = ShapeText(in.shape()),
                      .name = ToUtf8(in.name())};
    for (int64_t id : in.operand_ids()) {
      auto found = idx_of_id.find(id);
      if (found == idx_of_id.end()) continue;
      AppendTo(node.operands, fmt::to_string(found->second), ",");
    }
    std::string attributes = AttributesText(in, computations_.place_of_id);
    if (!attributes.empty()) node.attributes = ToUtf8(attributes);
    const std::string& op_name = in.metadata().op_name();
    if (size_t slash = op_name.rfind('/'); slash != std::string::npos && slash > 0)
      node.scope = ToUtf8(std::string_view(op_name).substr(0, slash));
    if (std::string op = FrameworkOp(in.metadata().op_type(), op_name); !op.empty())
      node.framework_op = ToUtf8(op);
    if (std::string location = LocationOf(in.metadata()); !location.empty()) {
      if (graph_.located_nodes++ == 0 ||
          (!IsUserFile(graph_.located_example) && IsUserFile(location)))
        graph_.located_example = location;
      node.location = std::move(location);
    }
    return node;
  }

  // Adds what is known of the caller's argument.
  void AddParameter(const hlo::HloInstruction& in, GraphNodeRow& node) const {
    const auto donated = donated_.find(in.parameter_number());
    std::string attributes = std::move(node.attributes).value_or("");
    AppendParameter(donated == donated_.end() ? OptInt() : donated->second, in.metadata().op_type(),
                    ToUtf8(in.metadata().op_name()), attributes);
    node.attributes = std::move(attributes);
  }

  std::string LocationOf(const hlo::OpMetadata& metadata) {
    auto [place, is_new] = places_.try_emplace(metadata.stack_frame_id());
    if (is_new) {
      const std::vector<Store::Frame> stack = Stack(metadata, module_.stack_frame_index());
      if (graph_.call_site.file.empty()) graph_.call_site = CallSite(stack, module_.name());
      place->second = ToUtf8(NearestLine(stack));
    }
    if (!place->second.empty() || metadata.source_file().empty()) return place->second;
    return ToUtf8(SourcePlace{metadata.source_file(), metadata.source_line()}.text());
  }

  const hlo::HloModule& module_;
  const Computations& computations_;
  Store& store_;
  HloGraph& graph_;
  const absl::flat_hash_map<int64_t, int64_t> donated_;  // the result of each donated parameter
  int64_t next_ = 0;
  absl::flat_hash_map<int, std::string> places_;  // by stack frame: thousands of nodes share few
};

}  // namespace

absl::StatusOr<HloGraph> AddHloGraph(std::string_view proto, OptInt program_id, int64_t offset,
                                     ImportContext& context, HloForm form) {
  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<hlo::HloProto>(&arena);
  if (proto.size() > INT32_MAX || !message->ParseFromArray(proto.data(), int(proto.size()))) {
    return DataLoss("HLO of {} bytes at byte {}: not a readable HloProto", proto.size(), offset);
  }
  const hlo::HloModule& module = message->hlo_module();
  const Computations computations(module);
  GraphRow row = RowOf(module, computations, program_id, form);
  XP_TRY(row.process_id, context.ProcessId());
  HloGraph graph{.name = ToUtf8(module.name())};
  XP_TRY(graph.graph_id, context.Add(row, offset));
  NodeWriter writer(module, computations, context.store, graph);
  for (const hlo::HloComputation* computation : computations.in_order)
    XP_TRY(writer.Write(*computation));
  return graph;
}

}  // namespace xlaprof

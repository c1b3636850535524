#include <limits>

#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

// Returns the lowest and the highest value of booleans or of a type of integers that operations
// have.
std::pair<int64_t, int64_t> LimitsOf(Element element) {
  return VisitDType(DType(element), []<class T>(T) -> std::pair<int64_t, int64_t> {
    if constexpr (std::is_integral_v<T>)
      return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
    else
      return {};
  });
}

Dims Without(const Dims& sizes, const Dims& dims) {
  Dims left;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (std::find(dims.begin(), dims.end(), int64_t(i)) == dims.end()) left.push_back(sizes[i]);
  }
  return left;
}

}  // namespace

Value Builder::Add(Instruction instruction) {
  instruction.origin = origin_;
  graph_->instructions.push_back(std::move(instruction));
  return Value(graph_->instructions.size() - 1);
}

Value Builder::ConstantBits(int64_t bits, Element element) {
  return Add({.kind = Kind::kConstant, .name = "constant", .type = {element, {}}, .number = bits});
}

Value Builder::Constant(double value, Element element) {
  return ConstantBits(IsFloat(element) ? AttributeOf(value) : int64_t(value), element);
}

Value Builder::Lowest(Element element) {
  if (IsFloat(element)) return Constant(-std::numeric_limits<double>::infinity(), element);
  return ConstantBits(LimitsOf(element).first, element);
}

Value Builder::Highest(Element element) {
  if (IsFloat(element)) return Constant(std::numeric_limits<double>::infinity(), element);
  return ConstantBits(LimitsOf(element).second, element);
}

Value Builder::Splat(double value, const Type& type) {
  return BroadcastScalar(Constant(value, type.element), type);
}

Value Builder::Unary(std::string_view name, Value a) {
  return Add({.kind = Kind::kElementwise, .name = name, .type = TypeOf(a), .operands = {a}});
}

Value Builder::Binary(std::string_view name, Value a, Value b) {
  return Add({.kind = Kind::kElementwise, .name = name, .type = TypeOf(a), .operands = {a, b}});
}

Value Builder::Compare(std::string_view direction, Value a, Value b) {
  return Add({.kind = Kind::kCompare,
              .name = direction,
              .type = {Element::kBool, TypeOf(a).dims},
              .operands = {a, b}});
}

Value Builder::Select(Value condition, Value yes, Value no) {
  return Add({.kind = Kind::kElementwise,
              .name = "select",
              .type = TypeOf(yes),
              .operands = {condition, yes, no}});
}

Value Builder::Convert(Value a, Element element) {
  if (TypeOf(a).element == element) return a;
  return Add({.kind = Kind::kElementwise,
              .name = "convert",
              .type = {element, TypeOf(a).dims},
              .operands = {a}});
}

Value Builder::Reshape(Value a, Dims dims) {
  if (TypeOf(a).dims == dims) return a;
  return Add({.kind = Kind::kElementwise,
              .name = "reshape",
              .type = {TypeOf(a).element, std::move(dims)},
              .operands = {a}});
}

Value Builder::Broadcast(Value a, Dims dims, Type to) {
  if (TypeOf(a) == to) return a;
  return Add({.kind = Kind::kBroadcast,
              .name = "broadcast_in_dim",
              .type = std::move(to),
              .operands = {a},
              .lists = {std::move(dims)}});
}

Value Builder::Transpose(Value a, Dims permutation) {
  Type type{TypeOf(a).element, {}};
  for (int64_t dim : permutation) type.dims.push_back(TypeOf(a).dims[size_t(dim)]);
  return Add({.kind = Kind::kTranspose,
              .name = "transpose",
              .type = std::move(type),
              .operands = {a},
              .lists = {std::move(permutation)}});
}

Value Builder::Iota(Type type, int64_t dim) {
  return Add({.kind = Kind::kIota, .name = "iota", .type = std::move(type), .lists = {{dim}}});
}

Value Builder::Pad(Value a, Value value, Dims low, Dims high, Dims interior) {
  Type type = TypeOf(a);
  for (size_t i = 0; i < type.dims.size(); ++i) {
    int64_t& size = type.dims[i];
    size += low[i] + high[i] + (size > 0 ? (size - 1) * interior[i] : 0);
  }
  return Add({.kind = Kind::kPad,
              .name = "pad",
              .type = std::move(type),
              .operands = {a, value},
              .lists = {std::move(low), std::move(high), std::move(interior)}});
}

Value Builder::Reduce(Value a, Value begin, std::string_view combine, Dims dims) {
  return Add({.kind = Kind::kReduce,
              .name = "reduce",
              .type = {TypeOf(a).element, Without(TypeOf(a).dims, dims)},
              .operands = {a, begin},
              .lists = {std::move(dims)},
              .combine = combine});
}

Value Builder::ReduceWindow(Value a, Value begin, std::string_view combine, Window window,
                            Type to) {
  return Add({.kind = Kind::kReduceWindow,
              .name = "reduce_window",
              .type = std::move(to),
              .operands = {a, begin},
              .window = std::move(window),
              .combine = combine});
}

Value Builder::PlaceOfLargest(Instruction reduction, Value a, Value places, Dims to) {
  const Element element = TypeOf(a).element, place = TypeOf(places).element;
  reduction.type = {element, to};
  reduction.outputs = {reduction.type, {place, std::move(to)}};
  reduction.operands = {a, places, Lowest(element), Highest(place)};
  reduction.combine = kLargest;
  return Output(Add(std::move(reduction)), 1);
}

Value Builder::ArgMax(Value a, Value places, Dims dims) {
  Dims to = Without(TypeOf(a).dims, dims);
  return PlaceOfLargest({.kind = Kind::kReduce, .name = "reduce", .lists = {std::move(dims)}}, a,
                        places, std::move(to));
}

Value Builder::ArgMax(Value a, Value places, Window window, Dims to) {
  return PlaceOfLargest(
      {.kind = Kind::kReduceWindow, .name = "reduce_window", .window = std::move(window)}, a,
      places, std::move(to));
}

Value Builder::Output(Value all, int64_t output) {
  const Type type = graph_->instructions[size_t(all)].outputs[size_t(output)];
  return Add({.kind = Kind::kOutput,
              .name = "get_tuple_element",
              .type = type,
              .operands = {all},
              .number = output});
}

}  // namespace xlaprof::lazy::xla

// Lowers operations to those of XLA. There is one rule per operation, in files by family.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "core/ir/xla/graph.h"

namespace xlaprof::lazy::xla {

using Value = int32_t;  // index into Graph::instructions

// Appends instructions to a graph. The caller gives the result's type if it does not follow from
// the operands.
class Builder {
 public:
  Builder(Graph* graph, int32_t origin) : graph_(graph), origin_(origin) {}

  Value Add(Instruction instruction);
  // Returns a copy, because adding an instruction moves the others.
  Type TypeOf(Value value) const { return graph_->instructions[size_t(value)].type; }

  // Adds `value`, rounded to the type; for integer types it must be an integer.
  Value Constant(double value, Element element);
  Value ConstantBits(int64_t bits, Element element);  // a constant's value, as in op.h
  Value Lowest(Element element);                      // the minimum; false for booleans
  Value Highest(Element element);
  Value Splat(double value, const Type& type);

  Value Unary(std::string_view name, Value a);
  Value Binary(std::string_view name, Value a, Value b);
  Value Compare(std::string_view direction, Value a, Value b);
  Value Select(Value condition, Value yes, Value no);
  Value Convert(Value a, Element element);
  Value Reshape(Value a, Dims dims);
  // Adds a broadcast. `dims` has the dimension of `to` for each dimension of `a`; their sizes are
  // equal.
  Value Broadcast(Value a, Dims dims, Type to);
  Value BroadcastScalar(Value a, const Type& to) { return Broadcast(a, {}, to); }
  Value Transpose(Value a, Dims permutation);
  Value Iota(Type type, int64_t dim);
  Value Pad(Value a, Value value, Dims low, Dims high, Dims interior);
  Value Reduce(Value a, Value begin, std::string_view combine, Dims dims);
  Value ReduceWindow(Value a, Value begin, std::string_view combine, Window window, Type to);
  // Returns, for each result of the reduction or of the window, the place of its largest element.
  // `places` has the place of each element of `a`, each another one. A NaN counts as the largest;
  // of equal elements, the one with the smallest place is taken. The place is found together with
  // the element, in one operation. Comparing `a` with its maximum would not do: XLA may compute `a`
  // again for the comparison, rounded otherwise, and then no element equals the maximum.
  Value ArgMax(Value a, Value places, Dims dims);
  Value ArgMax(Value a, Value places, Window window, Dims to);
  // Adds one output of an instruction with several.
  Value Output(Value all, int64_t output);

 private:
  Value PlaceOfLargest(Instruction reduction, Value a, Value places, Dims to);

  Graph* graph_;
  int32_t origin_;
};

struct Call {
  Builder& b;
  const std::vector<Value>& operands;
  const Attributes& attributes;
  const Type& type;  // the result's type
  // For an operation with several outputs: the value that has all of them, made for the first
  // requested one; -1 before.
  Value* all;

  Value operator[](size_t i) const { return operands[i]; }
  Type TypeOf(size_t i) const { return b.TypeOf(operands[i]); }
};
using Rule = Value (*)(const Call&);
using Rules = absl::flat_hash_map<const Op*, Rule>;

void AddElementwiseRules(Rules* rules);
void AddShapeRules(Rules* rules);
void AddContractionRules(Rules* rules);
void AddReductionRules(Rules* rules);
void AddIndexingRules(Rules* rules);
void AddPoolingRules(Rules* rules);
void AddBatchNormRules(Rules* rules);
void AddRandomRules(Rules* rules);
void AddCollectiveRules(Rules* rules);

// Is the rule of index_select, for those of other operations.
Value IndexSelect(const Call& call);

// Returns the type that holds sums of `element`: f32 for 16-bit floats, which would lose small
// addends.
inline Element SumElement(Element element) {
  return element == Element::kBF16 || element == Element::kF16 ? Element::kF32 : element;
}

}  // namespace xlaprof::lazy::xla

// A program in XLA's operations, from which StableHLO and HLO texts are printed.
#pragma once

#include <string_view>
#include <vector>

#include "core/graph/program.h"

namespace xlaprof::lazy::xla {

// The element types of tensors, in their order, and two more for random numbers.
enum class Element : uint8_t {
  kBool,
  kU8,
  kI8,
  kI16,
  kI32,
  kI64,
  kBF16,
  kF16,
  kF32,
  kF64,
  kU32,
  kU64
};
constexpr Element Of(DType type) { return Element(type); }
std::string_view HloName(Element element);        // u32
std::string_view StableHloName(Element element);  // ui32
bool IsFloat(Element element);

struct Type {
  Element element = Element::kF32;
  Dims dims;
  bool operator==(const Type&) const = default;
  int64_t rank() const { return int64_t(dims.size()); }
  int64_t elements() const { return Shape{DType::kBool, dims}.elements(); }
  std::string HloText() const;        // f32[16,8]
  std::string HloLayoutText() const;  // f32[16,8]{1,0}
  std::string StableHloText() const;  // tensor<16x8xf32>
};
inline Type Of(const Shape& shape) { return {Of(shape.dtype), shape.dims}; }

enum class Kind : uint8_t {
  kParameter,
  kConstant,     // it is a scalar
  kElementwise,  // `name` is the operation; also reshape, convert, select, clamp
  kCompare,      // `name` is the direction
  kBroadcast,    // lists: the operand's dimensions in the result
  kTranspose,
  kReverse,
  kConcatenate,
  kIota,
  kSlice,        // lists: start, limit, stride
  kPad,          // (operand, value); lists: low, high, interior
  kDot,          // the first `number` dimensions are batches
  kConvolution,  // `name` is the dimension labels in HLO's form
  // (operand, initial value). With kLargest: (operand, places, initial value, initial place), whose
  // outputs are the largest elements and their places.
  kReduce,
  kReduceWindow,
  kBatchNorm,   // `name` is the operation; number: the bits of epsilon, a double
  kOutput,      // output `number` of its operand
  kGather,      // (operand, indices); lists: offset dimensions, collapsed, index map, slice sizes
  kScatter,     // (operand, indices, updates); lists: window dimensions, inserted, index map
  kCollective,  // lists: the ranks, group by group, and the dimension; number: a group's size
  kSharding,    // `sharding` is that of the operand
};

// The combination of two elements with their places: the larger one with its place. NaN is larger
// than all numbers, and of equal elements the one with the smaller place is taken.
inline constexpr std::string_view kLargest = "largest";

// A step of that combination. Its operands are earlier steps, or the elements `a` and `b` and their
// places `i` and `j`. The results are the steps `value` and `place`.
struct LargestStep {
  std::string_view name, opcode;
  std::vector<std::string_view> operands;
  std::string_view direction = "";  // of compare
  bool of_places = false;           // whether compare or select takes places
};
std::vector<LargestStep> LargestSteps(Element element);

struct Window {
  Dims size, stride, low, high;
  // Only for convolutions.
  Dims base_dilation, window_dilation;
  bool reversed = false;
  int64_t feature_groups = 1, batch_groups = 1;
};

struct Instruction {
  Kind kind;
  std::string_view name;  // StableHLO's
  Type type;
  std::vector<Type> outputs;  // if there are several; `type` is the first's
  absl::InlinedVector<int32_t, 3> operands;
  std::vector<Dims> lists;
  int64_t number = 0;  // a parameter's number; a constant's value, as in op.h
  Window window;
  // The operation of kReduce, kScatter and others: add. A scatter without one replaces.
  std::string_view combine;
  std::string sharding;  // of a parameter or kSharding, in XLA's form; empty: none
  int32_t origin = 0;  // the program's instruction that it belongs to
};

struct Graph {
  std::vector<Instruction> instructions;
  std::vector<int32_t> parameters, results;
  int64_t ranks = 1;  // that run the program together, each on its own data
  int64_t partitions = 1;  // into which its tensors are divided
};

Graph Lower(const Program& program);

// Returns the operation's name in XLA's metadata: `scope/aten__mul`.
std::string OpName(const lazy::Instruction& instruction);
std::string OpType(const Op& op);  // aten__mul

// Returns text in quotes that both forms can read. Control characters become '?'.
std::string Quoted(std::string_view text);

}  // namespace xlaprof::lazy::xla

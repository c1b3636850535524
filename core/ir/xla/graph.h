// A program in the operations that XLA has: what StableHLO and HLO texts are printed from.
#pragma once

#include <string_view>
#include <vector>

#include "core/compile/program.h"

namespace xlaprof::lazy::xla {

// The types of tensors, in their order, and two that random numbers are made with.
enum class Element : uint8_t { kBool, kI32, kI64, kBF16, kF16, kF32, kF64, kU32, kU64 };
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
  kConstant,     // a scalar
  kElementwise,  // `name` says which; also reshape, convert, select, clamp
  kCompare,      // `name` is the direction
  kBroadcast,    // lists: the operand's dimensions in the result
  kTranspose,
  kReverse,
  kConcatenate,
  kIota,
  kSlice,         // lists: start, limit, stride
  kPad,           // (operand, value); lists: low, high, interior
  kDot,           // the first `number` dimensions are a batch's
  kConvolution,   // `name` are the dimensions' labels, as HLO has them
  kReduce,        // (operand, value to begin with)
  kReduceWindow,  // likewise
  kBatchNorm,     // `name` says which; number: the bits of epsilon, a double
  kOutput,        // one of its operand's outputs, whose place is `number`
  kGather,        // (operand, indices); lists: offset dimensions, collapsed, index map, slice sizes
  kScatter,       // (operand, indices, updates); lists: window dimensions, inserted, index map
};

struct Window {
  Dims size, stride, low, high;
  Dims base_dilation, window_dilation;  // of convolutions; else empty
  bool reversed = false;
};

struct Instruction {
  Kind kind;
  std::string_view name;  // StableHLO's
  Type type;
  std::vector<Type> outputs;  // of an instruction with several; `type` is the first's
  absl::InlinedVector<int32_t, 3> operands;
  std::vector<Dims> lists;
  int64_t number = 0;  // a parameter's; a constant's value, as op.h has it
  Window window;
  std::string_view combine;  // what kReduce, kReduceWindow and kScatter apply: add
  int32_t origin = 0;        // the program's instruction that it is a part of
};

struct Graph {
  std::vector<Instruction> instructions;
  std::vector<int32_t> parameters, results;
};

Graph Lower(const Program& program);

// `scope/aten__mul`, as XLA's metadata names the operation.
std::string OpName(const lazy::Instruction& instruction);
std::string OpType(const Op& op);  // aten__mul

// In quotes that both forms of text read back; control characters become '?'.
std::string Quoted(std::string_view text);

}  // namespace xlaprof::lazy::xla

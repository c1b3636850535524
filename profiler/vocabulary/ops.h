// Tells what an op does, by its name. ops.txt lists the names of each dialect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profiler/store/vocabulary.h"
#include "profiler/vocabulary/op_kinds.h"

namespace xlaprof {

struct Op {
  std::string_view name;
  OpKind kind = OpKind::kUnknown;
  uint32_t traits = 0;

  bool Has(OpTrait trait) const { return (traits & uint32_t(trait)) != 0; }
  // Returns whether the op only passes elements on, as views, broadcasts, copies and conversions of
  // whole arrays do.
  bool PassesOn() const {
    return (kind == OpKind::kView && !Has(OpTrait::kPart)) || kind == OpKind::kBroadcast ||
           kind == OpKind::kConvert || kind == OpKind::kCopy;
  }
};

inline constexpr Op kUnknownOp;

// Return what is known of an op, or kUnknownOp. Results live as long as the program. An overload,
// as in aten::add.Tensor, does not matter.
//
// FindOp takes the name of an op as a graph of this form prints it.
const Op& FindOp(std::string_view name, PrintedForm form);
// FindFrameworkOp takes the name that a framework gives the op that an instruction is part of, as
// HLO's metadata has it: aten::mul, dot_general.
const Op& FindFrameworkOp(std::string_view name);
// FindTorchOp takes a name with its namespace: aten::mul.
const Op& FindTorchOp(std::string_view name);
const Op& FindJaxOp(std::string_view name);
// FindInstruction takes the name of an instruction of HLO, which goes on after that of the op:
// all-reduce-start.3, psum_invariant.2.
const Op& FindInstruction(std::string_view name);

// All ops of PyTorch and torch_xla, with their namespaces.
std::span<const Op> TorchOps();

// Returns whether `name` is the name of a collective operation or of its kernel:
// all-reduce-start.3, psum.5, ncclDevKernel_AllReduce_Sum_f32_RING_LL.
bool IsCollectiveOp(std::string_view name);
// Returns the kind of what a kernel of a GPU does, or kUnknown.
OpKind KindOfKernel(std::string_view name);

// Returns the names that ops of this kind have in all forms of a graph, as a list for SQL's IN:
// 'parameter', 'xla::device_data'.
std::string SqlNamesOf(OpKind kind);
// The same for ops with this trait.
std::string SqlNamesWith(OpTrait trait);

// Returns the name of the only op of HLO of this kind, such as parameter and tuple.
std::string_view HloNameOf(OpKind kind);

// A function that calls an op under another name: PyTorch's argwhere calls nonzero.
struct CallerOfOp {
  std::string_view op, function;  // the op has no namespace
};
std::span<const CallerOfOp> CallersOfOps();

// Returns whether a compiler gives such names to inputs, as p0 and param_2 are.
bool IsGivenInputName(std::string_view name);

// Returns the names of Python's functions and methods that read a tensor's value.
std::span<const std::string_view> ReadingFunctions();

}  // namespace xlaprof

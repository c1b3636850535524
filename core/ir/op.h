// Describes operations. Each is one object in core/ir/ops/, and its address is its identity.
#pragma once

#include <span>
#include <string_view>

#include "core/ir/hash.h"
#include "core/ir/shape.h"

namespace xlaprof::lazy {

// Numbers that an operation has beside its operands: axes, bounds, sizes. Op::attributes has their
// names. A double is stored by its bits (AttributeOf, RealOf).
using Attributes = absl::InlinedVector<int64_t, 4>;
inline int64_t AttributeOf(double value) { return std::bit_cast<int64_t>(value); }
inline double RealOf(int64_t attribute) { return std::bit_cast<double>(attribute); }

struct Op {
  std::string_view name;  // torch_xla's name: aten::add
  std::string_view short_name() const { return name.substr(name.find("::") + 2); }  // add
  // Returns the shape of the result. If operands do not fit, raises an Error with only the reason;
  // the caller adds the operation, its shapes and the line. Operands already have equal types if
  // the operation requires it, because promotion comes first.
  Shape (*shape)(std::span<const Shape* const> operands, const Attributes& attributes);
  // The names of the attributes, as texts print them. A name that ends in "..." takes all remaining
  // attributes, and one that ends in "[2]" takes two (height and width). '=' marks the bits of a
  // double.
  std::span<const std::string_view> attributes;
  // True if each element of the result depends only on the operands' elements at the same place.
  // Such operations are fused.
  bool elementwise = false;
  // Returns the floating-point operations of one execution. Null means one per element of the
  // result.
  double (*flops)(std::span<const Shape* const> operands, const Shape& result,
                  const Attributes& attributes) = nullptr;
  // The number of outputs. Each is a node of its own, whose last attribute is the output's number.
  // Backends compute nodes that differ only in that together.
  int outputs = 1;
  Hash hash = Mix(Hash{}, name);  // different names are always different operations
};

namespace op {

// Leaves. The attributes of device_data are the sharding of its data, if it is divided among
// devices (core/ir/sharding.h). A constant is a scalar with attributes {value, dtype}; the value of
// a float is the bits of an f64.
extern const Op device_data, constant;

// Elementwise operations on one operand, on two of the same shape, or on three. A cast's attribute
// is the dtype. A float is truncated to an integer; out of range it becomes the nearest one, and
// NaN becomes 0; a half is rounded to the even neighbour. Integers wrap around, also if they are
// cast to a narrower type. A remainder has the divisor's sign. Integer division rounds towards zero;
// x / 0 has all bits set and its remainder is x. Logical operations need pred.
extern const Op neg, abs, exp, log, log1p, tanh, sqrt, rsqrt, sigmoid, relu, sin, cos, floor, round,
    erf, logical_not, cast;
extern const Op add, sub, mul, div, pow, maximum, minimum, remainder, eq, ne, lt, le, gt, ge,
    logical_and, logical_or;
extern const Op where;  // (condition, then, else)

// Shape operations.
// expand, view: the result's sizes. expand gives at least as many dimensions, aligned at the last,
//   and repeats operands of size 1.
// permute: the operand's dimension for each dimension of the result.
// slice: dim, start, end, step.
// slice_scatter (into, from): replaces the part that slice would return.
// cat: dim.
// pad: value (a double for every type), then low and high per dimension; negative ones remove
//   elements.
// flip: the dimensions, ascending.
extern const Op expand, view, permute, slice, slice_scatter, cat, pad, flip;

// Contractions.
// mm: [n,k] x [k,m]. bmm: [b,n,k] x [b,k,m].
// convolution (input NCHW, weight OIHW): stride, padding, dilation, each height and width, and the
//   number of groups. Each group of channels has its own part of the weight, whose I is the channels
//   of a group. The gradients have the same attributes, and the height and width of their result:
// convolution_backward_input (weight, gradient of the result): the input's gradient.
// convolution_backward_weight (input, gradient of the result): the weight's gradient.
extern const Op mm, bmm, convolution, convolution_backward_input, convolution_backward_weight;

// Reductions. sum, amax, amin, prod: keepdim, then the dimensions, ascending. argmax: keepdim, dim;
// it returns the first of equals as s64. NaN counts as both the largest and the smallest.
// cumsum: dim; each element is the sum of those up to it.
extern const Op sum, amax, amin, prod, argmax, cumsum;

// Indexing. index_select (from, index of rank 1): dim. gather (from, index): dim. scatter_add
// (into, index, from): dim. index_add (into, index of rank 1, from): dim. scatter and index_copy
// replace elements where these add to them; if an index occurs twice, the last of them counts.
// arange: start and step (doubles), count, dtype; it is computed as f64, or s64 for integers. An
// index out of range becomes the nearest one in range.
extern const Op index_select, gather, scatter, scatter_add, index_copy, index_add, arange;

// Pooling of NCHW: kernel, stride, padding, each height and width. The gradients take (gradient of
// the result, input). If several elements are the largest, the first gets the gradient. Padding
// counts in averages.
extern const Op max_pool2d, max_pool2d_backward, avg_pool2d, avg_pool2d_backward;

// Normalization of each channel, which is the second dimension. eps is a double.
// native_batch_norm (x, weight, bias): by the mean and the biased variance of a channel's elements;
//   outputs: the result, the means, the variances.
// native_batch_norm_backward (gradient of the result, x, weight, means, variances): outputs: the
//   gradients of x, weight and bias.
// batch_norm_inference (x, weight, bias, means, variances): by the given statistics.
extern const Op native_batch_norm, native_batch_norm_backward, batch_norm_inference;

// uniform (seed: s64 scalar): f32 in [0, 1) of the given sizes, by Threefry 2x32 with 20 rounds.
// The key is (high, low half of the seed). The counter of element i, row-major, is (high, low half
// of i). Only the first of the two resulting words counts: (word >> 8) * 2^-24.
extern const Op uniform;

// Collectives, in which all ranks take part (core/backend/peers.h). Their last attributes are the
// number of ranks, the size of a group, and the ranks group by group, or nothing if all are one
// group. A rank gets what its group has.
// all_reduce: a ReduceOp. Values are combined in the order of the group, so all get the same bits.
// all_gather: dim; the values follow each other along it, in the order of the group.
// reduce_scatter: a ReduceOp, dim; a rank gets the part of the result with its place in the group.
// collective_broadcast: the root, whose value all get, and the number of ranks; it has no groups.
// local_part: dim; the opposite of all_gather: a rank gets the part of its own value that has its
//   place in the group. Nothing is exchanged.
extern const Op all_reduce, all_gather, reduce_scatter, collective_broadcast, local_part;

// mark_sharding: a sharding. The result is the operand, divided so among devices.
extern const Op mark_sharding;

}  // namespace op

// How collectives combine the values of several ranks, in the order of torch_xla's reduce types.
enum class ReduceOp : uint8_t { kSum, kMul, kMin, kMax };

// Returns all operations.
std::span<const Op* const> AllOps();

}  // namespace xlaprof::lazy

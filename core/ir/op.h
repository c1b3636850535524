// What a node computes. One object an operation, in core/ir/ops/; its address is its identity.
#pragma once

#include <span>
#include <string_view>

#include "core/ir/hash.h"
#include "core/ir/shape.h"

namespace xlaprof::lazy {

// Numbers that an operation has beside its operands: axes, bounds, sizes. What they are called says
// Op::attributes; a double is there by its bits (AttributeOf, RealOf).
using Attributes = absl::InlinedVector<int64_t, 4>;
inline int64_t AttributeOf(double value) { return std::bit_cast<int64_t>(value); }
inline double RealOf(int64_t attribute) { return std::bit_cast<double>(attribute); }

struct Op {
  std::string_view name;  // as torch_xla prints it: aten::add
  // Shape of the result. Raises an Error that says only what does not fit: the caller adds the
  // operation, its shapes and the line. Operand types are equal where the operation needs that:
  // promotion is done by then.
  Shape (*shape)(std::span<const Shape* const> operands, const Attributes& attributes);
  // Names of the attributes; the last takes all that are left where it ends in "...", and those
  // that begin with '=' are the bits of a double.
  std::span<const std::string_view> attributes;
  // Elements of the result depend on the elements at the same place of the operands only: such
  // operations are fused.
  bool elementwise = false;
  // Floating-point operations of one execution; null: one an element of the result.
  double (*flops)(std::span<const Shape* const> operands, const Shape& result,
                  const Attributes& attributes) = nullptr;
};

namespace op {

// Leaves. A constant has attributes {value's bits, dtype}, a scalar; f64 bits for fractions.
extern const Op device_data, constant;

// Elementwise: of one operand, of two of the same shape, of three. A cast's attribute is the dtype.
extern const Op neg, abs, exp, log, log1p, tanh, sqrt, rsqrt, sigmoid, relu, sin, cos, floor, erf,
    logical_not, cast;
extern const Op add, sub, mul, div, pow, maximum, minimum, remainder, eq, ne, lt, le, gt, ge,
    logical_and, logical_or;
extern const Op where;  // (condition, then, else)

// Shapes. expand, view: the result's sizes, expand to at least as many dimensions, aligned at the
// last, operands of size 1 repeated. permute: for each dimension of the result that of the operand.
// slice: dim, start, end, step. slice_scatter (into, from): the same place is replaced. cat: dim.
// pad: value, then low and high for each dimension. flip: the dimensions.
extern const Op expand, view, permute, slice, slice_scatter, cat, pad, flip;

// Contraction. mm [n,k] x [k,m]; bmm [b,n,k] x [b,k,m]. convolution (input NCHW, weight OIHW) and
// what its gradient needs: (weight, gradient of the result) to the input's gradient, its height and
// width being the last attributes; (input, gradient of the result) to the weight's, likewise.
extern const Op mm, bmm, convolution, convolution_backward_input, convolution_backward_weight;

// Reduction. sum, amax, amin, prod: keepdim, then the dimensions, ascending. argmax: keepdim, dim
// (first of equals; s64).
extern const Op sum, amax, amin, prod, argmax;

// Indexing. index_select (from, index of rank 1): dim. gather (from, index): dim. scatter_add
// (into, index, from): dim. index_add (into, index of rank 1, from): dim. arange: start, step,
// count, dtype. An index that is out of range is taken as the nearest in range, as XLA does.
extern const Op index_select, gather, scatter_add, index_add, arange;

// Pooling of NCHW: kernel, stride, padding, each height and width. Their gradients: (gradient of
// the result, input); of equal largest the first one gets it. Padding counts in averages.
extern const Op max_pool2d, max_pool2d_backward, avg_pool2d, avg_pool2d_backward;

// uniform (seed: s64 scalar): f32 in [0, 1) of the sizes, by Threefry 2x32 with the key
// (high, low half of the seed) and the element's number as counter.
extern const Op uniform;

}  // namespace op

// All of them.
std::span<const Op* const> AllOps();

}  // namespace xlaprof::lazy

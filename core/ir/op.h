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
  std::string_view short_name() const { return name.substr(name.find("::") + 2); }  // add
  // Shape of the result. Raises an Error that says only what does not fit: the caller adds the
  // operation, its shapes and the line. Operand types are equal where the operation needs that:
  // promotion is done by then.
  Shape (*shape)(std::span<const Shape* const> operands, const Attributes& attributes);
  // Names of the attributes, as texts print them. One that ends in "..." takes all that are left,
  // one in "[2]" two (height and width); those that begin with '=' are the bits of a double.
  std::span<const std::string_view> attributes;
  // Elements of the result depend on the elements at the same place of the operands only: such
  // operations are fused.
  bool elementwise = false;
  // Floating-point operations of one execution; null: one an element of the result.
  double (*flops)(std::span<const Shape* const> operands, const Shape& result,
                  const Attributes& attributes) = nullptr;
  // What one execution gives. Each output is a node of its own, which of them says the last
  // attribute; backends compute nodes that differ in nothing else at once.
  int outputs = 1;
  Hash hash = Mix(Hash{}, name);  // two names are never the same operation
};

namespace op {

// Leaves. A constant has attributes {value, dtype}, a scalar; the value of fractions is the bits of
// an f64.
extern const Op device_data, constant;

// Elementwise: of one operand, of two of the same shape, of three. A cast's attribute is the dtype;
// a fraction becomes a whole number by leaving out what is behind the point, and the nearest there
// is where it is too large, 0 where it is no number. A remainder has the divisor's sign. Whole
// numbers are divided towards zero; x / 0 is -1 and the remainder x. Logical operations need pred.
extern const Op neg, abs, exp, log, log1p, tanh, sqrt, rsqrt, sigmoid, relu, sin, cos, floor, erf,
    logical_not, cast;
extern const Op add, sub, mul, div, pow, maximum, minimum, remainder, eq, ne, lt, le, gt, ge,
    logical_and, logical_or;
extern const Op where;  // (condition, then, else)

// Shapes. expand, view: the result's sizes, expand to at least as many dimensions, aligned at the
// last, operands of size 1 repeated. permute: for each dimension of the result that of the operand.
// slice: dim, start, end, step. slice_scatter (into, from): the same place is replaced. cat: dim.
// pad: value (a double for every type), then low and high for each dimension, which cut off where
// below 0. flip: the dimensions, ascending.
extern const Op expand, view, permute, slice, slice_scatter, cat, pad, flip;

// Contraction. mm [n,k] x [k,m]; bmm [b,n,k] x [b,k,m]. convolution (input NCHW, weight OIHW):
// stride, padding, each height and width; and what its gradient needs, with the same attributes:
// (weight, gradient of the result) to the input's gradient, whose height and width are two more;
// (input, gradient of the result) to the weight's, likewise.
extern const Op mm, bmm, convolution, convolution_backward_input, convolution_backward_weight;

// Reduction. sum, amax, amin, prod: keepdim, then the dimensions, ascending. argmax: keepdim, dim
// (first of equals; s64). What is no number is larger and smaller than all others.
extern const Op sum, amax, amin, prod, argmax;

// Indexing. index_select (from, index of rank 1): dim. gather (from, index): dim. scatter_add
// (into, index, from): dim. index_add (into, index of rank 1, from): dim. arange: start and step
// (doubles), count, dtype; computed as f64, or s64 for whole numbers. An index that is out of range
// is taken as the nearest in range.
extern const Op index_select, gather, scatter_add, index_add, arange;

// Pooling of NCHW: kernel, stride, padding, each height and width. Their gradients: (gradient of
// the result, input); of equal largest the first one gets it. Padding counts in averages.
extern const Op max_pool2d, max_pool2d_backward, avg_pool2d, avg_pool2d_backward;

// Normalisation of each channel, the second dimension; eps is a double. native_batch_norm (x,
// weight, bias): by the mean and the biased variance of all of a channel's elements; outputs: the
// result, the means, the variances. Its gradients (gradient of the result, x, weight, means,
// variances): of x, of weight, of bias. batch_norm_inference (x, weight, bias, means, variances):
// by those given.
extern const Op native_batch_norm, native_batch_norm_backward, batch_norm_inference;

// uniform (seed: s64 scalar): f32 in [0, 1) of the sizes, by Threefry 2x32 of 20 rounds. The key is
// (high, low half of the seed), the counter of element i, row-major, (high, low half of i); of the
// result's two words the first counts: (word >> 8) * 2^-24.
extern const Op uniform;

}  // namespace op

// All of them.
std::span<const Op* const> AllOps();

}  // namespace xlaprof::lazy

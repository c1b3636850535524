#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

// Returns the shape of per-channel tensors. Checks that all `others` have it.
Shape Channels(const Shape& x, Shapes others) {
  if (x.rank() < 2) Raise("{} has no channels", x.ToText());
  ExpectFractions(x);
  Shape channels{x.dtype, {x.dims[1]}};
  for (const Shape* other : others) ExpectSame(channels, *other);
  return channels;
}

size_t ExpectOutput(const Attributes& attributes) {
  const int64_t output = attributes.back();
  if (output < 0 || output > 2) Raise("output {} does not exist", output);
  return size_t(output);
}

Shape Train(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 3);
  ExpectAttributes(attributes, 2);
  const Shape& x = *operands[0];
  Shape channels = Channels(x, operands.subspan(1));
  if (x.elements() == 0) Raise("{} is empty, so it has no mean", x.ToText());
  return ExpectOutput(attributes) == 0 ? x : channels;
}

Shape Backward(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 5);
  ExpectAttributes(attributes, 2);
  const Shape& x = *operands[1];
  ExpectSame(*operands[0], x);
  Shape channels = Channels(x, operands.subspan(2));
  return ExpectOutput(attributes) == 0 ? x : channels;
}

Shape Infer(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 5);
  ExpectAttributes(attributes, 1);
  Channels(*operands[0], operands.subspan(1));
  return *operands[0];
}

// Counts per element of x: x * a + b; a sum; a sum of (x - mean) squared.
double TrainFlops(Shapes operands, const Shape&, const Attributes& attributes) {
  constexpr double kFlops[] = {2, 1, 3};
  return kFlops[attributes.back()] * double(operands[0]->elements());
}
// Counts per element of x: gradient * a + x * b + c; a sum of gradient * (x - mean); a sum.
double BackwardFlops(Shapes operands, const Shape&, const Attributes& attributes) {
  constexpr double kFlops[] = {4, 3, 1};
  return kFlops[attributes.back()] * double(operands[0]->elements());
}
double InferFlops(Shapes, const Shape& result, const Attributes&) {
  return 2 * double(result.elements());
}

constexpr std::string_view kTrain[] = {"=eps", "output"}, kInfer[] = {"=eps"};

}  // namespace

constinit const Op native_batch_norm{
    "aten::native_batch_norm", Train, kTrain, false, TrainFlops, 3};
constinit const Op native_batch_norm_backward{
    "aten::native_batch_norm_backward", Backward, kTrain, false, BackwardFlops, 3};
// This is Core ATen's name. torch_xla names both native_batch_norm, and its text shows which one it
// is.
constinit const Op batch_norm_inference{"aten::_native_batch_norm_legit_no_training", Infer, kInfer,
                                        false, InferFlops};

}  // namespace xlaprof::lazy::op

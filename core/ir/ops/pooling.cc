#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

// Returns the result's shape. The attributes are {kernel, stride, padding}, each height and width.
Shape Pooled(const Shape& input, const Attributes& attributes) {
  ExpectAttributes(attributes, 6);
  ExpectRank(input, 4);
  ExpectFractions(input);
  Shape to = input;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t kernel = attributes[i], stride = attributes[2 + i], padding = attributes[4 + i];
    if (kernel < 1) Raise("kernel is {}", kernel);
    if (stride < 1) Raise("stride is {}", stride);
    // More padding would make windows that contain nothing else.
    if (padding < 0 || padding > kernel / 2)
      Raise("padding is {}, not from 0 to half of the kernel's {}", padding, kernel);
    const int64_t room = input.dims[2 + i] + 2 * padding - kernel;
    if (room < 0)
      Raise("a kernel of {} does not fit {} with a padding of {}", kernel, input.dims[2 + i],
            padding);
    to.dims[2 + i] = room / stride + 1;
  }
  return to;
}

Shape Pool(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  return Pooled(*operands[0], attributes);
}

Shape PoolBackward(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectSame(Pooled(*operands[1], attributes), *operands[0]);
  return *operands[1];
}

double Flops(const Shape& pooled, const Attributes& attributes) {
  return double(pooled.elements()) * double(attributes[0] * attributes[1]);
}
double PoolFlops(Shapes, const Shape& result, const Attributes& attributes) {
  return Flops(result, attributes);
}
double PoolBackwardFlops(Shapes operands, const Shape&, const Attributes& attributes) {
  return Flops(*operands[0], attributes);
}

constexpr std::string_view kPool[] = {"kernel_size[2]", "stride[2]", "padding[2]"};

}  // namespace

constinit const Op max_pool2d{"aten::max_pool2d", Pool, kPool, false, PoolFlops};
constinit const Op max_pool2d_backward{"aten::max_pool2d_backward", PoolBackward, kPool, false,
                                       PoolBackwardFlops};
constinit const Op avg_pool2d{"aten::avg_pool2d", Pool, kPool, false, PoolFlops};
constinit const Op avg_pool2d_backward{"aten::avg_pool2d_backward", PoolBackward, kPool, false,
                                       PoolBackwardFlops};

}  // namespace xlaprof::lazy::op

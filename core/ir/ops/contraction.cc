#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

Shape Product(Shapes operands, const Attributes& attributes, int64_t rank) {
  ExpectOperands(operands, 2);
  ExpectAttributes(attributes, 0);
  const Shape &a = *operands[0], &b = *operands[1];
  ExpectRank(a, rank);
  ExpectRank(b, rank);
  ExpectSameType(a, b);
  ExpectNumbers(a);
  const size_t n = size_t(rank) - 2, k = n + 1;
  if (rank == 3 && a.dims[0] != b.dims[0])
    Raise("numbers of matrices differ: {} and {}", a.dims[0], b.dims[0]);
  if (a.dims[k] != b.dims[n])
    Raise("{} columns do not fit {} rows of the second operand", a.dims[k], b.dims[n]);
  Shape to = a;
  to.dims[k] = b.dims[k];
  return to;
}

Shape MatrixProduct(Shapes operands, const Attributes& attributes) {
  return Product(operands, attributes, 2);
}
Shape BatchProduct(Shapes operands, const Attributes& attributes) {
  return Product(operands, attributes, 3);
}

double ProductFlops(Shapes operands, const Shape& result, const Attributes&) {
  return 2.0 * double(result.elements()) * double(operands[0]->dims.back());
}

constexpr size_t kGroups = 6;  // the place of the number of groups in the attributes

// Returns the number of groups, which divides a dimension.
int64_t ExpectGroups(const Attributes& attributes, std::string_view channels, int64_t count) {
  const int64_t groups = attributes[kGroups];
  if (groups < 1 || count % groups != 0)
    Raise("{} {} cannot be divided into {} groups", count, channels, groups);
  return groups;
}

// Returns the result's shape for a convolution's input and weight. The attributes are {stride,
// padding, dilation}, each height and width, and the number of groups.
Shape Convolve(const Shape& input, const Shape& weight, const Attributes& attributes) {
  ExpectRank(input, 4);
  ExpectRank(weight, 4);
  ExpectSameType(input, weight);
  ExpectFractions(input);
  const int64_t groups = ExpectGroups(attributes, "channels", input.dims[1]);
  ExpectGroups(attributes, "results", weight.dims[0]);
  if (input.dims[1] != weight.dims[1] * groups) {
    Raise("{} channels do not fit a weight for {}{}", input.dims[1], weight.dims[1],
          groups == 1 ? "" : fmt::format(" in each of {} groups", groups));
  }
  Shape to{input.dtype, {input.dims[0], weight.dims[0], 0, 0}};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t stride = attributes[i], padding = attributes[2 + i], dilation = attributes[4 + i];
    if (stride < 1) Raise("stride is {}", stride);
    if (padding < 0) Raise("padding is {}", padding);
    if (dilation < 1) Raise("dilation is {}", dilation);
    const int64_t window = (weight.dims[2 + i] - 1) * dilation + 1;
    const int64_t room = input.dims[2 + i] + 2 * padding - window;
    if (weight.dims[2 + i] < 1 || room < 0) {
      Raise("a weight of {}{} does not fit {} with a padding of {}", weight.dims[2 + i],
            dilation == 1 ? "" : fmt::format(" with a dilation of {}", dilation), input.dims[2 + i],
            padding);
    }
    to.dims[2 + i] = room / stride + 1;
  }
  return to;
}

Shape Convolution(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectAttributes(attributes, 7);
  return Convolve(*operands[0], *operands[1], attributes);
}

// Returns the shape of the input's gradient from the weight, or of the weight's gradient from the
// input. Its first dimension is dimension kDim of the result's gradient.
template <size_t kDim>
Shape Backward(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectAttributes(attributes, 9);
  const Shape &other = *operands[0], &gradient = *operands[1];
  ExpectRank(other, 4);
  ExpectRank(gradient, 4);
  const Dims sizes = ExpectSizes(attributes, 7);
  const bool is_input = kDim == 0;
  const int64_t channels =
      is_input ? other.dims[1] * attributes[kGroups]
               : other.dims[1] / ExpectGroups(attributes, "channels", other.dims[1]);
  Shape made{other.dtype, {gradient.dims[kDim], channels, sizes[0], sizes[1]}};
  ExpectSame(Convolve(is_input ? made : other, is_input ? other : made, attributes), gradient);
  return made;
}
constexpr auto kBackwardInput = Backward<0>, kBackwardWeight = Backward<1>;

// Counts the operations of all three kinds, which multiply each element of the convolution's result
// with one plane of the weight.
double Flops(const Shape& result, const Shape& weight) {
  return 2.0 * double(result.elements()) * double(weight.dims[1] * weight.dims[2] * weight.dims[3]);
}
double ConvolutionFlops(Shapes operands, const Shape& result, const Attributes&) {
  return Flops(result, *operands[1]);
}
double BackwardInputFlops(Shapes operands, const Shape&, const Attributes&) {
  return Flops(*operands[1], *operands[0]);
}
double BackwardWeightFlops(Shapes operands, const Shape& result, const Attributes&) {
  return Flops(*operands[1], result);
}

constexpr std::string_view kForward[] = {"stride[2]", "padding[2]", "dilation[2]", "groups"},
                           kBackward[] = {"stride[2]", "padding[2]", "dilation[2]", "groups",
                                          "size[2]"};

}  // namespace

constinit const Op mm{"aten::mm", MatrixProduct, {}, false, ProductFlops};
constinit const Op bmm{"aten::bmm", BatchProduct, {}, false, ProductFlops};
constinit const Op convolution{"aten::convolution_overrideable", Convolution, kForward, false,
                               ConvolutionFlops};
constinit const Op convolution_backward_input{"aten::convolution_backward_input", kBackwardInput,
                                              kBackward, false, BackwardInputFlops};
constinit const Op convolution_backward_weight{"aten::convolution_backward_weight", kBackwardWeight,
                                               kBackward, false, BackwardWeightFlops};

}  // namespace xlaprof::lazy::op

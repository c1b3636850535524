#include "core/trace/autocast.h"
#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

// Returns whether the rows were columns. If so, the gradient is transposed in the same way.
bool IsTransposed(const Tensor& x) {
  const TensorImpl& impl = ImplOf(x);
  const auto transposes = [&](const Op& op, const Attributes& attributes) {
    return &op == &op::permute && attributes.back() == x.dim() - 2;
  };
  if (impl.steps.empty())
    return transposes(impl.storage->value()->op(), impl.storage->value()->attributes());
  return transposes(*impl.steps.all().back().op, impl.steps.all().back().attributes);
}

// Multiplies matrices (mm) or batches of them (bmm).
Tensor Multiply(const Op& op, const Tensor& a, const Tensor& b) {
  const DType type = Promote(a.dtype(), b.dtype());
  const Tensor left = a.to(type), right = b.to(type);
  Tensor out = Emit(op, {left, right});
  if (!NeedsGrad({left, right})) return out;
  const bool to_a = left.requires_grad(), to_b = right.requires_grad();
  return Differentiable(out, {left, right},
                        [&op, to_a, to_b, a = Saved(left), b = Saved(right)](const Tensor& grad) {
                          Grads grads(2);
                          if (to_a) {
                            const Tensor other = b.get();
                            grads[0] = IsTransposed(a.get()) ? Multiply(op, other, grad.t()).t()
                                                             : Multiply(op, grad, other.t());
                          }
                          if (to_b) {
                            const Tensor other = a.get();
                            grads[1] = IsTransposed(b.get()) ? Multiply(op, grad.t(), other).t()
                                                             : Multiply(op, other.t(), grad);
                          }
                          return grads;
                        });
}

// Joins the leading dimensions.
Tensor AsBatch(const Tensor& x, const Dims& batch, int64_t rows, int64_t columns) {
  Dims sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  const Tensor all = x.sizes() == sizes ? x : x.expand(sizes);
  return all.view({Shape{DType::kBool, batch}.elements(), rows, columns});
}

Tensor WithBias(const Tensor& x, const Tensor& bias, int64_t after) {
  if (!bias.defined()) return x;
  Dims sizes = bias.sizes();
  sizes.resize(sizes.size() + size_t(after), 1);
  return x + (after == 0 ? bias : bias.view(sizes));
}

}  // namespace

Tensor matmul(const Tensor& first, const Tensor& second, Where where) {
  OpCall call(where);
  const Tensor a = AutocastToNarrow(first), b = AutocastToNarrow(second);
  const int64_t rank = std::max(a.dim(), b.dim());
  if (a.dim() == 0 || b.dim() == 0) Multiply(op::mm, a, b);  // raises
  if (rank <= 2) {
    const Tensor left = a.dim() == 1 ? a.unsqueeze(0) : a;
    const Tensor right = b.dim() == 1 ? b.unsqueeze(1) : b;
    Tensor out = Multiply(op::mm, left, right);
    if (b.dim() == 1) out = out.squeeze(-1);
    return a.dim() == 1 ? out.squeeze(0) : out;
  }
  if (b.dim() == 2) {  // the rows of all batches are rows
    Dims sizes = a.sizes();
    const int64_t rows = Shape{DType::kBool, {sizes.begin(), sizes.end() - 1}}.elements();
    Tensor out = Multiply(op::mm, a.view({rows, sizes.back()}), b);
    sizes.back() = b.size(1);
    return out.view(sizes);
  }
  const Tensor left = a.dim() == 1 ? a.unsqueeze(0) : a, right = b.dim() == 1 ? b.unsqueeze(1) : b;
  const Dims batch = BroadcastSizes("aten::matmul", left, right, /*but=*/2);
  const int64_t rows = left.size(-2), columns = right.size(-1), inner = left.size(-1);
  if (inner != right.size(-2)) {
    RaiseHere("aten::matmul({}, {}): {} columns do not fit {} rows of the second operand",
              TextOf(a), TextOf(b), inner, right.size(-2));
  }
  Tensor out =
      Multiply(op::bmm, AsBatch(left, batch, rows, inner), AsBatch(right, batch, inner, columns));
  Dims sizes = batch;
  if (a.dim() > 1) sizes.push_back(rows);
  if (b.dim() > 1) sizes.push_back(columns);
  return out.view(sizes);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Where where) {
  OpCall call(where);
  // Converts before transposing, so that the gradient finds the transposition (IsTransposed).
  const Tensor columns = AutocastToNarrow(weight).t();
  return WithBias(matmul(x, columns), AutocastToNarrow(bias), 0);
}

namespace {

// Convolves images. `how` has the attributes of op::convolution.
Tensor Convolve(const Tensor& images, const Tensor& kernels, const Attributes& how) {
  const Tensor x = AutocastToNarrow(images), weight = AutocastToNarrow(kernels);
  Tensor out = Emit(op::convolution, {x, weight}, how);
  if (NeedsGrad({x, weight})) {
    const bool to_x = x.requires_grad(), to_weight = weight.requires_grad();
    out = Differentiable(
        out, {x, weight}, [=, x = Saved(x), weight = Saved(weight)](const Tensor& grad) {
          auto sized = [&](const Tensor& like) {
            Attributes attributes = how;
            attributes.push_back(like.size(2));
            attributes.push_back(like.size(3));
            return attributes;
          };
          const Tensor image = x.get(), kernel = weight.get();
          return Grads{
              to_x ? Emit(op::convolution_backward_input, {kernel, grad}, sized(image)) : Tensor(),
              to_weight ? Emit(op::convolution_backward_weight, {image, grad}, sized(kernel))
                        : Tensor()};
        });
  }
  return out;
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride,
              int64_t padding, int64_t dilation, int64_t groups, Where where) {
  OpCall call(where);
  const Tensor out =
      Convolve(x, weight, {stride, stride, padding, padding, dilation, dilation, groups});
  return WithBias(out, AutocastToNarrow(bias), 2);
}

// Convolves images that are one element high.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride,
              int64_t padding, int64_t dilation, int64_t groups, Where where) {
  OpCall call(where);
  if (x.dim() != 3 || weight.dim() != 3) {
    RaiseHere("aten::conv1d({}, {}): needs [batch, channels, length] and [out, in, kernel]",
              TextOf(x), TextOf(weight));
  }
  const Tensor out =
      Convolve(x.unsqueeze(2), weight.unsqueeze(2), {1, stride, 0, padding, 1, dilation, groups});
  return WithBias(out.squeeze(2), AutocastToNarrow(bias), 1);
}

namespace {

Tensor Pool(const Op& op, const Op& backward, const Tensor& x, int64_t kernel, int64_t stride,
            int64_t padding) {
  if (stride == 0) stride = kernel;
  const Attributes how{kernel, kernel, stride, stride, padding, padding};
  Tensor out = Emit(op, {x}, how);
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [how, &backward, x = Saved(x)](const Tensor& grad) {
    return Grads{Emit(backward, {grad, x.get()}, how)};
  });
}

}  // namespace

Tensor max_pool2d(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding, Where where) {
  OpCall call(where);
  return Pool(op::max_pool2d, op::max_pool2d_backward, x, kernel, stride, padding);
}

Tensor avg_pool2d(const Tensor& x, int64_t kernel, int64_t stride, int64_t padding, Where where) {
  OpCall call(where);
  return Pool(op::avg_pool2d, op::avg_pool2d_backward, x, kernel, stride, padding);
}

}  // namespace xlaprof::lazy

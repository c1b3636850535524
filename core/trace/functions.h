// Operations on tensors, by PyTorch's names and with its meanings.
#pragma once

#include <optional>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// New tensors.
Tensor full(Dims sizes, Scalar value, DType type = DType::kF32, Device& device = Device::Default(),
            Where where = Where::current());
Tensor zeros(Dims sizes, DType type = DType::kF32, Device& device = Device::Default(),
             Where where = Where::current());
Tensor ones(Dims sizes, DType type = DType::kF32, Device& device = Device::Default(),
            Where where = Where::current());
Tensor arange(int64_t count, DType type = DType::kI64, Device& device = Device::Default(),
              Where where = Where::current());
// Uniform in [0, 1); normal with mean 0 and variance 1.
Tensor rand(Dims sizes, Device& device = Device::Default(), Where where = Where::current());
Tensor randn(Dims sizes, Device& device = Device::Default(), Where where = Where::current());
void manual_seed(int64_t seed, Device& device = Device::Default());
// A tensor of its own with the same values, and with the same gradient, where it has one. Of leaves
// only: of what no operation made.
Tensor deepcopy(const Tensor& x, Where where = Where::current());

// Elementwise; whole numbers become f32 where the result is a fraction, and are their own floor.
#define XLAPROF_UNARY(name) Tensor name(const Tensor& x, Where where = Where::current());
XLAPROF_UNARY(neg)
XLAPROF_UNARY(abs)
XLAPROF_UNARY(exp)
XLAPROF_UNARY(log)
XLAPROF_UNARY(log1p)
XLAPROF_UNARY(tanh)
XLAPROF_UNARY(sqrt)
XLAPROF_UNARY(rsqrt)
XLAPROF_UNARY(sigmoid)
XLAPROF_UNARY(relu)
XLAPROF_UNARY(gelu)
XLAPROF_UNARY(sin)
XLAPROF_UNARY(cos)
XLAPROF_UNARY(floor)
XLAPROF_UNARY(erf)
XLAPROF_UNARY(logical_not)
#undef XLAPROF_UNARY

// Of two, one of which may be a number; sizes are broadcast, types promoted. A quotient is a
// fraction; whole numbers have whole powers.
#define XLAPROF_BINARY(name)                                                     \
  Tensor name(const Tensor& a, const Tensor& b, Where where = Where::current()); \
  Tensor name(const Tensor& a, Scalar b, Where where = Where::current());        \
  Tensor name(Scalar a, const Tensor& b, Where where = Where::current());
XLAPROF_BINARY(add)
XLAPROF_BINARY(sub)
XLAPROF_BINARY(mul)
XLAPROF_BINARY(div)
XLAPROF_BINARY(pow)
XLAPROF_BINARY(maximum)
XLAPROF_BINARY(minimum)
XLAPROF_BINARY(remainder)
XLAPROF_BINARY(eq)
XLAPROF_BINARY(ne)
XLAPROF_BINARY(lt)
XLAPROF_BINARY(le)
XLAPROF_BINARY(gt)
XLAPROF_BINARY(ge)
XLAPROF_BINARY(logical_and)
XLAPROF_BINARY(logical_or)
#undef XLAPROF_BINARY

Tensor where(const Tensor& condition, const Tensor& then, const Tensor& otherwise,
             Where where = Where::current());
Tensor clamp(const Tensor& x, Scalar least, Scalar most, Where where = Where::current());

// Also by their signs; equality only by name, since C++ would compare what is left and right the
// other way round too.
#define XLAPROF_OPERATOR(symbol, name)                                                             \
  inline Tensor operator symbol(Operand a, const Tensor& b) { return name(a.tensor, b, a.where); } \
  inline Tensor operator symbol(Operand a, Scalar b) { return name(a.tensor, b, a.where); }        \
  inline Tensor operator symbol(Scalar a, Operand b) { return name(a, b.tensor, b.where); }
XLAPROF_OPERATOR(+, add)
XLAPROF_OPERATOR(-, sub)
XLAPROF_OPERATOR(*, mul)
XLAPROF_OPERATOR(/, div)
XLAPROF_OPERATOR(<, lt)
XLAPROF_OPERATOR(<=, le)
XLAPROF_OPERATOR(>, gt)
XLAPROF_OPERATOR(>=, ge)
#undef XLAPROF_OPERATOR
inline Tensor operator-(Operand a) { return neg(a.tensor, a.where); }

// Matrices, the leading dimensions being batches.
Tensor matmul(const Tensor& a, const Tensor& b, Where where = Where::current());
// x [.., in] with weight [out, in] and bias [out], which may be none.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
              Where where = Where::current());
// NCHW with OIHW; bias [O] may be none.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride = 1,
              int64_t padding = 0, Where where = Where::current());
Tensor max_pool2d(const Tensor& x, int64_t kernel, int64_t stride = 0, int64_t padding = 0,
                  Where where = Where::current());  // stride 0: the kernel's
Tensor avg_pool2d(const Tensor& x, int64_t kernel, int64_t stride = 0, int64_t padding = 0,
                  Where where = Where::current());

// Over the dimensions given; over all where none is. Sums and products of truths and of s32 are
// s64; a mean needs fractions.
Tensor sum(const Tensor& x, Dims dims = {}, bool keepdim = false, Where where = Where::current());
Tensor mean(const Tensor& x, Dims dims = {}, bool keepdim = false, Where where = Where::current());
Tensor amax(const Tensor& x, Dims dims = {}, bool keepdim = false, Where where = Where::current());
Tensor amin(const Tensor& x, Dims dims = {}, bool keepdim = false, Where where = Where::current());
Tensor prod(const Tensor& x, Dims dims = {}, bool keepdim = false, Where where = Where::current());
Tensor argmax(const Tensor& x, int64_t dim, bool keepdim = false, Where where = Where::current());
Tensor logsumexp(const Tensor& x, int64_t dim, bool keepdim = false,
                 Where where = Where::current());
Tensor softmax(const Tensor& x, int64_t dim, Where where = Where::current());
Tensor log_softmax(const Tensor& x, int64_t dim, Where where = Where::current());

// Shapes; views are members of Tensor.
Tensor cat(std::span<const Tensor> parts, int64_t dim = 0, Where where = Where::current());
Tensor stack(std::span<const Tensor> parts, int64_t dim = 0, Where where = Where::current());
// Low and high of each dimension.
Tensor pad(const Tensor& x, Dims low, Dims high, Scalar value = 0, Where where = Where::current());
Tensor flip(const Tensor& x, Dims dims, Where where = Where::current());
Tensor tril(const Tensor& x, int64_t diagonal = 0, Where where = Where::current());

// Indices are of whole numbers. One that is out of range on the device is taken for the nearest, as
// XLA does: nothing on the host sees it.
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index,
                    Where where = Where::current());
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Where where = Where::current());
Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                   Where where = Where::current());
Tensor embedding(const Tensor& weight, const Tensor& index, Where where = Where::current());
Tensor one_hot(const Tensor& index, int64_t classes, Where where = Where::current());

// Losses, means over the batch. Targets: classes; those of -100 count for nothing.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Where where = Where::current());
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Where where = Where::current());
Tensor mse_loss(const Tensor& x, const Tensor& target, Where where = Where::current());

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps = 1e-5,
                  Where where = Where::current());  // over the last dimension
// Over all but the second dimension. In training by the batch, whose mean and (unbiased) variance
// the running ones follow; else by those. Weight and bias may be none; in training the running ones
// too.
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, bool training = false, double momentum = 0.1,
                  double eps = 1e-5, Where where = Where::current());
// Each element is 0 with probability `p`; the others grow so that the mean stays.
Tensor dropout(const Tensor& x, double p, Where where = Where::current());
// Queries, keys and values [.., time, width].
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    bool causal = false, Where where = Where::current());

// Operations whose result's size depends on values, or that devices have no lowering for: they run
// on the CPU, and cost a cut and a copy each way.
Tensor nonzero(const Tensor& x, Where where = Where::current());  // [count, rank], s64
Tensor masked_select(const Tensor& x, const Tensor& mask, Where where = Where::current());
Tensor unique(const Tensor& x, Where where = Where::current());  // sorted
Tensor sort(const Tensor& x, bool descending = false,
            Where where = Where::current());  // of the last dimension
Tensor topk(const Tensor& x, int64_t k,
            Where where = Where::current());  // the values, largest first
Tensor histc(const Tensor& x, int64_t bins, double least, double most,
             Where where = Where::current());

}  // namespace xlaprof::lazy

// Operations on tensors, with PyTorch's names and meanings.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/trace/index.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Return new tensors.
Tensor full(Dims sizes, Scalar value, DType type = DType::kF32, Device& device = Device::Default(),
            Where where = Where::current());
Tensor zeros(Dims sizes, DType type = DType::kF32, Device& device = Device::Default(),
             Where where = Where::current());
Tensor ones(Dims sizes, DType type = DType::kF32, Device& device = Device::Default(),
            Where where = Where::current());
Tensor arange(int64_t count, DType type = DType::kI64, Device& device = Device::Default(),
              Where where = Where::current());
// Returns the numbers from `start` to before `end`. They are s64 if all three are integers, and
// otherwise f32, unless a type is given.
Tensor arange(Scalar start, Scalar end, Scalar step = 1, std::optional<DType> type = {},
              Device& device = Device::Default(), Where where = Where::current());
// Returns `steps` numbers from `start` to `end`, both included.
Tensor linspace(double start, double end, int64_t steps, DType type = DType::kF32,
                Device& device = Device::Default(), Where where = Where::current());
// Returns [rows, columns] with 1 on the diagonal. Without `columns` it is square.
Tensor eye(int64_t rows, std::optional<int64_t> columns = {}, DType type = DType::kF32,
           Device& device = Device::Default(), Where where = Where::current());
namespace internal {
Tensor TensorOf(const HostTensor& wide, DType type, Device& device, Where where);
}
// Returns these numbers. Floats become f32 and integers s64, unless a type is given.
template <class T>
  requires std::is_arithmetic_v<T>
Tensor tensor(std::span<const T> values, Dims sizes, std::optional<DType> type = {},
              Device& device = Device::Default(), Where where = Where::current()) {
  constexpr bool kIsReal = std::is_floating_point_v<T>;
  using Wide = std::conditional_t<kIsReal, double, int64_t>;
  const std::vector<Wide> wide(values.begin(), values.end());
  const DType usual = kIsReal ? DType::kF32 : std::is_same_v<T, bool> ? DType::kBool : DType::kI64;
  return internal::TensorOf(HostTensor::Of(std::span<const Wide>(wide), std::move(sizes)),
                            type.value_or(usual), device, where);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, std::optional<DType> type = {},
              Device& device = Device::Default(), Where where = Where::current()) {
  return tensor(std::span<const T>(values), {int64_t(values.size())}, type, device, where);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, std::optional<DType> type = {},
              Device& device = Device::Default(), Where where = Where::current()) {
  const size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  std::vector<std::conditional_t<std::is_same_v<T, bool>, int8_t, T>> all;
  for (const std::initializer_list<T>& row : rows) {
    if (row.size() != columns)
      Raise("tensor(): a row has {} numbers, and the first one {}", row.size(), columns);
    all.insert(all.end(), row.begin(), row.end());
  }
  if (std::is_same_v<T, bool> && !type) type = DType::kBool;
  using Kept = typename decltype(all)::value_type;
  return tensor(std::span<const Kept>(all), {int64_t(rows.size()), int64_t(columns)}, type, device,
                where);
}
template <class T>
  requires std::is_arithmetic_v<T>
Tensor tensor(T value, std::optional<DType> type = {}, Device& device = Device::Default(),
              Where where = Where::current()) {
  return tensor(std::span<const T>(&value, 1), {}, type, device, where);
}
// Return tensors with the sizes and the device of `x`, and its type unless one is given.
Tensor full_like(const Tensor& x, Scalar value, std::optional<DType> type = {},
                 Where where = Where::current());
Tensor zeros_like(const Tensor& x, std::optional<DType> type = {}, Where where = Where::current());
Tensor ones_like(const Tensor& x, std::optional<DType> type = {}, Where where = Where::current());
Tensor rand_like(const Tensor& x, Where where = Where::current());
Tensor randn_like(const Tensor& x, Where where = Where::current());
// Return random numbers: uniform in [0, 1), or normal with mean 0 and variance 1.
Tensor rand(Dims sizes, Device& device = Device::Default(), Where where = Where::current());
Tensor randn(Dims sizes, Device& device = Device::Default(), Where where = Where::current());
// Returns random integers from `low` to before `high`.
Tensor randint(int64_t low, int64_t high, Dims sizes, DType type = DType::kI64,
               Device& device = Device::Default(), Where where = Where::current());
// Returns the integers from 0 to before `count` in a random order. It sorts, on the CPU.
Tensor randperm(int64_t count, DType type = DType::kI64, Device& device = Device::Default(),
                Where where = Where::current());
// Returns 1 with the given probabilities, otherwise 0.
Tensor bernoulli(const Tensor& p, Where where = Where::current());
// Draws `count` places in each row of [rows, classes] or [classes], with probabilities in the
// proportion of the weights. It computes count * classes numbers per row. Without replacement it
// sorts, on the CPU, and draws classes of weight 0 after all others; PyTorch raises an error there.
Tensor multinomial(const Tensor& weights, int64_t count, bool replacement = false,
                   Where where = Where::current());
void manual_seed(int64_t seed, Device& device = Device::Default());
// Returns a separate tensor with the same values, and the same gradient if there is one. `x` must
// be a leaf, which no operation made.
Tensor deepcopy(const Tensor& x, Where where = Where::current());

// Elementwise operations. Integers become f32 if the result is a float, and are their own floor.
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
XLAPROF_UNARY(sin)
XLAPROF_UNARY(cos)
XLAPROF_UNARY(tan)
XLAPROF_UNARY(log2)
XLAPROF_UNARY(floor)
XLAPROF_UNARY(ceil)
XLAPROF_UNARY(round)  // a half to the even neighbour
XLAPROF_UNARY(sign)
XLAPROF_UNARY(square)
XLAPROF_UNARY(reciprocal)
XLAPROF_UNARY(erf)
XLAPROF_UNARY(silu)
XLAPROF_UNARY(logical_not)
XLAPROF_UNARY(isnan)
XLAPROF_UNARY(isinf)
XLAPROF_UNARY(isfinite)
#undef XLAPROF_UNARY
// Returns log(1 + exp(beta * x)) / beta. Where beta * x is above the threshold, it is x.
Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20,
                Where where = Where::current());
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01, Where where = Where::current());
// Returns x times the probability that a normal variable is below x. `approximate` is "none" for
// the exact form, which uses erf(), or "tanh" for the form of GPT-2.
Tensor gelu(const Tensor& x, std::string_view approximate = "none", Where where = Where::current());

// Elementwise operations on two operands, one of which may be a number. Sizes are broadcast, and
// types promoted. A quotient is a float; integers have integer powers.
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
Tensor where(const Tensor& condition, const Tensor& then, Scalar otherwise,
             Where where = Where::current());
Tensor where(const Tensor& condition, Scalar then, const Tensor& otherwise,
             Where where = Where::current());
// Returns `x` with `value` where `mask` is true. A value tensor has no dimensions.
Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value,
                   Where where = Where::current());
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value,
                   Where where = Where::current());
Tensor clamp(const Tensor& x, Scalar least, Scalar most, Where where = Where::current());

// Operators for some of these. Equality has only a name, because C++ would also compare with
// swapped operands.
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

// Multiplies matrices. Leading dimensions are batches.
Tensor matmul(const Tensor& a, const Tensor& b, Where where = Where::current());
// Multiplies x [.., in] by weight [out, in] and adds bias [out], which may be none.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
              Where where = Where::current());
// Sums products of elements, as the equation says: "bij,bjk->bik". Without an arrow, letters that
// occur once are kept, in the order of the alphabet.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              Where where = Where::current());
inline Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands,
                     Where where = Where::current()) {
  return einsum(equation, std::span<const Tensor>(operands), where);
}
// Convolves NCHW with OIHW, or NCL with OIL. Bias [O] may be none. With several groups, each group of
// channels has its own part of the weight, and I is the channels of a group. One group per channel
// is a depthwise convolution.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride = 1,
              int64_t padding = 0, int64_t dilation = 1, int64_t groups = 1,
              Where where = Where::current());
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride = 1,
              int64_t padding = 0, int64_t dilation = 1, int64_t groups = 1,
              Where where = Where::current());
Tensor max_pool2d(const Tensor& x, int64_t kernel, int64_t stride = 0, int64_t padding = 0,
                  Where where = Where::current());  // stride 0: the kernel's size
Tensor avg_pool2d(const Tensor& x, int64_t kernel, int64_t stride = 0, int64_t padding = 0,
                  Where where = Where::current());

// A result and the places of its elements along a dimension of the operand.
struct ValuesAndIndices {
  Tensor values, indices;
};

// Reduce over the given dimensions, or over all if none is given. Sums and products of booleans and
// of s32 are s64. A mean needs floats.
Tensor sum(const Tensor& x, DimList dims = {}, bool keepdim = false,
           Where where = Where::current());
Tensor mean(const Tensor& x, DimList dims = {}, bool keepdim = false,
            Where where = Where::current());
Tensor amax(const Tensor& x, DimList dims = {}, bool keepdim = false,
            Where where = Where::current());
Tensor amin(const Tensor& x, DimList dims = {}, bool keepdim = false,
            Where where = Where::current());
Tensor prod(const Tensor& x, DimList dims = {}, bool keepdim = false,
            Where where = Where::current());
Tensor argmax(const Tensor& x, int64_t dim, bool keepdim = false, Where where = Where::current());
Tensor argmin(const Tensor& x, int64_t dim, bool keepdim = false, Where where = Where::current());
// Return the largest or smallest elements along a dimension, and the first places of these. The
// gradient goes to these places; that of amax and amin goes to all equal elements.
ValuesAndIndices max(const Tensor& x, int64_t dim, bool keepdim = false,
                     Where where = Where::current());
ValuesAndIndices min(const Tensor& x, int64_t dim, bool keepdim = false,
                     Where where = Where::current());
Tensor max(const Tensor& x, Where where = Where::current());
Tensor min(const Tensor& x, Where where = Where::current());
// Return whether any element is true, or all are.
Tensor any(const Tensor& x, DimList dims = {}, bool keepdim = false,
           Where where = Where::current());
Tensor all(const Tensor& x, DimList dims = {}, bool keepdim = false,
           Where where = Where::current());
// Returns (sum of |x|^p)^(1/p). For p = infinity it is the largest absolute value, for -infinity the
// smallest, and for 0 the number of elements other than 0.
Tensor norm(const Tensor& x, double p = 2, DimList dims = {}, bool keepdim = false,
            Where where = Where::current());
// Return the variance and its square root. The sum of squares is divided by the number of elements
// less `correction`. After `using namespace xlaprof::lazy`, write lazy::std.
Tensor var(const Tensor& x, DimList dims = {}, int64_t correction = 1, bool keepdim = false,
           Where where = Where::current());
Tensor std(const Tensor& x, DimList dims = {}, int64_t correction = 1, bool keepdim = false,
           Where where = Where::current());
// Returns sums of the elements up to each, along a dimension.
Tensor cumsum(const Tensor& x, int64_t dim, Where where = Where::current());
Tensor logsumexp(const Tensor& x, int64_t dim, bool keepdim = false,
                 Where where = Where::current());
Tensor softmax(const Tensor& x, int64_t dim, Where where = Where::current());
Tensor log_softmax(const Tensor& x, int64_t dim, Where where = Where::current());

// Change shapes. Views are members of Tensor.
Tensor cat(std::span<const Tensor> parts, int64_t dim = 0, Where where = Where::current());
Tensor stack(std::span<const Tensor> parts, int64_t dim = 0, Where where = Where::current());
inline Tensor cat(std::initializer_list<Tensor> parts, int64_t dim = 0,
                  Where where = Where::current()) {
  return cat(std::span<const Tensor>(parts), dim, where);
}
inline Tensor stack(std::initializer_list<Tensor> parts, int64_t dim = 0,
                    Where where = Where::current()) {
  return stack(std::span<const Tensor>(parts), dim, where);
}
// Return views of parts: of `size` elements each, of the given sizes, or at most `chunks` of equal
// size. The last part may be smaller.
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim = 0,
                          Where where = Where::current());
std::vector<Tensor> split_with_sizes(const Tensor& x, const Dims& sizes, int64_t dim = 0,
                                     Where where = Where::current());
std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0,
                          Where where = Where::current());
// Moves elements by `shifts` places along `dims`; those that leave come back at the other end.
// Without dimensions it moves those of the flattened tensor.
Tensor roll(const Tensor& x, Dims shifts, Dims dims = {}, Where where = Where::current());
// Pads with `low` and `high` elements per dimension.
Tensor pad(const Tensor& x, Dims low, Dims high, Scalar value = 0, Where where = Where::current());
Tensor flip(const Tensor& x, Dims dims, Where where = Where::current());
// Return the lower or upper triangle of matrices, with 0 elsewhere.
Tensor tril(const Tensor& x, int64_t diagonal = 0, Where where = Where::current());
Tensor triu(const Tensor& x, int64_t diagonal = 0, Where where = Where::current());
// Repeats the tensor so often in each dimension. More counts than dimensions add dimensions in
// front.
Tensor repeat(const Tensor& x, Dims counts, Where where = Where::current());
// The new sizes of interpolate(): `size` of the dimensions after the second, or a factor for all of
// them. The mode is "nearest", "linear" for one dimension, or "bilinear" for two.
struct Interpolation {
  Dims size;
  double scale_factor = 0;
  std::string_view mode = "nearest";
};
// Resizes x [N, C, ..], as PyTorch does without align_corners:
//   interpolate(x, {.scale_factor = 2, .mode = "bilinear"})
Tensor interpolate(const Tensor& x, const Interpolation& to, Where where = Where::current());

// Index by integers. An index that is out of range on the device becomes the nearest valid one, as
// in XLA, and nothing on the host detects it. x[...] is in core/trace/index.h.
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index,
                    Where where = Where::current());
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Where where = Where::current());
// Return `x` with elements replaced by `from`, or with `from` added. If an index occurs twice, the
// last element replaces.
Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
               Where where = Where::current());
Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, Scalar value,
               Where where = Where::current());
Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                   Where where = Where::current());
// Do the same with whole slices, one for each element of an index of rank 1.
Tensor index_copy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                  Where where = Where::current());
Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                 Where where = Where::current());
Tensor embedding(const Tensor& weight, const Tensor& index, Where where = Where::current());
Tensor one_hot(const Tensor& index, int64_t classes, Where where = Where::current());

// Losses, as means over the batch. Targets are classes; targets of -100 are ignored.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Where where = Where::current());
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Where where = Where::current());
Tensor mse_loss(const Tensor& x, const Tensor& target, Where where = Where::current());

// Losses of each element. `reduction` is "mean", "sum" or "none".
Tensor l1_loss(const Tensor& x, const Tensor& target, std::string_view reduction = "mean",
               Where where = Where::current());
// Are quadratic for differences below beta or delta, and linear above.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, std::string_view reduction = "mean",
                      double beta = 1, Where where = Where::current());
Tensor huber_loss(const Tensor& x, const Tensor& target, std::string_view reduction = "mean",
                  double delta = 1, Where where = Where::current());
// Take probabilities, or their logits, and targets between 0 and 1.
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target,
                            std::string_view reduction = "mean", Where where = Where::current());
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        std::string_view reduction = "mean",
                                        Where where = Where::current());
// Takes the logarithms of probabilities, and the probabilities that they should be, or the
// logarithms of these. `reduction` may also be "batchmean", the sum divided by the first size.
Tensor kl_div(const Tensor& x, const Tensor& target, std::string_view reduction = "mean",
              bool log_target = false, Where where = Where::current());

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps = 1e-5,
                  Where where = Where::current());  // over the last dimension
// Normalizes over all dimensions except the second. In training it uses the batch's statistics, and
// the running mean and (unbiased) variance follow them. Otherwise it uses the running ones. Weight
// and bias may be none, and in training the running ones, too.
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, bool training = false, double momentum = 0.1,
                  double eps = 1e-5, Where where = Where::current());
// Normalizes x [N, C, ..] over each of `num_groups` groups of channels of each element of the batch.
// Weight and bias [C] may be none.
Tensor group_norm(const Tensor& x, int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5, Where where = Where::current());
// Sets each element to 0 with probability `p`, and scales the others so that the mean stays.
Tensor dropout(const Tensor& x, double p, Where where = Where::current());
// Takes queries, keys and values [.., time, width].
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    bool causal = false, Where where = Where::current());
// Does the same with a mask that is broadcast to [.., queries, keys]. A mask of booleans is true
// where a query may see a key; one of floats is added to the scores. A query that may see no key
// gets 0.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, Where where = Where::current());

// Operations whose result's size depends on values, or that devices have no lowering for. They run
// on the CPU, and cost a cut and a copy in each direction.
Tensor nonzero(const Tensor& x, Where where = Where::current());  // [count, rank], s64
Tensor masked_select(const Tensor& x, const Tensor& mask, Where where = Where::current());
Tensor unique(const Tensor& x, Where where = Where::current());  // sorted
// Sorts along a dimension. Equal elements keep their order.
ValuesAndIndices sort(const Tensor& x, int64_t dim = -1, bool descending = false,
                      Where where = Where::current());
// Returns the k largest elements, the largest first, or the smallest, the smallest first.
ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true,
                      Where where = Where::current());
Tensor histc(const Tensor& x, int64_t bins, double least, double most,
             Where where = Where::current());

#define XLAPROF_OR(value)
#define XLAPROF_MEMBER(type, name, parameters, ...)             \
  inline type Tensor::name parameters const {                   \
    return lazy::name(*this __VA_OPT__(, ) __VA_ARGS__, where); \
  }
#include "core/trace/members.h"

}  // namespace xlaprof::lazy

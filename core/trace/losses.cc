#include <cmath>

#include "core/trace/functions.h"
#include "core/trace/tensor_impl.h"

namespace xlaprof::lazy {

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Where where) {
  Call call(where);
  return neg(mean(gather(log_probabilities, 1, target.unsqueeze(1))));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, Where where) {
  Call call(where);
  return nll_loss(log_softmax(logits, 1), target);
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Where where) {
  Call call(where);
  const Tensor off = x - target;
  return mean(off * off);
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                  Where where) {
  Call call(where);
  const Tensor centered = x - mean(x, {-1}, /*keepdim=*/true);
  const Tensor variance = mean(centered * centered, {-1}, /*keepdim=*/true);
  return centered * rsqrt(variance + eps) * weight + bias;
}

Tensor dropout(const Tensor& x, double p, Where where) {
  Call call(where);
  if (!(p >= 0 && p <= 1))
    RaiseHere("aten::dropout({}): {} is no probability: it is from 0 to 1", TextOf(x), p);
  const Tensor kept = ge(rand(x.sizes(), x.device()), p).to(x.dtype());
  return x * kept * (p < 1 ? 1 / (1 - p) : 0);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    bool causal, Where where) {
  Call call(where);
  Tensor scores = matmul(query, key.t()) * (1 / std::sqrt(double(query.size(-1))));
  if (causal) {
    const Tensor seen = tril(ones({query.size(-2), key.size(-2)}, DType::kF32, query.device()));
    scores = lazy::where(gt(seen, 0), scores, ScalarTensor(-1e30, scores.dtype(), query.device()));
  }
  return matmul(softmax(scores, -1), value);
}

}  // namespace xlaprof::lazy

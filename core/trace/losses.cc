#include <algorithm>
#include <cmath>
#include <limits>

#include "core/trace/autocast.h"
#include "core/trace/emit.h"
#include "core/trace/functions.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {

// Targets that are ignored, as with PyTorch's default ignore_index.
constexpr int64_t kIgnored = -100;

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Where where) {
  OpCall call(where);
  if (log_probabilities.dim() != 2 || target.dim() != 1 ||
      target.size(0) != log_probabilities.size(0)) {
    RaiseHere(
        "aten::nll_loss({}, {}): needs [batch, classes] and one target per element of the batch",
        TextOf(log_probabilities), TextOf(target));
  }
  const Tensor counts = ne(target, kIgnored);
  const Tensor classes = lazy::where(counts, target, Zero(target));
  const Tensor picked =
      gather(AutocastToF32(log_probabilities), 1, classes.unsqueeze(1)).squeeze(1);
  return neg(sum(lazy::where(counts, picked, Zero(picked))) / sum(counts.to(picked.dtype())));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, Where where) {
  OpCall call(where);
  return nll_loss(log_softmax(AutocastToF32(logits), 1), target);
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Where where) {
  OpCall call(where);
  const Tensor off = AutocastToF32(x) - AutocastToF32(target);
  return mean(off * off);
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                  Where where) {
  OpCall call(where);
  const Tensor wide = Wide(x), centered = wide - mean(wide, {-1}, /*keepdim=*/true);
  const Tensor variance = mean(centered * centered, {-1}, /*keepdim=*/true);
  return (centered * rsqrt(variance + eps) * weight + bias).to(x.dtype());
}

Tensor dropout(const Tensor& x, double p, Where where) {
  OpCall call(where);
  if (!(p >= 0 && p <= 1))
    RaiseHere("aten::dropout({}): {} is not a probability between 0 and 1", TextOf(x), p);
  const Tensor kept = ge(rand(x.sizes(), x.device()), p).to(x.dtype());
  return x * kept * (p < 1 ? 1 / (1 - p) : 0);
}

namespace {

// Returns how well each key fits each query, [.., queries, keys].
Tensor AttentionScores(const Tensor& query, const Tensor& key) {
  const Tensor products = matmul(query, AutocastToNarrow(key).t());
  return Wide(products) * (1 / std::sqrt(double(query.size(-1))));
}

// Returns whether `sizes` can be broadcast to `to` and nothing more.
bool AreBroadcastTo(const Dims& to, const Dims& sizes) {
  if (sizes.size() > to.size()) return false;
  return std::equal(sizes.rbegin(), sizes.rend(), to.rbegin(),
                    [](int64_t size, int64_t as) { return size == as || size == 1; });
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    bool causal, Where where) {
  OpCall call(where);
  Tensor scores = AttentionScores(query, key);
  if (causal) {
    const Tensor seen = tril(ones({query.size(-2), key.size(-2)}, DType::kF32, query.device()));
    scores = lazy::where(gt(seen, 0), scores, ScalarTensor(-1e30, scores.dtype(), query.device()));
  }
  return matmul(softmax(scores, -1).to(value.dtype()), value);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, Where where) {
  OpCall call(where);
  Tensor scores = AttentionScores(query, key);
  const bool is_truth = attn_mask.dtype() == DType::kBool;
  if ((!is_truth && !IsFloat(attn_mask.dtype())) ||
      !AreBroadcastTo(scores.sizes(), attn_mask.sizes())) {
    RaiseHere(
        "aten::scaled_dot_product_attention({}, {}): the mask is {}, but must be of booleans or "
        "floats, with sizes that broadcast to {} (.., queries, keys)",
        TextOf(query), TextOf(key), TextOf(attn_mask), SizesText(scores.sizes()));
  }
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const Tensor never = ScalarTensor(kNever, scores.dtype(), query.device());
  scores = is_truth ? lazy::where(attn_mask, scores, never) : scores + attn_mask.to(scores.dtype());
  // A query that may see no key gets 0, not NaN.
  const Tensor sees = gt(amax(scores, {-1}, /*keepdim=*/true), kNever);
  const Tensor weights = softmax(lazy::where(sees, scores, Zero(scores)), -1);
  return matmul(lazy::where(sees, weights, Zero(weights)).to(value.dtype()), value);
}

}  // namespace xlaprof::lazy

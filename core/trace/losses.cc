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

namespace {

Tensor Reduced(std::string_view op, const Tensor& losses, std::string_view reduction) {
  if (reduction == "mean") return mean(losses);
  if (reduction == "sum") return sum(losses);
  if (reduction == "none") return losses;
  RaiseHere("{}({}): reduction is \"{}\", but it must be \"mean\", \"sum\" or \"none\"", op,
            TextOf(losses), reduction);
}

Tensor Difference(const Tensor& x, const Tensor& target) {
  return AutocastToF32(x) - AutocastToF32(target);
}

}  // namespace

Tensor l1_loss(const Tensor& x, const Tensor& target, std::string_view reduction, Where where) {
  OpCall call(where);
  return Reduced("aten::l1_loss", abs(Difference(x, target)), reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, std::string_view reduction,
                      double beta, Where where) {
  OpCall call(where);
  const Tensor off = abs(Difference(x, target));
  if (beta == 0) return Reduced("aten::smooth_l1_loss", off, reduction);
  const Tensor near = off * off * (0.5 / beta);
  return Reduced("aten::smooth_l1_loss", lazy::where(lt(off, beta), near, off - 0.5 * beta),
                 reduction);
}

Tensor huber_loss(const Tensor& x, const Tensor& target, std::string_view reduction, double delta,
                  Where where) {
  OpCall call(where);
  const Tensor off = abs(Difference(x, target));
  const Tensor far = (off - 0.5 * delta) * delta;
  return Reduced("aten::huber_loss", lazy::where(le(off, delta), off * off * 0.5, far), reduction);
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, std::string_view reduction,
                            Where where) {
  OpCall call(where);
  const Tensor p = AutocastToF32(x), y = AutocastToF32(target).detach(), inside = p.detach();
  // PyTorch bounds the logarithm of 0, and the divisor of the gradient.
  constexpr double kLeast = -100, kLeastDivisor = 1e-12;
  Tensor losses =
      neg(y * maximum(log(inside), kLeast) + (1 - y) * maximum(log1p(neg(inside)), kLeast));
  if (NeedsGrad(p)) {
    losses = Differentiable(losses, {p}, [p = Saved(p), y = Saved(y)](const Tensor& grad) {
      const Tensor at = p.get();
      return Grads{grad * (at - y.get()) / maximum((1 - at) * at, kLeastDivisor)};
    });
  }
  return Reduced("aten::binary_cross_entropy", losses, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        std::string_view reduction, Where where) {
  OpCall call(where);
  const Tensor logits = AutocastToF32(x);
  const Tensor losses = (1 - AutocastToF32(target)) * logits + softplus(neg(logits), 1, INFINITY);
  return Reduced("aten::binary_cross_entropy_with_logits", losses, reduction);
}

Tensor kl_div(const Tensor& x, const Tensor& target, std::string_view reduction, bool log_target,
              Where where) {
  OpCall call(where);
  const Tensor q = AutocastToF32(x), p = AutocastToF32(target);
  Tensor losses;
  if (log_target) {
    losses = exp(p) * (p - q);
  } else {
    // 0 log 0 is 0, and so is its gradient.
    const Tensor is_some = gt(p.detach(), 0);
    losses = lazy::where(is_some, p * log(lazy::where(is_some, p, 1)), 0.0) - p * q;
  }
  if (reduction != "batchmean") return Reduced("aten::kl_div", losses, reduction);
  return sum(losses) / double(losses.dim() == 0 ? 1 : losses.size(0));
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

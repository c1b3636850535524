#include "core/nn/multihead_attention.h"

#include <cmath>
#include <limits>

#include "core/exec/call.h"
#include "core/nn/init.h"

namespace xlaprof::lazy::nn {
namespace {

std::string TextOfSizes(const Tensor& tensor) { return SizesText(tensor.sizes()); }

// Adds a mask, which is broadcast to the scores.
Tensor Masked(const Tensor& scores, const Tensor& mask) {
  if (mask.dtype() != DType::kBool) return scores + mask.to(scores.dtype());
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  return lazy::where(mask, full({}, kNever, scores.dtype(), scores.device()), scores);
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                                       const MultiheadAttentionOptions& options, Device& device,
                                       Where where)
    // These are Xavier's initial values: the matrix has embed_dim inputs and three times as many
    // outputs.
    : in_proj_weight(
          Uniform({3 * embed_dim, embed_dim}, std::sqrt(6 / (4. * double(embed_dim))), device)),
      in_proj_bias(options.bias ? Filled(3 * embed_dim, 0, device) : Tensor()),
      out_proj(embed_dim, embed_dim, device),
      embed_dim(embed_dim),
      num_heads(num_heads),
      options(options) {
  Call call(where);
  if (num_heads < 1 || embed_dim % num_heads != 0)
    RaiseHere("MultiheadAttention: a width of {} cannot be divided into {} equal heads", embed_dim,
              num_heads);
  out_proj.bias = options.bias ? Filled(embed_dim, 0, device) : Tensor();
}

std::pair<Tensor, Tensor> MultiheadAttention::operator()(const Tensor& query, const Tensor& key,
                                                         const Tensor& value,
                                                         const AttentionMasks& masks,
                                                         Where where) const {
  OpCall call(where);
  const bool has_batch = query.dim() == 3;
  const auto is_wrong = [&](const Tensor& x) {
    return x.dim() != query.dim() || x.size(-1) != embed_dim;
  };
  if ((query.dim() != 2 && !has_batch) || is_wrong(query) || is_wrong(key) ||
      key.sizes() != value.sizes()) {
    RaiseHere(
        "MultiheadAttention: query {}, key {} and value {} must be of width {}, all with a batch "
        "or all without, and key and value of the same sizes",
        TextOfSizes(query), TextOfSizes(key), TextOfSizes(value), embed_dim);
  }
  // Returns part `i` of the projection as [batch, heads, time, width of a head].
  auto projected = [&](const Tensor& x, int64_t i) {
    const Tensor rows = !has_batch ? x.unsqueeze(0) : options.batch_first ? x : x.transpose(0, 1);
    const int64_t from = i * embed_dim, to = from + embed_dim;
    const Tensor out = linear(rows, in_proj_weight.slice(0, from, to),
                              in_proj_bias.defined() ? in_proj_bias.slice(0, from, to) : Tensor());
    return out.view({rows.size(0), rows.size(1), num_heads, embed_dim / num_heads}).transpose(1, 2);
  };
  const Tensor q = projected(query, 0), k = projected(key, 1), v = projected(value, 2);
  const int64_t batch = q.size(0), target = q.size(2), source = k.size(2);
  if (k.size(0) != batch)
    RaiseHere("MultiheadAttention: query {} and key {} have different batches", TextOfSizes(query),
              TextOfSizes(key));
  Tensor scores = matmul(q * std::sqrt(1 / double(embed_dim / num_heads)), k.transpose(-2, -1));
  if (const Tensor& mask = masks.attn_mask; mask.defined()) {
    if (mask.sizes() == Dims{target, source}) {
      scores = Masked(scores, mask);
    } else if (mask.sizes() == Dims{batch * num_heads, target, source}) {
      scores = Masked(scores, mask.view({batch, num_heads, target, source}));
    } else {
      RaiseHere("MultiheadAttention: attn_mask has sizes {}, but {} or {} are needed",
                TextOfSizes(mask), SizesText({target, source}),
                SizesText({batch * num_heads, target, source}));
    }
  }
  if (const Tensor& mask = masks.key_padding_mask; mask.defined()) {
    const Dims sizes = has_batch ? Dims{batch, source} : Dims{source};
    if (mask.sizes() != sizes) {
      RaiseHere("MultiheadAttention: key_padding_mask has sizes {}, but {} are needed",
                TextOfSizes(mask), SizesText(sizes));
    }
    scores = Masked(scores, mask.view({batch, 1, 1, source}));
  }
  Tensor weights = softmax(scores, -1);
  if (training && options.dropout > 0) weights = dropout(weights, options.dropout);
  Tensor out = matmul(weights, v).transpose(1, 2).view({batch, target, embed_dim});
  out = out_proj(out);
  if (has_batch && !options.batch_first) out = out.transpose(0, 1);
  const Tensor over_heads = mean(weights, {1});
  return has_batch ? std::pair(out, over_heads) : std::pair(out.squeeze(0), over_heads.squeeze(0));
}

}  // namespace xlaprof::lazy::nn

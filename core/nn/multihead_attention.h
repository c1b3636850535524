// Attention with several heads, with PyTorch's names, so that a state of PyTorch's can be loaded.
#pragma once

#include <utility>

#include "core/nn/nn.h"

namespace xlaprof::lazy::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;  // of the attention weights, in training
  bool bias = true;
  bool batch_first = false;  // whether tensors are [batch, time, width], not [time, batch, width]
};

// Masks of booleans exclude what is true; masks of floats are added to the scores. A query whose
// keys are all excluded gives NaN. Either mask may be none.
struct AttentionMasks {
  Tensor attn_mask = {};         // [target, source] or [batch * heads, target, source]
  Tensor key_padding_mask = {};  // [batch, source]; without a batch [source]
};

struct MultiheadAttention : Module {
  // Raises an Error if embed_dim is not a multiple of num_heads.
  MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                     const MultiheadAttentionOptions& options = {},
                     Device& device = Device::Default(), Where where = Where::current());
  // Takes query [target, batch, embed_dim], and key and value [source, batch, embed_dim], in
  // another order if batch_first; or all without the batch. Returns the output, whose sizes are
  // those of the query, and the weights [batch, target, source] as the mean over the heads. Weights
  // that nobody uses are not computed.
  std::pair<Tensor, Tensor> operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionMasks& masks = {},
                                       Where where = Where::current()) const;
  std::vector<Part> parts() override {
    return {
        {"in_proj_weight", in_proj_weight}, {"in_proj_bias", in_proj_bias}, {"out_proj", out_proj}};
  }
  // The weights of query, key and value are one below the other. Without options.bias, the bias is
  // none.
  Tensor in_proj_weight, in_proj_bias;  // [3 * embed_dim, embed_dim], [3 * embed_dim]
  Linear out_proj;
  int64_t embed_dim, num_heads;
  MultiheadAttentionOptions options;
};

}  // namespace xlaprof::lazy::nn

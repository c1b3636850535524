#include "examples/gpt/model.h"

namespace xlaprof::examples {

using namespace lazy;

Tensor Attention::operator()(const Tensor& x, const Tensor& positions, Cache* cache) const {
  const int64_t batch = x.size(0), time = x.size(1), width = x.size(2);
  std::vector<Tensor> parts = chunk(qkv(x), 3, -1);
  for (Tensor& part : parts) part = part.view({batch, time, heads, width / heads}).transpose(1, 2);
  Seen seen{parts[1], parts[2]};
  if (cache != nullptr) seen = cache->Add(layer, seen, positions);
  const Tensor read =
      seen.mask.defined()
          ? scaled_dot_product_attention(parts[0], seen.keys, seen.values, seen.mask)
          : scaled_dot_product_attention(parts[0], seen.keys, seen.values, /*causal=*/time > 1);
  return out(read.transpose(1, 2).view({batch, time, width}));
}

Tensor Block::operator()(Tensor x, const Tensor& positions, Cache* cache) const {
  x = x + attention(norm1(x), positions, cache);
  return x + narrow(gelu(wide(norm2(x)), "tanh"));
}

Gpt::Gpt(const GptSizes& sizes)
    : sizes(sizes),
      embedding(sizes.vocabulary, sizes.width),
      places(sizes.length, sizes.width),
      norm(sizes.width) {
  for (int64_t i = 0; i < sizes.layers; ++i) blocks.push_back(Block(sizes, size_t(i)));
  // The scores of an untrained model would be too large with the usual variance of 1.
  NoGrad no_grad;
  embedding.weight.mul_(0.02);
  places.weight.mul_(0.02);
}

Tensor Gpt::operator()(const Tensor& characters, const Tensor& positions, Cache* cache) const {
  Tensor x = embedding(characters) + places(positions);
  for (const Block& block : blocks) x = block(x, positions, cache);
  return linear(norm(x), embedding.weight, {});
}

}  // namespace xlaprof::examples

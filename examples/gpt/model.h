// A small GPT, built as GPT-2 is, that predicts the next character of a text.
#pragma once

#include "core/nn/nn.h"
#include "core/nn/sequential.h"
#include "examples/gpt/cache.h"

namespace xlaprof::examples {

struct Attention : lazy::nn::Module {
  Attention(const GptSizes& sizes, size_t layer)
      : qkv(sizes.width, 3 * sizes.width),
        out(sizes.width, sizes.width),
        heads(sizes.heads),
        layer(layer) {}
  lazy::Tensor operator()(const lazy::Tensor& x, const lazy::Tensor& positions, Cache* cache) const;
  std::vector<lazy::nn::Part> parts() override { return {{"qkv", qkv}, {"out", out}}; }

  lazy::nn::Linear qkv, out;
  int64_t heads;
  size_t layer;
};

struct Block : lazy::nn::Module {
  Block(const GptSizes& sizes, size_t layer)
      : norm1(sizes.width),
        norm2(sizes.width),
        attention(sizes, layer),
        wide(sizes.width, 4 * sizes.width),
        narrow(4 * sizes.width, sizes.width) {}
  lazy::Tensor operator()(lazy::Tensor x, const lazy::Tensor& positions, Cache* cache) const;
  std::vector<lazy::nn::Part> parts() override {
    return {{"norm1", norm1},
            {"attention", attention},
            {"norm2", norm2},
            {"wide", wide},
            {"narrow", narrow}};
  }

  lazy::nn::LayerNorm norm1, norm2;
  Attention attention;
  lazy::nn::Linear wide, narrow;
};

struct Gpt : lazy::nn::Module {
  explicit Gpt(const GptSizes& sizes);
  // Returns scores [batch, time, vocabulary] of the character that follows each of `characters`
  // [batch, time], which are at `positions` [time]. With a cache, they follow those read before.
  lazy::Tensor operator()(const lazy::Tensor& characters, const lazy::Tensor& positions,
                          Cache* cache = nullptr) const;
  std::vector<lazy::nn::Part> parts() override {
    return {{"embedding", embedding}, {"places", places}, {"blocks", blocks}, {"norm", norm}};
  }

  GptSizes sizes;
  lazy::nn::Embedding embedding, places;  // the first is also the last layer's weight
  lazy::nn::ModuleList<Block> blocks;
  lazy::nn::LayerNorm norm;
};

}  // namespace xlaprof::examples

// Keeps the keys and values of the characters that a GPT has read, so that each new character needs
// only its own.
#pragma once

#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::examples {

// Holds what the queries of one layer look at.
struct Seen {
  lazy::Tensor keys, values;  // [batch, heads, characters, width of a head]
  lazy::Tensor mask = {};  // [queries, characters], true where a query may look; none: everywhere
};

struct GptSizes {
  int64_t vocabulary = 0;
  int64_t length = 128;  // the most characters of a text
  int64_t width = 64, heads = 4, layers = 4;
};

class Cache {
 public:
  virtual ~Cache() = default;
  // Adds the keys and values of the characters at `positions` to those of a layer. Returns what the
  // queries of these characters look at.
  virtual Seen Add(size_t layer, const Seen& added, const lazy::Tensor& positions) = 0;
};

// Appends. The keys and values are one longer for each character, so that each has another graph.
class GrowingCache final : public Cache {
 public:
  explicit GrowingCache(const GptSizes& sizes) : layers_(size_t(sizes.layers)) {}
  Seen Add(size_t layer, const Seen& added, const lazy::Tensor& positions) override;

 private:
  std::vector<Seen> layers_;
};

// Has room for a whole text from the start, and writes at positions, which are values of a tensor.
// All characters therefore have the same graph.
class StaticCache final : public Cache {
 public:
  StaticCache(const GptSizes& sizes, int64_t batch);
  Seen Add(size_t layer, const Seen& added, const lazy::Tensor& positions) override;

 private:
  const int64_t length_;
  std::vector<Seen> layers_;
};

}  // namespace xlaprof::examples

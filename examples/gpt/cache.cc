#include "examples/gpt/cache.h"

#include "core/trace/functions.h"

namespace xlaprof::examples {

using namespace lazy;

Seen GrowingCache::Add(size_t layer, const Seen& added, const Tensor& /*positions*/) {
  Seen& seen = layers_[layer];
  if (!seen.keys.defined()) return seen = added;
  seen.keys = cat(std::vector{seen.keys, added.keys}, 2);
  seen.values = cat(std::vector{seen.values, added.values}, 2);
  return seen;
}

StaticCache::StaticCache(const GptSizes& sizes, int64_t batch) : length_(sizes.length) {
  const Dims all{batch, sizes.heads, sizes.length, sizes.width / sizes.heads};
  for (int64_t i = 0; i < sizes.layers; ++i) layers_.push_back({zeros(all), zeros(all)});
}

Seen StaticCache::Add(size_t layer, const Seen& added, const Tensor& positions) {
  Seen& seen = layers_[layer];
  seen.keys.index_put_({Slice{}, Slice{}, positions}, added.keys);
  seen.values.index_put_({Slice{}, Slice{}, positions}, added.values);
  return {seen.keys, seen.values, arange(length_) <= positions.unsqueeze(1)};
}

}  // namespace xlaprof::examples

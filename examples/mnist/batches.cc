#include "examples/mnist/batches.h"

#include <algorithm>

namespace xlaprof::examples {

using namespace lazy;

HostTensor Images(const Digits& digits, std::span<const int64_t> which) {
  constexpr int64_t kPixels = Digits::kSide * Digits::kSide;
  HostTensor host{{DType::kF32, {int64_t(which.size()), 1, Digits::kSide, Digits::kSide}}, {}};
  host.bytes.resize(size_t(host.shape.bytes()));
  auto* to = reinterpret_cast<float*>(host.bytes.data());
  for (int64_t i : which) to = std::copy_n(digits.images.data() + i * kPixels, kPixels, to);
  return host;
}

HostTensor Labels(const Digits& digits, std::span<const int64_t> which) {
  HostTensor host{{DType::kI64, {int64_t(which.size())}}, {}};
  host.bytes.resize(size_t(host.shape.bytes()));
  auto* to = reinterpret_cast<int64_t*>(host.bytes.data());
  for (int64_t i : which) *to++ = digits.labels[size_t(i)];
  return host;
}

ReadBatch RandomBatches(const Digits& digits, int64_t count, int64_t size, uint64_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [&digits, random, size, left = count]() mutable -> std::optional<HostBatch> {
    if (left-- <= 0) return std::nullopt;
    std::vector<int64_t> which(static_cast<size_t>(size));
    for (int64_t& i : which) i = int64_t((*random)() % uint64_t(digits.count()));
    return HostBatch{Images(digits, which), Labels(digits, which)};
  };
}

}  // namespace xlaprof::examples

// Makes batches of digits for a training.
#pragma once

#include <memory>
#include <random>
#include <span>

#include "core/trace/loader.h"
#include "examples/mnist/digits.h"

namespace xlaprof::examples {

// Return some of the digits: images [N, 1, 28, 28], and their labels [N].
lazy::HostTensor Images(const Digits& digits, std::span<const int64_t> which);
lazy::HostTensor Labels(const Digits& digits, std::span<const int64_t> which);

// Returns a reader of `count` batches of `size` random digits, which must outlive it.
lazy::ReadBatch RandomBatches(const Digits& digits, int64_t count, int64_t size, uint64_t seed);

}  // namespace xlaprof::examples

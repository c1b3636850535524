// Sizes that one dimension of an input took, and to what they could be padded so that fewer
// programs are compiled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace xlaprof {

struct Padding {
  std::vector<int64_t> buckets;  // ascending; the last one is the largest size seen
  double extra_work = 0;  // elements added, as a share of those there are: 0.25 is a quarter more
};

// `times`: how often each of `sizes` came, for extra_work; empty: each as often as the others.

// Everything to the largest size.
Padding PadToLargest(std::span<const int64_t> sizes, std::span<const int64_t> times = {});

// To powers of two, the last bucket being the largest size itself. Each size is at least 1.
Padding PadToBuckets(std::span<const int64_t> sizes, std::span<const int64_t> times = {});

// "32, 64"; of more than `most` entries the first ones and "and 12 more".
std::string SizeList(std::span<const int64_t> sizes, size_t most = 12);

}  // namespace xlaprof

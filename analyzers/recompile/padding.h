// Finds sizes to which one dimension of an input could be padded, so that fewer programs are
// compiled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace xlaprof {

struct Padding {
  std::vector<int64_t> buckets;  // ascending; the last one is the largest size; empty without sizes
  double extra_work = 0;  // added elements, relative to the elements before: 0.25 is 25 % more
};

// In the following functions, `times` says how often each of `sizes` was executed, for extra_work.
// If it is empty, all sizes count equally.

// Returns the padding of all sizes to the largest.
Padding PadToLargest(std::span<const int64_t> sizes, std::span<const int64_t> times = {});

// Returns the padding to powers of two. The last bucket is the largest size itself.
Padding PadToBuckets(std::span<const int64_t> sizes, std::span<const int64_t> times = {});

// Returns "32, 64". If there are more than `most` entries, returns the first ones and "and 12
// more".
std::string SizeList(std::span<const int64_t> sizes, size_t most = 12);

}  // namespace xlaprof

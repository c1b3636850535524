// Finds sizes to which the varying dimensions of an input could be padded, so that fewer programs
// are compiled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace xlaprof {

// The sizes of the dimensions that vary, in one shape of an input.
using Sizes = std::vector<int64_t>;

struct Padding {
  std::vector<Sizes> buckets;  // ascending and distinct; empty without sizes
  double extra_work = 0;       // added elements, relative to the elements before: 0.25 is 25 % more
};

// In the following functions, all `sizes` have the same dimensions, and `times` says how often each
// was executed, for extra_work. If it is empty, all count equally.

// Returns the padding of each dimension to its largest size: one bucket.
Padding PadToLargest(std::span<const Sizes> sizes, std::span<const int64_t> times = {});

// Returns the padding of each dimension to powers of two, the largest of which is its largest size
// itself.
Padding PadToBuckets(std::span<const Sizes> sizes, std::span<const int64_t> times = {});

// Returns "32, 64", or "32×8, 64×4" for two dimensions. If there are more than a few entries,
// returns the first ones and "and 12 more".
std::string SizeList(std::span<const Sizes> sizes);

}  // namespace xlaprof

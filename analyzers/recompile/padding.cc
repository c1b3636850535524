#include "analyzers/recompile/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace xlaprof {
namespace {

double ExtraWork(std::span<const int64_t> sizes, std::span<const int64_t> times,
                 std::span<const int64_t> buckets) {
  double there = 0, padded = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double weight = i < times.size() ? double(times[i]) : 1;
    there += weight * double(sizes[i]);
    padded += weight * double(*std::lower_bound(buckets.begin(), buckets.end(), sizes[i]));
  }
  return there > 0 ? (padded - there) / there : 0;
}

}  // namespace

Padding PadToLargest(std::span<const int64_t> sizes, std::span<const int64_t> times) {
  if (sizes.empty()) return {};
  Padding padding{.buckets = {*std::max_element(sizes.begin(), sizes.end())}};
  padding.extra_work = ExtraWork(sizes, times, padding.buckets);
  return padding;
}

Padding PadToBuckets(std::span<const int64_t> sizes, std::span<const int64_t> times) {
  if (sizes.empty()) return {};
  const int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  Padding padding;
  for (int64_t size : sizes) {
    const auto power =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(size, 1))));
    padding.buckets.push_back(std::min(power, largest));
  }
  std::sort(padding.buckets.begin(), padding.buckets.end());
  padding.buckets.erase(std::unique(padding.buckets.begin(), padding.buckets.end()),
                        padding.buckets.end());
  padding.extra_work = ExtraWork(sizes, times, padding.buckets);
  return padding;
}

std::string SizeList(std::span<const int64_t> sizes, size_t most) {
  const size_t shown = std::min(sizes.size(), most);
  std::string text = fmt::format("{}", fmt::join(sizes.first(shown), ", "));
  if (shown < sizes.size()) text += fmt::format(" and {} more", sizes.size() - shown);
  return text;
}

}  // namespace xlaprof

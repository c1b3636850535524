#include "analyzers/recompile/padding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace xlaprof {
namespace {

double Elements(const Sizes& sizes) {
  double elements = 1;
  for (int64_t size : sizes) elements *= double(size);
  return elements;
}

Sizes Largest(std::span<const Sizes> sizes) {
  Sizes largest = sizes.front();
  for (const Sizes& one : sizes) {
    for (size_t d = 0; d < one.size(); ++d) largest[d] = std::max(largest[d], one[d]);
  }
  return largest;
}

// Returns the padding by which each of `sizes` becomes the one of `padded` at its index.
Padding PadTo(std::vector<Sizes> padded, std::span<const Sizes> sizes,
              std::span<const int64_t> times) {
  double elements_before = 0, elements = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double weight = i < times.size() ? double(times[i]) : 1;
    elements_before += weight * Elements(sizes[i]);
    elements += weight * Elements(padded[i]);
  }
  std::ranges::sort(padded);
  padded.erase(std::unique(padded.begin(), padded.end()), padded.end());
  return {.buckets = std::move(padded),
          .extra_work = elements_before > 0 ? (elements - elements_before) / elements_before : 0};
}

}  // namespace

Padding PadToLargest(std::span<const Sizes> sizes, std::span<const int64_t> times) {
  if (sizes.empty()) return {};
  return PadTo(std::vector(sizes.size(), Largest(sizes)), sizes, times);
}

Padding PadToBuckets(std::span<const Sizes> sizes, std::span<const int64_t> times) {
  if (sizes.empty()) return {};
  const Sizes largest = Largest(sizes);
  std::vector<Sizes> padded(sizes.begin(), sizes.end());
  for (Sizes& one : padded) {
    for (size_t d = 0; d < one.size(); ++d) {
      const auto power =
          static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(one[d], 1))));
      one[d] = std::min(power, largest[d]);
    }
  }
  return PadTo(std::move(padded), sizes, times);
}

std::string SizeList(std::span<const Sizes> sizes) {
  if (sizes.empty()) return "";
  // Sizes of several dimensions are longer.
  const size_t shown = std::min<size_t>(sizes.size(), sizes.front().size() > 1 ? 6 : 12);
  std::vector<std::string> texts;
  for (const Sizes& one : sizes.first(shown))
    texts.push_back(fmt::format("{}", fmt::join(one, "×")));
  std::string text = fmt::format("{}", fmt::join(texts, ", "));
  if (shown < sizes.size()) text += fmt::format(" and {} more", sizes.size() - shown);
  return text;
}

}  // namespace xlaprof

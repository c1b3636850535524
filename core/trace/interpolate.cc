// Resizes images, one dimension after the other.
#include <algorithm>
#include <cmath>

#include "core/trace/functions.h"
#include "core/trace/reduction.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {
namespace {

constexpr std::string_view kName = "aten::interpolate";

// Returns a dimension with `size` elements, each of which is the one at its place. `scale` is the
// distance of their places.
Tensor Nearest(const Tensor& x, int64_t dim, int64_t size, float scale) {
  const Tensor places = floor(arange(size, DType::kF32, x.device()) * double(scale));
  return index_select(x, dim, minimum(places, double(x.size(dim) - 1)).to(DType::kI64));
}

// Does the same, but mixes the two elements around each place.
Tensor Linear(const Tensor& x, int64_t dim, int64_t size, float scale) {
  const Tensor centers = arange(size, DType::kF32, x.device()) + 0.5;
  const Tensor places = maximum(centers * double(scale) - 0.5, 0.0);
  const Tensor below = minimum(floor(places), double(x.size(dim) - 1));
  const Tensor above = minimum(below + 1.0, double(x.size(dim) - 1));
  Dims sizes(size_t(x.dim()), 1);
  sizes[size_t(dim)] = size;
  const Tensor share = (places - below).view(sizes).to(x.dtype());
  return index_select(x, dim, below.to(DType::kI64)) * (1 - share) +
         index_select(x, dim, above.to(DType::kI64)) * share;
}

}  // namespace

Tensor interpolate(const Tensor& x, const Interpolation& to, Where where) {
  OpCall call(where);
  const Dims from = x.sizes();
  const int64_t resized = x.dim() - 2;
  const bool is_nearest = to.mode == "nearest";
  if (!is_nearest && !(to.mode == "linear" && resized == 1) &&
      !(to.mode == "bilinear" && resized == 2)) {
    RaiseHere(
        "{}({}): mode is \"{}\", but it must be \"nearest\", \"linear\" of one dimension, or "
        "\"bilinear\" of two",
        kName, TextOf(x), to.mode);
  }
  Dims sizes = to.size;
  const bool has_factor = to.scale_factor > 0;
  if (sizes.empty() && has_factor) {
    for (int64_t dim = 2; dim < x.dim(); ++dim)
      sizes.push_back(int64_t(std::floor(double(from[size_t(dim)]) * to.scale_factor)));
  }
  if (resized < 1 || (has_factor && !to.size.empty()) || int64_t(sizes.size()) != resized ||
      std::ranges::any_of(sizes, [](int64_t size) { return size < 1; })) {
    RaiseHere("{}({}): needs [N, C, ..] and either a size for each dimension after C or a factor",
              kName, TextOf(x));
  }
  if (!is_nearest) ExpectFractions(kName, x);
  Tensor out = is_nearest ? x : Wide(x);
  for (int64_t dim = 2; dim < x.dim(); ++dim) {
    const int64_t before = from[size_t(dim)], after = sizes[size_t(dim - 2)];
    const float scale = has_factor ? float(1 / to.scale_factor) : float(before) / float(after);
    out = (is_nearest ? Nearest : Linear)(out, dim, after, scale);
  }
  return out.to(x.dtype());
}

}  // namespace xlaprof::lazy

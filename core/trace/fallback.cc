#include "core/trace/fallback.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/exec/listener.h"
#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {

void CountFallback(std::string_view op) {
  Tell(&RuntimeListener::OnFallback, op, StackAt(Call::Where()));
}

namespace {

// Calls `f` with x's elements on the CPU, as a vector. Integers are int64_t and floats double, so
// that none loses precision.
template <class F>
auto OnNumbers(const Tensor& x, F&& f) {
  const HostTensor host = x.to_cpu();
  const auto as = [&]<class T>(T) {
    const HostTensor wide = Converted(host.bytes.data(), host.shape, DTypeOf<T>());
    const std::span<const T> values = wide.values<T>();
    return f(std::vector<T>(values.begin(), values.end()));
  };
  return IsFloat(host.shape.dtype) ? as(double()) : as(int64_t());
}

// Returns `values` as a tensor of `type` on the device of `x`.
template <class T>
Tensor Back(const std::vector<T>& values, Dims sizes, DType type, const Tensor& x) {
  return Tensor::FromHost(Converted(values.data(), {DTypeOf<T>(), std::move(sizes)}, type),
                          x.device());
}

// Compares, with NaN larger than all other numbers.
template <class T>
bool IsLess(T a, T b) {
  return a < b || (std::is_floating_point_v<T> && std::isnan(b) && !std::isnan(a));
}
template <class T>
bool IsMore(T a, T b) {
  return IsLess(b, a);
}

// Returns the places of the first `count` elements of each row in order. Equal elements keep theirs.
Tensor FirstPlaces(const Tensor& x, int64_t count, bool descending) {
  const int64_t row = x.size(-1);
  Dims sizes = x.sizes();
  sizes.back() = count;
  return OnNumbers(x, [&]<class T>(const std::vector<T>& values) {
    std::vector<int64_t> out, order(static_cast<size_t>(row));
    for (int64_t begin = 0; begin < int64_t(values.size()); begin += row) {
      const auto at = values.begin() + begin;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return descending ? IsMore(at[a], at[b]) : IsLess(at[a], at[b]);
      });
      out.insert(out.end(), order.begin(), order.begin() + count);
    }
    return Back(out, sizes, DType::kI64, x);
  });
}

// Returns the first `count` elements along a dimension in order. The values are gathered by their
// places, so that a gradient flows through.
ValuesAndIndices FirstOf(const Tensor& x, int64_t dim, int64_t count, bool descending) {
  if (x.dim() == 0) return {x.clone(), zeros({}, DType::kI64, x.device())};
  const Tensor inside = x.detach();
  const Tensor places = FirstPlaces(inside.transpose(dim, -1), count, descending);
  const Tensor indices = places.transpose(dim, -1);
  return {gather(x, dim, indices), indices};
}

}  // namespace

Tensor nonzero(const Tensor& x, Where where) {
  Call call(where);
  CountFallback("aten::nonzero");
  const Dims strides = RowMajorStrides(x.sizes());
  return OnNumbers(x, [&](const auto& values) {
    std::vector<int64_t> places;
    int64_t count = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0) continue;
      ++count;
      int64_t rest = int64_t(i);
      for (int64_t stride : strides) places.push_back(rest / stride), rest %= stride;
    }
    return Back(places, {count, x.dim()}, DType::kI64, x);
  });
}

Tensor masked_select(const Tensor& x, const Tensor& mask, Where where) {
  Call call(where);
  const Dims sizes = BroadcastSizes("aten::masked_select", x, mask);
  CountFallback("aten::masked_select");
  const HostTensor kept = Expanded(mask, sizes).to_cpu();
  if (NeedsGrad(x)) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < kept.shape.elements(); ++i)
      if (kept.Whole(i) != 0) places.push_back(i);
    const auto count = int64_t(places.size());
    return index_select(Expanded(x, sizes).flatten(), 0, Back(places, {count}, DType::kI64, x));
  }
  return OnNumbers(Expanded(x, sizes), [&]<class T>(std::vector<T> values) {
    int64_t i = 0;
    std::erase_if(values, [&](T) { return kept.Whole(i++) == 0; });
    return Back(values, {int64_t(values.size())}, x.dtype(), x);
  });
}

Tensor unique(const Tensor& x, Where where) {
  Call call(where);
  CountFallback("aten::_unique2");
  return OnNumbers(x, [&]<class T>(std::vector<T> values) {
    std::sort(values.begin(), values.end(), IsLess<T>);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return Back(values, {int64_t(values.size())}, x.dtype(), x);
  });
}

ValuesAndIndices sort(const Tensor& x, int64_t dim, bool descending, Where where) {
  Call call(where);
  CountFallback("aten::sort");
  if (x.dim() == 0) return FirstOf(x, 0, 1, descending);
  dim = DimOf("aten::sort", x, dim);
  return FirstOf(x, dim, x.size(dim), descending);
}

ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t dim, bool largest, Where where) {
  Call call(where);
  CountFallback("aten::topk");
  dim = DimOf("aten::topk", x, dim);
  if (k < 0 || k > x.size(dim)) {
    RaiseHere("aten::topk({}): cannot take the {} {} of {}", TextOf(x), k,
              largest ? "largest" : "smallest", x.size(dim));
  }
  return FirstOf(x, dim, k, largest);
}

Tensor histc(const Tensor& x, int64_t bins, double least, double most, Where where) {
  Call call(where);
  CountFallback("aten::histc");
  if (bins <= 0 || !(most > least) || !std::isfinite(least) || !std::isfinite(most))
    RaiseHere("aten::histc({}) cannot have {} bins from {} to {}", TextOf(x), bins, least, most);
  return OnNumbers(x, [&](const auto& values) {
    std::vector<int64_t> counts(size_t(bins), 0);
    for (const auto value : values) {
      const auto real = double(value);
      if (!(real >= least && real <= most)) continue;
      const auto bin = int64_t((real - least) / (most - least) * double(bins));
      ++counts[size_t(std::min(bin, bins - 1))];
    }
    return Back(counts, {bins}, x.dtype(), x);
  });
}

}  // namespace xlaprof::lazy

#include "core/trace/fallback.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/debug/debug.h"
#include "core/metrics/metrics.h"
#include "core/observe/observer.h"
#include "core/trace/functions.h"
#include "core/trace/tensor_impl.h"

namespace xlaprof::lazy {

void CountFallback(std::string_view op) {
  metrics::Counter::Of(op, metrics::Arena::kRuntime).Add();
  if (observe::Observer* observer = observe::Current())
    observer->OnFallback({.op = op, .stack = StackAt(Call::Where())});
  if (debug::Asked()) debug::OnFallback(op, StackAt(Call::Where()));
}

namespace {

template <class T>
Tensor Back(const std::vector<T>& values, Dims sizes, Device& device) {
  HostTensor host{{DTypeOf<T>(), std::move(sizes)}, {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  host.bytes.assign(bytes, bytes + values.size() * sizeof(T));
  return Tensor::FromHost(host, device, Call::Where());
}

// Numbers of `x` as doubles become a tensor of its type again.
Tensor BackAs(const Tensor& x, const std::vector<double>& values, Dims sizes) {
  return Tensor::FromHost(Converted(values.data(), {DType::kF64, std::move(sizes)}, x.dtype()),
                          x.device(), Call::Where());
}

std::vector<double> Numbers(const Tensor& x) {
  const HostTensor host = x.to_cpu(Call::Where());
  std::vector<double> values(size_t(host.shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = host.Real(int64_t(i));
  return values;
}

}  // namespace

Tensor nonzero(const Tensor& x, Where where) {
  Call call(where);
  CountFallback("aten::nonzero");
  const std::vector<double> values = Numbers(x);
  const Dims strides = RowMajorStrides(x.sizes());
  std::vector<int64_t> places;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    int64_t rest = int64_t(i);
    for (int64_t stride : strides) places.push_back(rest / stride), rest %= stride;
  }
  const int64_t count =
      std::count_if(values.begin(), values.end(), [](double v) { return v != 0; });
  return Back(places, {count, x.dim()}, x.device());
}

Tensor masked_select(const Tensor& x, const Tensor& mask, Where where) {
  Call call(where);
  CountFallback("aten::masked_select");
  const Tensor chosen = mask.sizes() == x.sizes() ? mask : mask.expand(x.sizes());
  const std::vector<double> values = Numbers(x), kept = Numbers(chosen);
  std::vector<double> result;
  for (size_t i = 0; i < values.size(); ++i) {
    if (kept[i] != 0) result.push_back(values[i]);
  }
  return BackAs(x, result, {int64_t(result.size())});
}

Tensor unique(const Tensor& x, Where where) {
  Call call(where);
  CountFallback("aten::_unique2");
  std::vector<double> values = Numbers(x);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return BackAs(x, values, {int64_t(values.size())});
}

Tensor sort(const Tensor& x, bool descending, Where where) {
  Call call(where);
  CountFallback("aten::sort");
  std::vector<double> values = Numbers(x);
  const int64_t row = x.dim() == 0 ? 1 : x.size(-1);
  for (auto at = values.begin(); row > 0 && at != values.end(); at += row) {
    if (descending) {
      std::sort(at, at + row, std::greater<>());
    } else {
      std::sort(at, at + row);
    }
  }
  return BackAs(x, values, x.sizes());
}

Tensor topk(const Tensor& x, int64_t k, Where where) {
  Call call(where);
  CountFallback("aten::topk");
  const int64_t row = x.size(-1);
  if (k < 0 || k > row) RaiseHere("topk of {}: the last dimension has {}", k, row);
  std::vector<double> values = Numbers(x), result;
  for (auto at = values.begin(); row > 0 && at != values.end(); at += row) {
    std::partial_sort(at, at + k, at + row, std::greater<>());
    result.insert(result.end(), at, at + k);
  }
  Dims sizes = x.sizes();
  sizes.back() = k;
  return BackAs(x, result, sizes);
}

Tensor histc(const Tensor& x, int64_t bins, double least, double most, Where where) {
  Call call(where);
  CountFallback("aten::histc");
  std::vector<double> counts(size_t(bins), 0);
  for (double value : Numbers(x)) {
    if (!(value >= least && value <= most)) continue;
    const auto bin = int64_t((value - least) / (most - least) * double(bins));
    ++counts[size_t(std::min(bin, bins - 1))];
  }
  return BackAs(x, counts, {bins});
}

}  // namespace xlaprof::lazy

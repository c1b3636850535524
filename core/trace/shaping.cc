#include <algorithm>
#include <numeric>

#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

Attributes Of(const Dims& dims) { return Attributes(dims.begin(), dims.end()); }

// Makes a view.
Tensor View(const Tensor& from, ViewStep step) {
  Tensor out = MakeView(from, step);
  if (!NeedsGrad(from)) return out;
  return Differentiable(out, {from},
                        [step = std::move(step), sizes = from.sizes()](const Tensor& grad) {
                          return Grads{GradOfInput(step, sizes, grad)};
                        });
}

[[noreturn]] void RaiseSizes(const Op& op, const Tensor& x, const Dims& to) {
  RaiseHere("{}({}): {} do not fit {}", op.name, TextOf(x), SizesText(to), SizesText(x.sizes()));
}

}  // namespace

Tensor SumTo(const Tensor& grad, const Dims& sizes) {
  const Dims from = grad.sizes();
  if (from == sizes) return grad;
  const size_t added = from.size() - sizes.size();
  Dims dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < added || (sizes[i - added] == 1 && from[i] != 1)) dims.push_back(int64_t(i));
  }
  return sum(grad, dims, /*keepdim=*/true).view(sizes);
}

Tensor GradOfInput(const ViewStep& step, const Dims& from, const Tensor& grad) {
  if (step.op == &op::expand) return SumTo(grad, from);
  if (step.op == &op::view) return grad.view(from);
  if (step.op == &op::permute) {
    Dims back(step.attributes.size());
    for (size_t i = 0; i < back.size(); ++i) back[size_t(step.attributes[i])] = int64_t(i);
    return grad.permute(back);
  }
  return Emit(op::slice_scatter, {zeros(from, grad.dtype(), grad.device()), grad}, step.attributes);
}

Tensor Tensor::view(Dims to, Where where) const {
  OpCall call(where);
  const auto open = std::find(to.begin(), to.end(), -1);
  if (open != to.end()) {
    *open = 1;
    const int64_t known = Shape{DType::kBool, to}.elements(), all = numel();
    if (known <= 0 || all % known != 0) {
      *open = -1;
      RaiseSizes(op::view, *this, to);
    }
    *open = all / known;
  }
  return View(*this, {&op::view, Of(to)});
}

Tensor Tensor::permute(Dims dims, Where where) const {
  OpCall call(where);
  if (int64_t(dims.size()) != dim()) RaiseSizes(op::permute, *this, dims);
  for (int64_t& d : dims) d = DimOf(op::permute.name, *this, d);
  return View(*this, {&op::permute, Of(dims)});
}

Tensor Tensor::transpose(int64_t a, int64_t b, Where where) const {
  OpCall call(where);
  Dims dims(size_t(dim()), 0);
  std::iota(dims.begin(), dims.end(), 0);
  auto place = [&](int64_t d) { return size_t(DimOf("aten::transpose", *this, d)); };
  std::swap(dims[place(a)], dims[place(b)]);
  return permute(dims);
}

Tensor Tensor::slice(int64_t dim, int64_t start, int64_t end, int64_t step, Where where) const {
  OpCall call(where);
  dim = DimOf(op::slice.name, *this, dim);
  const int64_t size = this->size(dim);
  auto bound = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  start = bound(start), end = std::max(bound(end), start);
  return View(*this, {&op::slice, {dim, start, end, step}});
}

Tensor Tensor::select(int64_t dim, int64_t index, Where where) const {
  OpCall call(where);
  const int64_t at = DimOf("aten::select", *this, dim), size = this->size(at);
  if (index < -size || index >= size)
    RaiseHere("aten::select({}): index {} is out of range: dimension {} has size {}", TextOf(*this),
              index, at, size);
  if (index < 0) index += size;
  return slice(at, index, index + 1).squeeze(at);
}

Tensor Tensor::expand(Dims sizes, Where where) const {
  OpCall call(where);
  // -1 keeps a dimension's size.
  const Dims own = this->sizes();
  for (size_t back = 1; back <= std::min(sizes.size(), own.size()); ++back) {
    if (sizes[sizes.size() - back] == -1) sizes[sizes.size() - back] = own[own.size() - back];
  }
  // A view that repeats nothing can be written.
  if (sizes.size() >= own.size()) {
    Dims same(sizes.size() - own.size(), 1);
    same.insert(same.end(), own.begin(), own.end());
    if (sizes == same) return view(sizes);
  }
  return View(*this, {&op::expand, Of(sizes)});
}

Tensor Tensor::unsqueeze(int64_t dim, Where where) const {
  OpCall call(where);
  Dims to = sizes();
  to.insert(to.begin() + DimOf("aten::unsqueeze", *this, dim, /*added=*/1), 1);
  return view(to);
}

Tensor Tensor::squeeze(int64_t dim, Where where) const {
  OpCall call(where);
  Dims to = sizes();
  const auto at = to.begin() + DimOf("aten::squeeze", *this, dim);
  if (*at == 1) to.erase(at);
  return view(to);
}

Tensor Tensor::flatten(int64_t from, Where where) const {
  OpCall call(where);
  Dims to = sizes();
  if (to.empty()) return view({1});
  to.resize(size_t(DimOf("aten::flatten", *this, from)) + 1);
  to.back() = -1;
  return view(to);
}

Tensor cat(std::span<const Tensor> parts, int64_t dim, Where where) {
  OpCall call(where);
  if (parts.empty()) RaiseHere("cat of no tensors");
  DType type = parts[0].dtype();
  for (const Tensor& part : parts) type = Promote(type, part.dtype());
  dim = DimOf(op::cat.name, parts[0], dim);
  if (parts.size() == 1) return parts[0].clone();
  Tensor all = parts[0].to(type);
  // Joins two at a time, because a node has few operands. Fusion and copies are the same.
  for (const Tensor& next : parts.subspan(1)) {
    const Tensor part = next.to(type);
    const Tensor before = all;
    all = Emit(op::cat, {before, part}, {dim});
    if (!NeedsGrad({before, part})) continue;
    const int64_t first = before.size(dim), both = all.size(dim);
    all = Differentiable(all, {before, part}, [=](const Tensor& grad) {
      return Grads{grad.slice(dim, 0, first), grad.slice(dim, first, both)};
    });
  }
  return all;
}

Tensor stack(std::span<const Tensor> parts, int64_t dim, Where where) {
  OpCall call(where);
  std::vector<Tensor> thick;
  if (!parts.empty()) dim = DimOf("aten::stack", parts[0], dim, /*added=*/1);
  for (const Tensor& part : parts) thick.push_back(part.unsqueeze(dim));
  return cat(thick, dim);
}

std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim, Where where) {
  OpCall call(where);
  dim = DimOf("aten::split", x, dim);
  const int64_t all = x.size(dim);
  if (size < 0 || (size == 0 && all > 0))
    RaiseHere("aten::split({}): parts of size {} do not make up {}", TextOf(x), size, all);
  std::vector<Tensor> parts;
  int64_t begin = 0;
  do {
    parts.push_back(x.slice(dim, begin, std::min(begin + size, all)));
    begin += size;
  } while (begin < all);
  return parts;
}

std::vector<Tensor> split_with_sizes(const Tensor& x, const Dims& sizes, int64_t dim, Where where) {
  OpCall call(where);
  dim = DimOf("aten::split_with_sizes", x, dim);
  int64_t begin = 0;
  const int64_t least = sizes.empty() ? 0 : *std::min_element(sizes.begin(), sizes.end());
  const int64_t all = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  if (least < 0 || all != x.size(dim)) {
    RaiseHere("aten::split_with_sizes({}): {} do not make up size {} of dimension {}", TextOf(x),
              SizesText(sizes), x.size(dim), dim);
  }
  std::vector<Tensor> parts;
  for (int64_t size : sizes) {
    parts.push_back(x.slice(dim, begin, begin + size));
    begin += size;
  }
  return parts;
}

std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim, Where where) {
  OpCall call(where);
  dim = DimOf("aten::chunk", x, dim);
  if (chunks < 1) RaiseHere("aten::chunk({}): cannot make {} chunks", TextOf(x), chunks);
  const int64_t all = x.size(dim);
  if (all == 0) return split_with_sizes(x, Dims(size_t(chunks), 0), dim);
  return split(x, (all + chunks - 1) / chunks, dim);
}

Tensor roll(const Tensor& x, Dims shifts, Dims dims, Where where) {
  OpCall call(where);
  if (dims.empty() && shifts.size() == 1) return roll(x.flatten(), shifts, {0}).view(x.sizes());
  if (shifts.size() != dims.size() || dims.empty()) {
    RaiseHere("aten::roll({}): needs a shift for each dimension, but there are {} for {}",
              TextOf(x), SizesText(shifts), SizesText(dims));
  }
  Tensor out = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = DimOf("aten::roll", x, dims[i]), size = x.size(dim);
    const int64_t by = size == 0 ? 0 : (shifts[i] % size + size) % size;
    if (by == 0) continue;
    out = cat(std::vector<Tensor>{out.slice(dim, size - by, size), out.slice(dim, 0, size - by)},
              dim);
  }
  return out.impl() == x.impl() ? x.clone() : out;
}

Tensor pad(const Tensor& x, Dims low, Dims high, Scalar value, Where where) {
  OpCall call(where);
  const Dims from = x.sizes();
  for (const Dims& side : {low, high})
    if (side.size() != from.size()) RaiseSizes(op::pad, x, side);
  Attributes attributes{AttributeOf(value.real)};
  for (size_t i = 0; i < from.size(); ++i) {
    attributes.push_back(low[i]);
    attributes.push_back(high[i]);
  }
  Tensor out = Emit(op::pad, {x}, attributes);
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [=](const Tensor& grad) {
    // Added elements are removed again, and removed ones become 0.
    Dims back_low = low, back_high = high;
    for (Dims* sizes : {&back_low, &back_high}) {
      for (int64_t& size : *sizes) size = -size;
    }
    return Grads{pad(grad, back_low, back_high)};
  });
}

Tensor flip(const Tensor& x, Dims dims, Where where) {
  OpCall call(where);
  for (int64_t& dim : dims) dim = DimOf(op::flip.name, x, dim);
  std::sort(dims.begin(), dims.end());
  Tensor out = Emit(op::flip, {x}, Of(dims));
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [dims](const Tensor& grad) { return Grads{flip(grad, dims)}; });
}

namespace {

using Comparison = Tensor (*)(const Tensor& column, const Tensor& last, Where where);

// Returns `x` where the column compares so with the row's place on the diagonal, and 0 elsewhere.
Tensor Triangle(std::string_view op, const Tensor& x, int64_t diagonal, Comparison compare) {
  if (x.dim() < 2) RaiseHere("{}({}): needs a matrix", op, TextOf(x));
  const Tensor row = arange(x.size(-2), DType::kI64, x.device()).unsqueeze(1);
  const Tensor column = arange(x.size(-1), DType::kI64, x.device());
  return lazy::where(compare(column, row + diagonal, Call::Where()), x, Zero(x));
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal, Where where) {
  OpCall call(where);
  return Triangle("aten::tril", x, diagonal, le);
}

Tensor triu(const Tensor& x, int64_t diagonal, Where where) {
  OpCall call(where);
  return Triangle("aten::triu", x, diagonal, ge);
}

Tensor repeat(const Tensor& x, Dims counts, Where where) {
  OpCall call(where);
  Dims own = x.sizes();
  if (counts.size() < own.size() || std::ranges::any_of(counts, [](int64_t n) { return n < 0; })) {
    RaiseHere("aten::repeat({}): {} are not a count for each dimension", TextOf(x),
              SizesText(counts));
  }
  own.insert(own.begin(), counts.size() - own.size(), 1);
  // Each dimension gets one before it, along which it is repeated.
  Dims apart, repeated, joined;
  for (size_t i = 0; i < own.size(); ++i) {
    apart.insert(apart.end(), {1, own[i]});
    repeated.insert(repeated.end(), {counts[i], own[i]});
    joined.push_back(counts[i] * own[i]);
  }
  return x.view(apart).expand(repeated).clone().view(joined);
}

}  // namespace xlaprof::lazy

// Indexing with integers, slices, index tensors and masks, and assignment to such an index.
#include <algorithm>

#include "core/trace/emit.h"
#include "core/trace/functions.h"
#include "core/trace/index.h"

namespace xlaprof::lazy {
namespace {

bool IsMask(const Tensor& x) { return x.dtype() == DType::kBool; }

// The view that integers, slices and new dimensions give, and the tensors that index it.
struct Indexed {
  Tensor view;
  std::vector<std::pair<int64_t, Tensor>> tensors;  // of dimensions, ascending
};

[[noreturn]] void RaiseIndex(const Tensor& x, const std::string& why) {
  RaiseHere("aten::index({}): {}", TextOf(x), why);
}

// Returns how many dimensions of the indexed tensor an index takes.
int64_t DimsTaken(const Index& index) {
  if (const auto* tensor = std::get_if<Tensor>(&index.what()))
    return IsMask(*tensor) ? tensor->dim() : 1;
  return std::holds_alternative<std::nullopt_t>(index.what()) ||
                 std::holds_alternative<EllipsisType>(index.what())
             ? 0
             : 1;
}

void ExpectMaskFits(const Tensor& x, const Tensor& view, int64_t dim, const Tensor& mask) {
  const Dims sizes = mask.sizes(), from = view.sizes();
  if (sizes.empty()) RaiseIndex(x, "a mask has no dimensions. Use where()");
  if (!std::equal(sizes.begin(), sizes.end(), from.begin() + dim)) {
    RaiseIndex(x, fmt::format("a mask {} does not have the sizes of dimensions {} to {}",
                              TextOf(mask), dim, dim + mask.dim() - 1));
  }
}

Indexed ResolveIndex(const Tensor& x, const IndexList& at) {
  Indexed out{x, {}};
  int64_t taken = 0, ellipses = 0;
  for (const Index& index : at.items()) {
    taken += DimsTaken(index);
    ellipses += std::holds_alternative<EllipsisType>(index.what());
  }
  if (taken > x.dim())
    RaiseIndex(x, fmt::format("there are {} indices for {} dimensions", taken, x.dim()));
  if (ellipses > 1) RaiseIndex(x, "there is more than one Ellipsis");
  int64_t dim = 0;
  for (const Index& index : at.items()) {
    const auto& what = index.what();
    if (const auto* place = std::get_if<int64_t>(&what)) {
      out.view = out.view.select(dim, *place);
    } else if (const auto* slice = std::get_if<Slice>(&what)) {
      if (slice->step < 1) RaiseIndex(x, fmt::format("a slice has step {}", slice->step));
      const int64_t start = slice->start.value_or(0), stop = slice->stop.value_or(INT64_MAX);
      const bool is_whole = start == 0 && stop >= out.view.size(dim) && slice->step == 1;
      if (!is_whole) out.view = out.view.slice(dim, start, stop, slice->step);
      ++dim;
    } else if (std::holds_alternative<std::nullopt_t>(what)) {
      out.view = out.view.unsqueeze(dim++);
    } else if (std::holds_alternative<EllipsisType>(what)) {
      dim += x.dim() - taken;
    } else {
      const Tensor& tensor = std::get<Tensor>(what);
      if (IsMask(tensor)) ExpectMaskFits(x, out.view, dim, tensor);
      if (IsFloat(tensor.dtype()))
        RaiseIndex(
            x, fmt::format("the index {} has type {}, which is neither an integer type nor bool",
                           TextOf(tensor), TorchName(tensor.dtype())));
      out.tensors.emplace_back(dim, tensor);
      dim += DimsTaken(index);
    }
  }
  return out;
}

// Replaces each mask by the places where it is true, one tensor per dimension. It reads them.
void ReadMasks(Indexed* indexed) {
  std::vector<std::pair<int64_t, Tensor>> places;
  for (const auto& [dim, tensor] : indexed->tensors) {
    if (!IsMask(tensor)) {
      places.emplace_back(dim, tensor);
      continue;
    }
    const Tensor all = nonzero(tensor);
    for (int64_t i = 0; i < tensor.dim(); ++i) places.emplace_back(dim + i, all.select(1, i));
  }
  indexed->tensors = std::move(places);
}

// An index by tensors as one of flat places along one dimension.
struct JoinedIndex {
  Tensor from;      // with the indexed dimensions joined to one
  int64_t dim = 0;  // which one
  Tensor places;    // of rank 1
  Dims permuted;    // the view's sizes after the permutation, before the join
  Dims order;       // the permutation, empty if there is none
  Dims result;      // the sizes of the indexed tensor
};

// Returns the flat places. Each index is wrapped, and each but a single one clamped, because a place
// out of range in one dimension is in range of the joined one.
Tensor FlatPlaces(const Tensor& view, const std::vector<std::pair<int64_t, Tensor>>& tensors,
                  const Dims& sizes) {
  Tensor flat;
  const bool is_single = tensors.size() == 1;
  for (const auto& [dim, tensor] : tensors) {
    const int64_t size = view.size(dim);
    Tensor place = is_single ? tensor : tensor.to(DType::kI64);
    place = lazy::where(lt(place, 0), place + size, place);
    if (!is_single) place = Expanded(clamp(place, 0, std::max<int64_t>(size - 1, 0)), sizes);
    flat = flat.defined() ? flat * size + place : place;
  }
  return flat.view({-1});
}

JoinedIndex JoinIndices(const Indexed& indexed) {
  const auto& tensors = indexed.tensors;
  const Tensor& first = tensors.front().second;
  Dims sizes = first.sizes();
  for (const auto& [dim, tensor] : tensors)
    sizes = BroadcastSizes("aten::index", Expanded(first, sizes), tensor);
  const auto count = int64_t(tensors.size());
  const bool adjacent = tensors.back().first - tensors.front().first + 1 == count;
  JoinedIndex out;
  out.from = indexed.view;
  out.dim = adjacent ? tensors.front().first : 0;
  if (!adjacent) {  // the indexed dimensions become the first
    for (const auto& [dim, tensor] : tensors) out.order.push_back(dim);
    for (int64_t i = 0; i < indexed.view.dim(); ++i)
      if (std::find(out.order.begin(), out.order.begin() + count, i) == out.order.begin() + count)
        out.order.push_back(i);
    out.from = indexed.view.permute(out.order);
  }
  out.permuted = out.from.sizes();
  const auto begin = out.permuted.begin() + out.dim, end = begin + count;
  int64_t joined = 1;
  for (auto size = begin; size != end; ++size) joined *= *size;
  const int64_t picked = Shape{DType::kBool, sizes}.elements();
  if (joined == 0 && picked > 0)
    RaiseIndex(indexed.view, "an indexed dimension is empty, so no index is in range");
  Dims flat(out.permuted.begin(), begin);
  out.result = flat;
  flat.push_back(joined);
  flat.insert(flat.end(), end, out.permuted.end());
  out.result.insert(out.result.end(), sizes.begin(), sizes.end());
  out.result.insert(out.result.end(), end, out.permuted.end());
  if (flat != out.permuted) out.from = out.from.view(flat);
  out.places = FlatPlaces(indexed.view, tensors, sizes);
  return out;
}

// Returns the indexed view with `values` at the indexed places.
Tensor PutAt(const Indexed& indexed, const Tensor& values, bool accumulate) {
  const JoinedIndex flat = JoinIndices(indexed);
  Dims rows = flat.from.sizes();
  rows[size_t(flat.dim)] = flat.places.size(0);
  const Tensor fitting = Expanded(values, flat.result).view(rows);
  Tensor out = (accumulate ? index_add : index_copy)(flat.from, flat.dim, flat.places, fitting,
                                                     Where::current());
  out = out.view(flat.permuted);
  if (flat.order.empty()) return out;
  Dims back(flat.order.size());
  for (size_t i = 0; i < back.size(); ++i) back[size_t(flat.order[i])] = int64_t(i);
  return out.permute(back);
}

// Returns a mask of the dimensions from `dim` on, with those after it of size 1.
Tensor Spread(const Tensor& mask, int64_t dim, int64_t rank) {
  Dims sizes = mask.sizes();
  sizes.resize(size_t(rank - dim), 1);
  return mask.view(sizes);
}

Tensor& AssignAt(Tensor& target, const IndexList& at, const Tensor& values, bool accumulate) {
  Indexed indexed = ResolveIndex(target, at);
  const auto& tensors = indexed.tensors;
  if (tensors.empty()) {
    if (accumulate)
      indexed.view.add_(values);
    else
      indexed.view.copy_(values);
    return target;
  }
  if (values.dtype() != target.dtype()) {
    RaiseHere("aten::index_put_({}, {}): the types differ. Convert the values with to(dtype)",
              TextOf(target), TextOf(values));
  }
  const bool by_mask = tensors.size() == 1 && IsMask(tensors[0].second) && values.numel() == 1;
  if (!by_mask) ReadMasks(&indexed);
  OpCall op(Call::Where());
  if (by_mask) {
    const Tensor mask = Spread(tensors[0].second, tensors[0].first, indexed.view.dim());
    const Tensor value = values.view({}), view = indexed.view;
    indexed.view.copy_(lazy::where(mask, accumulate ? view + value : value, view));
  } else {
    indexed.view.copy_(PutAt(indexed, values, accumulate));
  }
  return target;
}

void ExpectHolds(std::string_view op, const Tensor& x, Scalar value) {
  const bool fits = x.dtype() == DType::kBool ? value.is_truth || value.real == 0 || value.real == 1
                                              : value.is_whole || IsFloat(x.dtype());
  if (!fits)
    RaiseHere("{}({}, {}): a tensor of {} cannot hold this value", op, TextOf(x), TextOf(value),
              TorchName(x.dtype()));
}

Tensor Filled(const Tensor& x, const Tensor& mask, const Tensor& value) {
  if (!IsMask(mask)) {
    RaiseHere("aten::masked_fill({}, {}): the mask has type {}, not bool", TextOf(x), TextOf(mask),
              TorchName(mask.dtype()));
  }
  return lazy::where(mask, value, x);
}

}  // namespace

Tensor Tensor::operator[](const IndexList& at) const {
  Call call(at.where());
  Indexed indexed = ResolveIndex(*this, at);
  if (indexed.tensors.empty()) return indexed.view;
  ReadMasks(&indexed);
  OpCall op(Call::Where());
  const JoinedIndex flat = JoinIndices(indexed);
  const Tensor out = lazy::index_select(flat.from, flat.dim, flat.places);
  return out.sizes() == flat.result ? out : out.view(flat.result);
}

Tensor& Tensor::index_put_(const IndexList& at, const Tensor& values, bool accumulate) {
  Call call(at.where());
  return AssignAt(*this, at, values, accumulate);
}

Tensor& Tensor::index_put_(const IndexList& at, Scalar value, bool accumulate) {
  Call call(at.where());
  ExpectHolds("aten::index_put_", *this, value);
  return AssignAt(*this, at, ScalarTensor(value, dtype(), device()), accumulate);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value, Where where) {
  OpCall call(where);
  ExpectHolds("aten::masked_fill", x, value);
  return Filled(x, mask, ScalarTensor(value, x.dtype(), x.device()));
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value, Where where) {
  OpCall call(where);
  if (value.dim() != 0) {
    RaiseHere("aten::masked_fill({}, {}, {}): the value must have no dimensions", TextOf(x),
              TextOf(mask), TextOf(value));
  }
  return Filled(x, mask, value.to(x.dtype()));
}

Tensor& Tensor::masked_fill_(const Tensor& mask, Scalar value, Where where) {
  OpCall call(where);
  return copy_(lazy::masked_fill(*this, mask, value));
}

}  // namespace xlaprof::lazy

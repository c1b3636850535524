#include "core/trace/collective.h"

#include <map>

#include "core/exec/rank.h"
#include "core/trace/emit.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

// Returns the attributes that say which ranks take part (core/ir/op.h).
Attributes GroupAttributes(std::string_view op, const Device& device, const Groups& groups) {
  const int64_t ranks = world_size(device);
  if (groups.empty()) return {ranks, ranks};
  Attributes attributes{ranks, int64_t(groups[0].size())};
  for (const std::vector<int64_t>& group : groups) {
    if (group.size() != groups[0].size()) {
      RaiseHere("{}: groups of {} and of {} ranks. All must have the same size", op,
                groups[0].size(), group.size());
    }
    attributes.insert(attributes.end(), group.begin(), group.end());
  }
  return attributes;
}

Attributes Joined(std::initializer_list<int64_t> first, const Attributes& rest) {
  Attributes all(first);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

void ExpectSum(std::string_view op, ReduceOp kind, const Tensor& x) {
  if (kind != ReduceOp::kSum)
    RaiseHere("{}({}): gradients flow only through sums. Use NoGrad, or detach() it", op, TextOf(x));
}

Tensor Scaled(const Tensor& x, double scale) { return scale == 1 ? x : x * scale; }

// Returns the elements of several tensors of one type in one dimension.
Tensor Flattened(std::span<Tensor* const> tensors) {
  std::vector<Tensor> flat;
  for (const Tensor* tensor : tensors) flat.push_back(tensor->detach().view({-1}));
  return flat.size() == 1 ? flat[0] : cat(flat);
}

// Calls `exchange` with the elements of all tensors of each type, and gives the tensors, in place,
// what it returns.
template <class F>
void InOneExchange(std::span<Tensor> tensors, F exchange) {
  std::map<DType, std::vector<Tensor*>> by_type;
  for (Tensor& tensor : tensors) {
    if (&tensor.device() != &tensors[0].device()) {
      RaiseHere("tensors on {} and {}: a collective takes those of one device",
                tensors[0].device().name(), tensor.device().name());
    }
    by_type[tensor.dtype()].push_back(&tensor);
  }
  NoGrad no_grad;
  for (const auto& [type, of_type] : by_type) {
    const Tensor all = exchange(Flattened(of_type));
    int64_t at = 0;
    for (Tensor* tensor : of_type) {
      const int64_t count = tensor->numel();
      tensor->copy_(all.slice(0, at, at + count).view(tensor->sizes()));
      at += count;
    }
  }
}

}  // namespace

int64_t global_ordinal(const Device& device) {
  return device.rank() == nullptr ? 0 : device.rank()->number();
}

int64_t world_size(const Device& device) {
  return device.rank() == nullptr ? 1 : device.rank()->ranks();
}

Tensor all_reduce(ReduceOp kind, const Tensor& x, double scale, const Groups& groups,
                  Where where) {
  OpCall call(where);
  const Attributes ranks = GroupAttributes(op::all_reduce.name, x.device(), groups);
  if (ranks[0] == 1) return Scaled(x, scale);
  Tensor out = Emit(op::all_reduce, {x}, Joined({int64_t(kind)}, ranks));
  if (NeedsGrad(x)) {
    ExpectSum(op::all_reduce.name, kind, x);
    out = Differentiable(out, {x}, [groups](const Tensor& grad) {
      return Grads{all_reduce(ReduceOp::kSum, grad, 1, groups)};
    });
  }
  return Scaled(out, scale);
}

void all_reduce_(ReduceOp kind, std::span<Tensor> tensors, double scale, const Groups& groups,
                 Where where) {
  OpCall call(where);
  InOneExchange(tensors,
                [&](const Tensor& all) { return all_reduce(kind, all, scale, groups); });
}

Tensor all_gather(const Tensor& x, int64_t dim, const Groups& groups, Where where) {
  OpCall call(where);
  dim = DimOf(op::all_gather.name, x, dim);
  const Attributes ranks = GroupAttributes(op::all_gather.name, x.device(), groups);
  if (ranks[0] == 1) return x;
  Tensor out = Emit(op::all_gather, {x}, Joined({dim}, ranks));
  if (!NeedsGrad(x)) return out;
  return Differentiable(out, {x}, [dim, groups](const Tensor& grad) {
    return Grads{reduce_scatter(ReduceOp::kSum, grad, 1, dim, groups)};
  });
}

Tensor reduce_scatter(ReduceOp kind, const Tensor& x, double scale, int64_t dim,
                      const Groups& groups, Where where) {
  OpCall call(where);
  dim = DimOf(op::reduce_scatter.name, x, dim);
  const Attributes ranks = GroupAttributes(op::reduce_scatter.name, x.device(), groups);
  if (ranks[0] == 1) return Scaled(x, scale);
  Tensor out = Emit(op::reduce_scatter, {x}, Joined({int64_t(kind), dim}, ranks));
  if (NeedsGrad(x)) {
    ExpectSum(op::reduce_scatter.name, kind, x);
    out = Differentiable(out, {x}, [dim, groups](const Tensor& grad) {
      return Grads{all_gather(grad, dim, groups)};
    });
  }
  return Scaled(out, scale);
}

void collective_broadcast(std::span<Tensor> tensors, int64_t root, Where where) {
  OpCall call(where);
  if (tensors.empty() || world_size(tensors[0].device()) == 1) return;
  const int64_t ranks = world_size(tensors[0].device());
  InOneExchange(tensors, [&](const Tensor& all) {
    return Emit(op::collective_broadcast, {all}, {root, ranks});
  });
}

void rendezvous(Device& device, Where where) {
  Call call(where);
  if (world_size(device) == 1) return device.WaitForAll();
  all_reduce(ReduceOp::kSum, zeros({1}, DType::kI32, device)).to_cpu();
}

}  // namespace xlaprof::lazy

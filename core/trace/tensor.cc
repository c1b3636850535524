#include "core/trace/tensor.h"

#include <cmath>

#include "base/metric_names.h"
#include "core/environment.h"
#include "core/exec/cut.h"
#include "core/exec/transfer.h"
#include "core/metrics/metrics.h"
#include "core/trace/eager.h"
#include "core/trace/emit.h"
#include "core/trace/fallback.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {

Tensor::Tensor() = default;
Tensor::Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}
Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;

void RaiseNone() { RaiseHere("an undefined tensor was used"); }

namespace {

// Does the opposite: returns `whole` with the part that the view shows replaced by `part`.
NodePtr Into(const NodePtr& whole, std::span<const ViewStep> steps, NodePtr part) {
  if (steps.empty()) return part;
  const ViewStep& step = steps.front();
  const NodePtr inner = Through(whole, steps.first(1));
  part = Into(inner, steps.subspan(1), std::move(part));
  const Dims& sizes = whole->shape().dims;
  if (step.op == &op::view) return Node::Make(op::view, {part.get()}, sizes, Call::Where());
  if (step.op == &op::slice)
    return Node::Make(op::slice_scatter, {whole.get(), part.get()}, step.attributes, Call::Where());
  if (step.op == &op::permute) {
    Attributes back(step.attributes.size());
    for (size_t i = 0; i < back.size(); ++i) back[size_t(step.attributes[i])] = int64_t(i);
    return Node::Make(op::permute, {part.get()}, back, Call::Where());
  }
  RaiseHere("a view made by {} cannot be written: its elements share memory. clone() it first",
            step.op->name);
}

}  // namespace

DType Tensor::dtype() const { return ImplOf(*this).storage->logical(); }
Dims Tensor::sizes() const {
  GraphLock lock;
  return ImplOf(*this).sizes();
}
int64_t Tensor::size(int64_t dim, Where where) const {
  Call call(where);
  return sizes()[size_t(DimOf("aten::size", *this, dim))];
}
int64_t Tensor::numel() const { return Shape{DType::kBool, sizes()}.elements(); }
Device& Tensor::device() const { return ImplOf(*this).storage->device(); }

Tensor Sent(const void* values, Shape shape, Device& device, const Sharding& sharding) {
  static metrics::Metric& time =
      metrics::Metric::Of("TensorToData", metrics::Unit::kTimeNs, metrics::Arena::kLazy);
  // torch_xla measures this when an operation first needs the value.
  static metrics::Metric& value_time = metrics::Metric::Of(
      metric_names::kIrValueTensorToXlaData, metrics::Unit::kTimeNs, metrics::Arena::kLazy);
  metrics::Timed timed(time), value_timed(value_time);
  const DType logical = shape.dtype;
  const Shape on_device{OnDevice(logical), shape.dims};
  if (on_device.dtype == logical) {
    Ref<Data> data = Upload(device, values, std::move(shape), Call::Where(), sharding);
    return Wrap(device, Node::OfData(std::move(data), Call::Where()), logical);
  }
  const HostTensor kept = Converted(values, shape, on_device.dtype);
  Ref<Data> data = Upload(device, kept.bytes.data(), on_device, Call::Where(), sharding);
  return Wrap(device, Node::OfData(std::move(data), Call::Where()), logical);
}

namespace {

// Raises an Error if a size is negative, or if no memory can hold the product.
void ExpectElements(const Shape& shape) {
  if (std::ranges::any_of(shape.dims, [](int64_t size) { return size < 0; }))
    RaiseHere("{}: a size is negative", shape.ToText());
  if (!MayBeHeld(shape.dims)) RaiseHere("{}: more elements than memory can hold", shape.ToText());
}

}  // namespace

Tensor Tensor::FromBytes(const void* values, size_t count, Shape shape, Device& device,
                         Where where) {
  Call call(where);
  ExpectElements(shape);
  if (int64_t(count) != shape.elements())
    RaiseHere("{} values do not fill {}", count, shape.ToText());
  return Sent(values, std::move(shape), device);
}

Tensor Tensor::FromHost(const HostTensor& host, Device& device, Where where) {
  Call call(where);
  if (int64_t(host.bytes.size()) != host.shape.bytes()) {
    RaiseHere("{} bytes do not fit {}, which has {}", host.bytes.size(), host.shape.ToText(),
              host.shape.bytes());
  }
  return FromBytes(host.bytes.data(), size_t(host.shape.elements()), host.shape, device, where);
}

namespace {

// Returns the data of a tensor's value, which may be on its way.
Ref<Data> DataOf(const Tensor& tensor) {
  GraphLock lock;
  const NodePtr node = NodeOf(tensor);
  if (node->data()) return node->data();
  auto results =
      Evaluate(tensor.device(), {node}, {cause::kValueAccess, Call::Where(), /*wait=*/true});
  if (!results.ok()) RaiseHere("{}", Message(results.status()));
  return results->front();
}

}  // namespace

HostTensor Tensor::to_cpu(Where where) const {
  Call call(where);
  const TensorImpl& impl = ImplOf(*this);
  const Ref<Data> data = DataOf(*this);
  auto bytes = Download(*data, Call::Where());
  if (!bytes.ok()) RaiseHere("{}", Message(bytes.status()));
  HostTensor host{data->shape(), *std::move(bytes)};
  const DType logical = impl.storage->logical();
  if (logical == host.shape.dtype) return host;
  return Converted(host.bytes.data(), host.shape, logical);
}

namespace {

HostTensor OneElement(const Tensor& tensor) {
  if (tensor.numel() != 1)
    RaiseHere("item() of a tensor of {} elements: only one can be converted", tensor.numel());
  CountFallback("aten::_local_scalar_dense");
  return tensor.to_cpu();
}

}  // namespace

double Tensor::item(Where where) const {
  Call call(where);
  return OneElement(*this).Real(0);
}

int64_t Tensor::WholeItem(bool is_unsigned, size_t bytes, Where where) const {
  Call call(where);
  const HostTensor one = OneElement(*this);
  const int64_t whole = one.Whole(0);
  // Unsigned integers of 8 bytes hold all that a device can have.
  const int bits = int(8 * bytes) - (is_unsigned && bytes < sizeof whole ? 0 : 1);
  const int64_t most = int64_t(~uint64_t{0} >> (64 - bits));
  const int64_t least = is_unsigned ? 0 : -most - 1;
  const bool is_cut = IsFloat(one.shape.dtype) && !(std::abs(one.Real(0)) < 0x1p63);
  if (is_cut || whole < least || whole > most) {
    RaiseHere("item(): {} does not fit {} integer of {} bytes", one.Real(0),
              is_unsigned ? "an unsigned" : "a signed", bytes);
  }
  return whole;
}

namespace {

// Returns the line that computed a tensor, or took it as a view.
Where LineOf(const TensorImpl& impl) {
  GraphLock lock;
  return impl.steps.empty() ? impl.storage->value()->location() : impl.steps.all().back().where;
}

}  // namespace

Tensor::operator bool() const {
  if (!defined())
    Raise("an undefined tensor is neither true nor false. defined() tells whether there is one");
  const Call call(LineOf(ImplOf(*this)));
  const int64_t elements = numel();
  if (elements != 1)
    RaiseHere(
        "Boolean value of Tensor with {} is ambiguous: {}. Use any() or all(), or defined() to "
        "know whether there is a tensor",
        elements == 0 ? "no values" : "more than one value", TextOf(*this));
  return item(Call::Where()) != 0;
}

// --- writes in place ---

namespace {

// Raises an Error if a write would lose a leaf's gradient.
void ExpectNoLeaf(TensorImpl& impl) {
  if (NoGrad::is_on()) return;
  if (impl.requires_grad && impl.is_leaf()) {
    RaiseHere(
        "a leaf that needs a gradient cannot be written in place: its gradient would be lost. Use "
        "NoGrad");
  }
  if (const TensorImpl& base = impl.base_or_self(); base.requires_grad && base.is_leaf()) {
    RaiseHere(
        "a view of a leaf that needs a gradient cannot be written in place: the leaf's gradient "
        "would be lost. Use NoGrad");
  }
}

// Gives `base` the history of a write of `part` at `steps`: the gradient of these elements goes to
// `part`, and that of the others to the value before.
void RecordWrite(Tensor base, std::span<const ViewStep> steps, const Tensor& part) {
  const bool to_base = base.requires_grad(), to_part = part.requires_grad();
  Differentiable(
      base, {base, part}, [=, steps = std::vector(steps.begin(), steps.end())](const Tensor& grad) {
        const TensorImpl& whole = ImplOf(grad);
        ViewSteps::List path = whole.steps.copy();
        path.insert(path.end(), steps.begin(), steps.end());
        const Tensor of_part = ViewOf(whole.storage, ViewSteps(std::move(path)));
        Grads grads(2);
        if (to_base) {
          const Tensor none = Expanded(Zero(grad), of_part.sizes());
          grads[0] = Wrap(grad.device(), Into(NodeOf(grad), steps, NodeOf(none)), grad.dtype());
        }
        if (to_part) grads[1] = of_part;
        return grads;
      });
  base.impl()->grad_fn->op = nullptr;
}

// Assigns `value` to `target`. Its type is converted, and its sizes are broadcast to the target's.
// `has_history` says that the history of the value contains that of the target.
void Assign(const Tensor& target, const Tensor& value, bool has_history = false) {
  TensorImpl& impl = ImplOf(target);
  ExpectNoLeaf(impl);
  Tensor fitting = value.to(target.device()).to(target.dtype());
  if (fitting.sizes() != impl.sizes()) fitting = fitting.expand(impl.sizes());
  TensorImpl& base = impl.base_or_self();
  const bool is_recorded = NeedsGrad({target, fitting}) || (base.requires_grad && !NoGrad::is_on());
  if (is_recorded && impl.taken_under_no_grad) {
    RaiseHere(
        "a view that was taken under NoGrad cannot be written while gradients are recorded. Take "
        "the view outside of NoGrad, or write it under NoGrad, too");
  }
  const NodePtr whole = impl.storage->value();
  impl.storage->Write(Into(whole, impl.steps.all(), NodeOf(fitting)));
  if (EagerMode::is_on()) ExecuteNow(impl.storage);
  if (!is_recorded) return;
  if (has_history && &base == &impl && !fitting.impl()->is_leaf()) {
    base.grad_fn = fitting.impl()->grad_fn;
    base.requires_grad = true;
  } else {
    const auto steps = &base == &impl ? std::span<const ViewStep>() : impl.steps_from_base();
    RecordWrite(Tensor(Ref<TensorImpl>(&base)), steps, fitting);
  }
  ++base.recorded_writes;
}

// Assigns the result of an operation on `target` and `other` to `target`.
template <class Other>
Tensor& Update(const Op& op, Tensor& target, const Other& other, const Tensor& result) {
  const DType type = target.dtype(), made = result.dtype();
  if ((IsFloat(made) && !IsFloat(type)) || (made != type && type == DType::kBool)) {
    RaiseHere("{}_({}, {}): the result has type {}, which a tensor of {} cannot hold", op.name,
              TextOf(target), TextOf(other), TorchName(made), TorchName(type));
  }
  const Dims &from = ImplOf(result).sizes(), &to = ImplOf(target).sizes();
  if (from != to) {
    RaiseHere("{}_({}, {}): the result has sizes {}, the tensor {}", op.name, TextOf(target),
              TextOf(other), SizesText(from), SizesText(to));
  }
  Assign(target, result, /*has_history=*/true);
  return target;
}

// Returns the target's value before the write, copied if the gradient of `other` needs it.
Tensor BeforeWrite(const Tensor& target, const Tensor& other) {
  return NeedsGrad(other) ? target.clone() : target;
}

// Returns `other` times `alpha`.
Tensor Times(const Tensor& other, Scalar alpha) {
  return alpha.is_whole && alpha.whole == 1 ? other : mul(other, alpha);
}

}  // namespace

Tensor& Tensor::copy_(const Tensor& from, Where where) {
  OpCall call(where);
  if (BroadcastSizes("aten::copy_", *this, from) != sizes()) {
    RaiseHere("aten::copy_({}, {}): {} do not fit {}", TextOf(*this), TextOf(from),
              SizesText(from.sizes()), SizesText(sizes()));
  }
  Assign(*this, from);
  return *this;
}
Tensor& Tensor::fill_(Scalar value, Where where) {
  OpCall call(where);
  ExpectFits("aten::fill_", value, dtype());
  Assign(*this, ScalarTensor(value, dtype(), device()));
  return *this;
}
Tensor& Tensor::add_(const Tensor& other, Scalar alpha, Where where) {
  OpCall call(where);
  return Update(op::add, *this, other, lazy::add(*this, Times(other, alpha)));
}
Tensor& Tensor::add_(Scalar other, Where where) {
  OpCall call(where);
  return Update(op::add, *this, other, lazy::add(*this, other));
}
Tensor& Tensor::sub_(const Tensor& other, Scalar alpha, Where where) {
  OpCall call(where);
  return Update(op::sub, *this, other, lazy::sub(*this, Times(other, alpha)));
}
Tensor& Tensor::sub_(Scalar other, Where where) {
  OpCall call(where);
  return Update(op::sub, *this, other, lazy::sub(*this, other));
}
Tensor& Tensor::mul_(const Tensor& other, Where where) {
  OpCall call(where);
  return Update(op::mul, *this, other, lazy::mul(BeforeWrite(*this, other), other));
}
Tensor& Tensor::mul_(Scalar other, Where where) {
  OpCall call(where);
  return Update(op::mul, *this, other, lazy::mul(*this, other));
}
Tensor& Tensor::div_(const Tensor& other, Where where) {
  OpCall call(where);
  return Update(op::div, *this, other, lazy::div(BeforeWrite(*this, other), other));
}
Tensor& Tensor::div_(Scalar other, Where where) {
  OpCall call(where);
  return Update(op::div, *this, other, lazy::div(*this, other));
}

}  // namespace xlaprof::lazy

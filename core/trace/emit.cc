#include "core/trace/emit.h"

#include <absl/container/flat_hash_map.h>

#include <limits>
#include <list>

#include "base/metric_names.h"
#include "core/environment.h"
#include "core/exec/cut.h"
#include "core/exec/transfer.h"
#include "core/metrics/metrics.h"
#include "core/trace/eager.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

// Counts `xla::add` and others at each call.
void CountCall(const Op& op) {
  struct Known {
    const Op* op = nullptr;
    metrics::Counter* counter = nullptr;
  };
  // An operation has its own entry, or shares one.
  constinit thread_local std::array<Known, 256> all{};
  Known& known = all[reinterpret_cast<uintptr_t>(&op) / sizeof(Op) % all.size()];
  if (known.op != &op) [[unlikely]]
    known = {&op, &metrics::Counter::Of(fmt::format("xla::{}", op.short_name()))};
  known.counter->Add();
}

// Caches recent scalars that became parameters, so that a number used in each step is sent only
// once.
class ScalarCache {
 public:
  NodePtr Get(Device& device, Scalar value, DType type) {
    const Key key{&device, type, value.is_whole ? value.whole : AttributeOf(value.real),
                  value.is_whole};
    std::lock_guard lock(mutex_);
    if (auto found = by_key_.find(key); found != by_key_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->second;
    }
    XLAPROF_COUNT("DeviceDataCacheMiss");
    const HostTensor host = value.is_whole ? Converted(&value.whole, {DType::kI64, {}}, type)
                                           : Converted(&value.real, {DType::kF64, {}}, type);
    Ref<Data> data = Upload(device, host.bytes.data(), host.shape, Call::Where());
    data->Keep();
    if (recent_.size() == kCapacity) {
      by_key_.erase(recent_.back().first);
      recent_.pop_back();
    }
    recent_.emplace_front(key, Node::OfData(std::move(data), Call::Where()));
    by_key_[key] = recent_.begin();
    return recent_.front().second;
  }

 private:
  static constexpr size_t kCapacity = 128;
  using Key = std::tuple<const Device*, DType, int64_t, bool>;
  using Recent = std::list<std::pair<Key, NodePtr>>;
  std::mutex mutex_;
  Recent recent_;
  absl::flat_hash_map<Key, Recent::iterator> by_key_;
};

// Returns whether 0 and 1 are part of the device's graphs. They are not on one of several ranks,
// which must run the same graph: its own number, such as its rank or how many samples it has, may
// be 0 or 1 on one of them only.
bool HasSpecialScalars(const Device& device) {
  return !environment().no_special_scalars &&
         (device.rank() == nullptr || device.rank()->ranks() == 1);
}

NodePtr ScalarNode(Scalar value, DType type, Device& device) {
  static ScalarCache& cache = *new ScalarCache;
  const bool is_special = value.real == 0 || value.real == 1;
  if (!is_special || !HasSpecialScalars(device)) return cache.Get(device, value, type);
  return IsFloat(type) ? Node::Constant(value.real, type, Call::Where())
                       : Node::Constant(int64_t(value.real), type, Call::Where());
}

// Returns whether the second permutation undoes the first.
bool TurnsBack(const ViewStep& step, const ViewStep& next) {
  if (step.op != &op::permute || next.op != &op::permute) return false;
  if (step.attributes.size() != next.attributes.size()) return false;
  for (size_t i = 0; i < next.attributes.size(); ++i)
    if (step.attributes[size_t(next.attributes[i])] != int64_t(i)) return false;
  return true;
}

}  // namespace

NodePtr Through(NodePtr value, std::span<const ViewStep> steps) {
  for (const ViewStep& step : steps) {
    const CallOf call_of(step.where, step.call_stack);
    value = Node::Make(*step.op, {value.get()}, step.attributes, step.where);
  }
  return value;
}

DType OnDevice(DType logical) {
  const Environment& env = environment();
  if (logical == DType::kF32 && env.use_bf16) return DType::kBF16;
  if (logical == DType::kF32 && env.use_f16) return DType::kF16;
  if (logical == DType::kI64 && env.use_32bit_long) return DType::kI32;
  return logical;
}

void ExecuteNow(const Ref<Storage>& storage) {
  const absl::Status status = CutTensors(storage->device(), std::span(&storage, 1),
                                         {cause::kUserSync, Call::Where(), /*wait=*/true});
  if (!status.ok()) RaiseHere("{}", Message(status));
}

static thread_local const Op* last_wrapped = nullptr;
const Op* LastWrapped() { return last_wrapped; }

Tensor Wrap(Device& device, NodePtr value, DType logical) {
  // Operations that choose their own type ignore XLA_USE_32BIT_LONG and similar variables, so their
  // result is cast.
  if (const DType kept = OnDevice(logical); value->shape().dtype != kept)
    value = Node::Make(op::cast, {value.get()}, {int64_t(kept)}, Call::Where());
  last_wrapped = &value->op();
  Ref<TensorImpl> impl = MakeRef<TensorImpl>();
  impl->storage = Storage::Make(device, std::move(value), logical);
  if (EagerMode::is_on()) [[unlikely]]
    ExecuteNow(impl->storage);
  return Tensor(std::move(impl));
}

Dims BroadcastSizes(std::string_view op, const Tensor& a, const Tensor& b, size_t but) {
  Dims left = a.sizes(), right = b.sizes();
  left.resize(left.size() - but), right.resize(right.size() - but);
  if (left == right) return left;
  Dims sizes = left.size() >= right.size() ? left : right;
  const Dims& shorter = left.size() >= right.size() ? right : left;
  for (size_t i = 1; i <= shorter.size(); ++i) {
    int64_t& size = sizes[sizes.size() - i];
    const int64_t other = shorter[shorter.size() - i];
    if (size == other || other == 1) continue;
    if (size != 1) {
      RaiseHere("{}({}, {}): sizes {} and {} of dimension -{} differ, and neither is 1", op,
                TextOf(a), TextOf(b), left[left.size() - i], right[right.size() - i], i + but);
    }
    size = other;
  }
  return sizes;
}

Tensor Expanded(const Tensor& x, const Dims& sizes) {
  return x.sizes() == sizes ? x : x.expand(sizes);
}

Tensor Emit(const Op& op, Inputs operands, absl::Span<const int64_t> attributes, DType logical) {
  Device& device = ImplOf(operands.begin()->tensor).storage->device();
  absl::InlinedVector<NodePtr, 3> views;  // holds nodes that nothing else references
  absl::InlinedVector<const Node*, 3> nodes(operands.size());
  size_t at = 0;
  for (const auto& [operand] : operands) {
    if (&ImplOf(operand).storage->device() != &device) {
      RaiseHere("{} of tensors on {} and {}: move one of them with to(device)", op.name,
                device.name(), operand.device().name());
    }
    const TensorImpl& impl = *operand.impl();
    nodes[at++] = impl.steps.empty() ? impl.storage->value().get()
                                     : views.emplace_back(NodeOf(operand)).get();
  }
  static metrics::Metric& tracing = metrics::Metric::Of(
      metric_names::kLazyTracing, metrics::Unit::kTimeNs, metrics::Arena::kLazy);
  metrics::SampledCall sampled(tracing);
  CountCall(op);
  return Wrap(device, Node::Make(op, nodes, attributes, Call::Where()), logical);
}

void ExpectFits(std::string_view op, Scalar value, DType type) {
  const bool fits = VisitDType(type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      constexpr int64_t kMost = std::numeric_limits<T>::max();
      constexpr int64_t kLeast = std::is_signed_v<T> ? std::numeric_limits<T>::lowest() : -kMost;
      if (value.is_whole) return value.whole >= kLeast && value.whole <= kMost;
      return value.real >= double(kLeast) && value.real <= double(kMost);
    } else {
      return true;
    }
  });
  if (!fits) RaiseHere("{}: {} cannot hold {}", op, TorchName(type), TextOf(value));
}

Tensor ScalarTensor(Scalar value, DType type, Device& device) {
  return Wrap(device, ScalarNode(value, OnDevice(type), device), type);
}

Tensor ViewOf(Ref<Storage> storage, ViewSteps steps) {
  Ref<TensorImpl> impl = MakeRef<TensorImpl>();
  impl->storage = std::move(storage);
  impl->steps = std::move(steps);
  return Tensor(std::move(impl));
}

Tensor MakeView(const Tensor& tensor, ViewStep step) {
  TensorImpl& from = ImplOf(tensor);
  TensorImpl& base = from.base_or_self();
  const size_t base_steps = base.steps.all().size();
  ViewSteps::List steps = from.steps.copy();
  if (steps.size() > base_steps && TurnsBack(steps.back(), step)) {
    steps.pop_back();
  } else {
    const Shape shape{from.storage->value()->shape().dtype, from.sizes()};
    const Shape* const operand = &shape;
    step.sizes = ShapeOfResult(*step.op, {&operand, 1}, step.attributes, step.where).dims;
    steps.push_back(std::move(step));
  }
  Tensor view = ViewOf(from.storage, ViewSteps(std::move(steps)));
  TensorImpl& impl = *view.impl();
  impl.base = Ref<TensorImpl>(&base);
  impl.base_steps = base_steps;
  impl.recorded_writes = base.recorded_writes;
  impl.taken_under_no_grad = NoGrad::is_on();
  return view;
}

Tensor WithoutSlope(Tensor out, const Tensor& x) {
  if (!NeedsGrad(x)) return out;
  return Differentiable(std::move(out), {x},
                        [type = x.dtype(), sizes = x.sizes()](const Tensor& grad) {
                          return Grads{zeros(sizes, type, grad.device())};
                        });
}

std::string TextOf(const Tensor& x) { return Shape{x.dtype(), x.sizes()}.ToText(); }
std::string TextOf(Scalar value) {
  if (value.is_truth) return value.whole == 0 ? "false" : "true";
  return value.is_whole ? fmt::format("{}", value.whole) : fmt::format("{}", value.real);
}

int64_t DimOf(std::string_view op, const Tensor& x, int64_t dim, int64_t added) {
  const int64_t rank = x.dim() + added;
  if (dim >= -rank && dim < rank) return dim < 0 ? dim + rank : dim;
  RaiseHere("{}({}): dimension {} is out of range: there are {}", op, TextOf(x), dim, rank);
}

}  // namespace xlaprof::lazy

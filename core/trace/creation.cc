#include <cmath>

#include "core/trace/emit.h"
#include "core/trace/functions.h"
#include "core/trace/reduction.h"

namespace xlaprof::lazy {

Tensor full(Dims sizes, Scalar value, DType type, Device& device, Where where) {
  OpCall call(where);
  ExpectFits("aten::full", value, type);
  const NodePtr scalar = NodeOf(ScalarTensor(value, type, device));
  NodePtr all = Node::Make(op::expand, {scalar.get()}, sizes, Call::Where());
  return Wrap(device, std::move(all), type);
}

Tensor zeros(Dims sizes, DType type, Device& device, Where where) {
  return full(std::move(sizes), 0, type, device, where);
}

Tensor ones(Dims sizes, DType type, Device& device, Where where) {
  return full(std::move(sizes), 1, type, device, where);
}

Tensor arange(int64_t count, DType type, Device& device, Where where) {
  OpCall call(where);
  return Wrap(device,
              Node::Make(op::arange, {},
                         {AttributeOf(0.0), AttributeOf(1.0), count, int64_t(OnDevice(type))},
                         Call::Where()),
              type);
}

Tensor arange(Scalar start, Scalar end, Scalar step, std::optional<DType> type, Device& device,
              Where where) {
  OpCall call(where);
  const bool is_whole = start.is_whole && end.is_whole && step.is_whole;
  const double count = std::ceil((end.real - start.real) / step.real);
  if (!(count >= 0) || step.real == 0 || !MayBeHeld({int64_t(std::min(count, 0x1p62))})) {
    RaiseHere("aten::arange({}, {}, {}): the step does not lead from the first to the last",
              TextOf(start), TextOf(end), TextOf(step));
  }
  const DType made = type.value_or(is_whole ? DType::kI64 : DType::kF32);
  // The numbers are parameters of the graph, so that others do not make another graph.
  const DType wide = is_whole ? DType::kI64 : DType::kF64;
  return (lazy::arange(int64_t(count), wide, device) * step + start).to(made);
}

Tensor linspace(double start, double end, int64_t steps, DType type, Device& device, Where where) {
  OpCall call(where);
  if (steps < 0) RaiseHere("aten::linspace({}, {}, {}): the number is negative", start, end, steps);
  // The second half counts from the end, so that the last number is exactly that.
  const Tensor places = lazy::arange(steps, DType::kF64, device);
  const double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
  const Tensor from_end = places - double(steps - 1);
  return lazy::where(lt(places, double((steps + 1) / 2)), places * step + start,
                     from_end * step + end)
      .to(type);
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, DType type, Device& device, Where where) {
  OpCall call(where);
  const Tensor row = lazy::arange(rows, DType::kI64, device).unsqueeze(1);
  return eq(row, lazy::arange(columns.value_or(rows), DType::kI64, device)).to(type);
}

namespace internal {

Tensor TensorOf(const HostTensor& wide, DType type, Device& device, Where where) {
  return Tensor::FromHost(Converted(wide.bytes.data(), wide.shape, type), device, where);
}

}  // namespace internal

Tensor full_like(const Tensor& x, Scalar value, std::optional<DType> type, Where where) {
  return full(x.sizes(), value, type.value_or(x.dtype()), x.device(), where);
}

Tensor zeros_like(const Tensor& x, std::optional<DType> type, Where where) {
  return full_like(x, 0, type, where);
}

Tensor ones_like(const Tensor& x, std::optional<DType> type, Where where) {
  return full_like(x, 1, type, where);
}

Tensor rand_like(const Tensor& x, Where where) {
  OpCall call(where);
  ExpectFractions("aten::rand_like", x);
  return rand(x.sizes(), x.device()).to(x.dtype());
}

Tensor randn_like(const Tensor& x, Where where) {
  OpCall call(where);
  ExpectFractions("aten::randn_like", x);
  return randn(x.sizes(), x.device()).to(x.dtype());
}

}  // namespace xlaprof::lazy

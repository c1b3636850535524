#include <cmath>
#include <numbers>

#include "core/trace/emit.h"
#include "core/trace/functions.h"

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

Tensor rand(Dims sizes, Device& device, Where where) {
  OpCall call(where);
  const NodePtr seed = device.NextSeed(Call::Where());
  Tensor out =
      Wrap(device, Node::Make(op::uniform, {seed.get()}, sizes, Call::Where()), DType::kF32);
  // In narrow types the largest values would be rounded up to 1, which is excluded.
  const DType kept = OnDevice(DType::kF32);
  return kept == DType::kF32 ? out : minimum(out, kept == DType::kF16 ? 1 - 0x1p-11 : 1 - 0x1p-8);
}

// Uses the Box-Muller transform: two uniform numbers give a normal one.
Tensor randn(Dims sizes, Device& device, Where where) {
  OpCall call(where);
  const Tensor radius = sqrt(log(1 - rand(sizes, device)) * -2);
  return radius * cos(rand(sizes, device) * (2 * std::numbers::pi));
}

void manual_seed(int64_t seed, Device& device) { device.SetSeed(seed); }

}  // namespace xlaprof::lazy

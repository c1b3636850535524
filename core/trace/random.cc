// Random numbers. All are made of op::uniform, so that each backend draws the same.
#include <cmath>
#include <numbers>

#include "core/trace/functions.h"
#include "core/trace/reduction.h"

namespace xlaprof::lazy {
namespace {

// Returns multiples of 2^-24 in [0, 1), each from a seed of its own.
NodePtr UniformNode(const Dims& sizes, Device& device) {
  const NodePtr seed = device.NextSeed(Call::Where());
  return Node::Make(op::uniform, {seed.get()}, sizes, Call::Where());
}

// Returns multiples of 2^-48 in [0, 1).
Tensor FineUniform(const Dims& sizes, Device& device) {
  const Tensor high = Wrap(device, UniformNode(sizes, device), DType::kF64);
  const Tensor low = Wrap(device, UniformNode(sizes, device), DType::kF64);
  return high + low * 0x1p-24;
}

}  // namespace

Tensor rand(Dims sizes, Device& device, Where where) {
  OpCall call(where);
  Tensor out = Wrap(device, UniformNode(sizes, device), DType::kF32);
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

Tensor randint(int64_t low, int64_t high, Dims sizes, DType type, Device& device, Where where) {
  OpCall call(where);
  const uint64_t count = uint64_t(high) - uint64_t(low);
  if (high <= low || count > uint64_t{1} << 48) {
    RaiseHere("aten::randint({}, {}): there must be at least one integer to draw, and at most 2^48",
              low, high);
  }
  // One draw has 24 bits, which are enough for a fair choice among few.
  const bool is_small = count <= uint64_t{1} << 12;
  const Tensor drawn =
      is_small ? Wrap(device, UniformNode(sizes, device), DType::kF64) : FineUniform(sizes, device);
  return (floor(drawn * double(count)).to(DType::kI64) + low).to(type);
}

Tensor randperm(int64_t count, DType type, Device& device, Where where) {
  Call call(where);
  if (count < 0) RaiseHere("aten::randperm({}): the number is negative", count);
  return sort(FineUniform({count}, device)).indices.to(type);
}

Tensor bernoulli(const Tensor& p, Where where) {
  OpCall call(where);
  ExpectFractions("aten::bernoulli", p);
  const Tensor drawn = Wrap(p.device(), UniformNode(p.sizes(), p.device()), DType::kF64);
  return WithoutSlope(lt(drawn, p.detach().to(DType::kF64)).to(p.dtype()), p);
}

// Divides each weight by an exponential random number. The largest quotient is at each place with a
// probability that is proportional to its weight, and the n largest are n draws without putting
// back.
Tensor multinomial(const Tensor& weights, int64_t count, bool replacement, Where where) {
  Call call(where);
  constexpr std::string_view kName = "aten::multinomial";
  ExpectFractions(kName, weights);
  const int64_t rank = weights.dim();
  if (rank != 1 && rank != 2)
    RaiseHere("{}({}): needs [classes] or [rows, classes]", kName, TextOf(weights));
  const int64_t classes = weights.size(-1);
  if (count < 1 || classes < 1 || (!replacement && count > classes)) {
    RaiseHere("{}({}): cannot draw {} of {} classes{}", kName, TextOf(weights), count, classes,
              replacement ? "" : " without replacement");
  }
  const bool at_once = replacement || count == 1;
  Tensor quotients;
  {
    OpCall op(Call::Where());
    Dims sizes = weights.sizes();
    const Tensor wide = weights.detach().to(DType::kF64);
    if (at_once) sizes.insert(sizes.end() - 1, count);
    // The smallest drawn number is 0, by which nothing is divided.
    const Tensor times = maximum(neg(log1p(neg(FineUniform(sizes, weights.device())))), 0x1p-50);
    quotients = (at_once ? wide.unsqueeze(-2) : wide) / times;
    if (at_once) return argmax(quotients, -1);
  }
  return topk(quotients, count).indices;
}

void manual_seed(int64_t seed, Device& device) { device.SetSeed(seed); }

}  // namespace xlaprof::lazy

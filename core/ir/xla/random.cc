// Writes out Threefry 2x32 in integers, so that each backend draws the same bits. XLA's own
// generator counts differently.
#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

constexpr uint32_t kParity = 0x1BD11BDA;
constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

Value HighHalf(Builder& b, Value wide) {
  const Value shift = b.Splat(32, b.TypeOf(wide));
  return b.Convert(b.Binary("shift_right_logical", wide, shift), Element::kU32);
}

Value Rotate(Builder& b, Value word, int by) {
  const Type type = b.TypeOf(word);
  return b.Binary("or", b.Binary("shift_left", word, b.Splat(by, type)),
                  b.Binary("shift_right_logical", word, b.Splat(32 - by, type)));
}

// Returns the first word of the result for the counters.
Value Threefry(Builder& b, Value key0, Value key1, Value x0, Value x1) {
  const Type type = b.TypeOf(x0);
  const Value parity = b.Constant(kParity, Element::kU32);
  const Value key2 = b.Binary("xor", b.Binary("xor", key0, key1), parity);
  const Value keys[3] = {b.BroadcastScalar(key0, type), b.BroadcastScalar(key1, type),
                         b.BroadcastScalar(key2, type)};
  x0 = b.Binary("add", x0, keys[0]);
  x1 = b.Binary("add", x1, keys[1]);
  for (int round = 0; round < 5; ++round) {
    for (int by : kRotations[round % 2]) {
      x0 = b.Binary("add", x0, x1);
      x1 = b.Binary("xor", Rotate(b, x1, by), x0);
    }
    x0 = b.Binary("add", x0, keys[(round + 1) % 3]);
    const Value key = b.Binary("add", keys[(round + 2) % 3], b.Splat(round + 1, type));
    x1 = b.Binary("add", x1, key);
  }
  return x0;
}

Value Uniform(const Call& call) {
  Builder& b = call.b;
  if (call.type.elements() == 0) return b.Splat(0, call.type);
  const Value seed = b.Convert(call[0], Element::kU64);
  const Value number = b.Iota({Element::kU64, {call.type.elements()}}, 0);
  const Value word = Threefry(b, HighHalf(b, seed), b.Convert(seed, Element::kU32),
                              HighHalf(b, number), b.Convert(number, Element::kU32));
  const Value top = b.Binary("shift_right_logical", word, b.Splat(8, b.TypeOf(word)));
  const Value fraction = b.Convert(top, Element::kF32);
  return b.Reshape(b.Binary("multiply", fraction, b.Splat(0x1p-24, b.TypeOf(fraction))),
                   call.type.dims);
}

}  // namespace

void AddRandomRules(Rules* rules) { rules->insert({{&op::uniform, Uniform}}); }

}  // namespace xlaprof::lazy::xla

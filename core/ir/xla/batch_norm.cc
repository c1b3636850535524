#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

// Adds a normalization, with operands in XLA's order and in the type that holds sums.
Value Normalise(const Call& call, std::string_view name, std::initializer_list<size_t> order,
                std::vector<Type> outputs) {
  Builder& b = call.b;
  const Element element = SumElement(call.TypeOf(0).element);
  Instruction it{.kind = Kind::kBatchNorm,
                 .name = name,
                 .type = {element, call.TypeOf(0).dims},
                 .outputs = std::move(outputs),
                 .number = call.attributes[0]};
  for (size_t operand : order) it.operands.push_back(b.Convert(call[operand], element));
  return b.Add(std::move(it));
}

// Returns one output: one like the first operand, or one of two per-channel ones.
Value OutputOf(const Call& call, std::string_view name, std::initializer_list<size_t> order) {
  const Type x{SumElement(call.TypeOf(0).element), call.TypeOf(0).dims};
  const Type channels{x.element, {x.dims[1]}};
  if (*call.all < 0) *call.all = Normalise(call, name, order, {x, channels, channels});
  return call.b.Convert(call.b.Output(*call.all, call.attributes.back()), call.type.element);
}

Value Train(const Call& call) { return OutputOf(call, "batch_norm_training", {0, 1, 2}); }
Value Backward(const Call& call) { return OutputOf(call, "batch_norm_grad", {1, 2, 3, 4, 0}); }
Value Infer(const Call& call) {
  return call.b.Convert(Normalise(call, "batch_norm_inference", {0, 1, 2, 3, 4}, {}),
                        call.type.element);
}

}  // namespace

void AddBatchNormRules(Rules* rules) {
  rules->insert({{&op::native_batch_norm, Train},
                 {&op::native_batch_norm_backward, Backward},
                 {&op::batch_norm_inference, Infer}});
}

}  // namespace xlaprof::lazy::xla

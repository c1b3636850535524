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

}  // namespace xlaprof::lazy

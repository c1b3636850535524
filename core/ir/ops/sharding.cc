#include "core/ir/ops/rules_internal.h"
#include "core/ir/sharding.h"

namespace xlaprof::lazy::op {
namespace {

Shape MarkSharding(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  const Shape& shape = *operands[0];
  const Sharding sharding = Sharding::Of(attributes);
  if (int64_t(sharding.axes.size()) != shape.rank()) {
    Raise("a sharding of {} dimensions does not fit {}", sharding.axes.size(), shape.ToText());
  }
  for (size_t i = 0; i < sharding.axes.size(); ++i) {
    const int64_t parts = sharding.grid.Count(sharding.axes[i]);
    if (shape.dims[i] % parts != 0)
      Raise("size {} of dimension {} cannot be divided into {} parts", shape.dims[i], i, parts);
  }
  return shape;
}

constexpr std::string_view kSharding[] = {"sharding..."};

}  // namespace

constinit const Op mark_sharding{"xla::mark_sharding", MarkSharding, kSharding, false, NoFlops};

}  // namespace xlaprof::lazy::op

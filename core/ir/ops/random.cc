#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

Shape Uniform(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectRank(*operands[0], 0);
  if (operands[0]->dtype != DType::kI64)
    Raise("a seed must be s64, not {}", XlaName(operands[0]->dtype));
  return {DType::kF32, ExpectSizes(attributes, 0)};
}

constexpr std::string_view kSizes[] = {"size..."};

}  // namespace

constinit const Op uniform{"aten::uniform", Uniform, kSizes};

}  // namespace xlaprof::lazy::op

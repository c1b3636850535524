#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

Shape OfData(Shapes, const Attributes&) { Raise("has the shape of its data"); }

Shape Scalar(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 0);
  ExpectAttributes(attributes, 2);
  return {ExpectDType(attributes[1]), {}};
}

constexpr std::string_view kConstantAttributes[] = {"value", "dtype"},
                           kDataAttributes[] = {"sharding..."};

}  // namespace

constinit const Op device_data{"xla::device_data", OfData, kDataAttributes, false, NoFlops};
constinit const Op constant{"prim::Constant", Scalar, kConstantAttributes, false, NoFlops};

}  // namespace xlaprof::lazy::op

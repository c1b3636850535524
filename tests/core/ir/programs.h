// Builds programs by hand, one instruction after the other; the operations' own rules give the
// shapes.
#pragma once

#include "core/graph/program.h"

namespace xlaprof::lazy {

class ProgramBuilder {
 public:
  // Adds a parameter with the caller's line.
  int32_t Parameter(Shape shape, std::source_location location = std::source_location::current()) {
    const int32_t place = Append(op::device_data, std::move(shape), {}, {}, location);
    program.parameters.push_back(place);
    return place;
  }
  int32_t Constant(double value, DType dtype,
                   std::source_location location = std::source_location::current()) {
    return Append(op::constant, {dtype, {}},
                  {IsFloat(dtype) ? AttributeOf(value) : int64_t(value), int64_t(dtype)}, {},
                  location);
  }
  int32_t Do(const Op& op, absl::InlinedVector<int32_t, 3> operands, Attributes attributes = {},
             std::source_location location = std::source_location::current()) {
    std::vector<const Shape*> shapes;
    for (int32_t operand : operands) shapes.push_back(&program.instructions[size_t(operand)].shape);
    Shape shape = op.shape(shapes, attributes);
    return Append(op, std::move(shape), attributes, operands, location);
  }

  void Result(int32_t instruction) { program.results.push_back(instruction); }

  Program program;

 private:
  int32_t Append(const Op& op, Shape shape, const Attributes& attributes,
                 const absl::InlinedVector<int32_t, 3>& operands, std::source_location location) {
    program.instructions.push_back({.op = &op,
                                    .shape = std::move(shape),
                                    .attributes = attributes,
                                    .operands = operands,
                                    .location = location,
                                    .scope = CurrentScope()});
    return int32_t(program.instructions.size() - 1);
  }
};

}  // namespace xlaprof::lazy

// Says for each operation how its work can be divided among devices.
//
// An operation is a nest of loops, whose loops are called factors. Each dimension of an operand and
// of the result belongs to a factor: mm has the rows n, the columns m, and k, over which it sums.
// If a factor is divided into equal parts, each device gets its part of the dimensions that belong
// to the factor, and runs the same operation on that. Its result is a part of the whole result, or
// if the factor is no dimension of the result, a contribution to it.
#pragma once

#include <optional>

#include "core/graph/program.h"

namespace xlaprof::lazy {

struct DivisionRule {
  static constexpr int kWhole = -1;  // each device needs the whole dimension, or has it
  using Factors = absl::InlinedVector<int, 4>;

  absl::InlinedVector<Factors, 3> operands;  // the factor of each dimension
  Factors result;
  // How the results of the devices are combined if a factor is divided. None: they are parts of the
  // whole result.
  absl::InlinedVector<std::optional<ReduceOp>, 6> factors;
  // An operand that is added to the result, and therefore counts only once; -1: none. Only the
  // factors of its own dimensions are not summed over.
  int added = -1;
};

// Returns the rule of an instruction. An operation without one needs whole operands, and each
// device computes the whole result.
DivisionRule RuleOf(const Program& program, const Instruction& instruction);

}  // namespace xlaprof::lazy

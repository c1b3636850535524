// Decides how each value of a program is divided among devices: propagates the shardings of the
// parameters, and of what the user marked, through the program by the rules of its operations.
#pragma once

#include "core/backend/spmd/rules.h"
#include "core/ir/sharding.h"

namespace xlaprof::lazy {

struct DividedInstruction {
  DivisionRule rule;
  absl::InlinedVector<Dims, 6> factors;  // the axes that divide each factor
  Division result;                       // how the result is divided
  // The dimension of the result that is divided along the axes that are summed over, or -1. Then
  // the contributions are exchanged so that each device gets only its part of the sum.
  int scattered = -1;

  // Returns how an operand must be divided.
  Division OperandDivision(size_t operand) const;
  // Returns the axes along which devices have contributions to the result.
  Dims Combined() const;
};

struct DividedProgram {
  Grid grid;  // of the program's shardings; empty: it has none
  std::vector<DividedInstruction> instructions;
  std::vector<Sharding> results;
};

// A program has one grid, that of its first sharding. Parameters that are divided along another one
// count as whole.
DividedProgram DivideProgram(const Program& program);

}  // namespace xlaprof::lazy

// Turns a program of whole tensors into the program that each device runs on its parts.
#pragma once

#include <vector>

#include "base/status.h"
#include "core/graph/program.h"

namespace xlaprof::lazy {

struct PartitionedProgram {
  // Has the parameters, results and donations of the whole program, with the shapes of parts. Its
  // collectives are among the devices, whose numbers are the ranks.
  Program program;
  std::vector<Attributes> parameter_shardings, result_shardings;
};

// Partitions a program by the shardings that its parameters have and that were marked in it. What
// no rule divides is gathered, and computed by each device.
absl::StatusOr<PartitionedProgram> PartitionProgram(const Program& program, int64_t devices);

}  // namespace xlaprof::lazy

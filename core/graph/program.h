// A graph, ready to be compiled: a list of instructions, each after its operands. It holds no nodes
// and no data, so that it can be kept.
#pragma once

#include <source_location>
#include <span>
#include <utility>
#include <vector>

#include "core/ir/node.h"

namespace xlaprof::lazy {

struct Instruction {
  const Op* op = nullptr;
  Shape shape;
  Attributes attributes;
  absl::InlinedVector<int32_t, 3> operands;  // indices of earlier instructions
  std::source_location location;
  ScopeId scope = 0;
  CallStackId call_stack = 0;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<int32_t> parameters;  // the device_data instructions, in argument order
  std::vector<int32_t> results;     // may repeat, and may be parameters
  // Arguments whose memory may become a result's. `parameter` and `result` are indices of the two
  // lists above. Each occurs at most once, and the two have equal shapes.
  struct Donation {
    int32_t parameter, result;
    bool operator==(const Donation&) const = default;
  };
  std::vector<Donation> donations;
  std::string name;  // the module's name: SyncTensorsGraph.12
  Hash hash;

  // Appends an instruction, or an operation on earlier instructions that is made in place of
  // `origin`. Return its index.
  int32_t Append(Instruction instruction) {
    instructions.push_back(std::move(instruction));
    return int32_t(instructions.size()) - 1;
  }
  int32_t Append(const Op& op, std::span<const int32_t> operands, Attributes attributes,
                 const Instruction& origin) {
    Instruction made{.op = &op,
                     .attributes = std::move(attributes),
                     .operands = {operands.begin(), operands.end()},
                     .location = origin.location,
                     .scope = origin.scope,
                     .call_stack = origin.call_stack};
    made.shape = op.shape(OperandShapes(made), made.attributes);
    return Append(std::move(made));
  }
  // Returns the shapes of an instruction's operands.
  absl::InlinedVector<const Shape*, 3> OperandShapes(const Instruction& instruction) const {
    absl::InlinedVector<const Shape*, 3> shapes;
    for (int32_t operand : instruction.operands)
      shapes.push_back(&instructions[size_t(operand)].shape);
    return shapes;
  }
};

}  // namespace xlaprof::lazy

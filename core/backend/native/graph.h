// Assigns a program's instructions to kernels of one or several instructions, views of other
// memory, scalars, or nothing.
#pragma once

#include <map>

#include "core/backend/native/loops.h"
#include "core/backend/native/strided.h"

namespace xlaprof::lazy {

// A value that all elements share, in the type used for computing.
struct Splat {
  alignas(8) char bytes[8] = {};
};

// Returns the code of an elementwise operation that is not a cast, or kCount for other operations.
Code CodeOf(const Op* op);

// Instructions that run as one kernel: a single one, several outputs of one operation, or
// elementwise ones with the same number of elements.
struct Unit {
  bool fused = false;
  std::vector<int32_t> members;  // ascending; outputs are in the order of their numbers
  // Values that it reads from memory, and members that it writes to memory, each once.
  std::vector<int32_t> inputs, outputs;
};

class Graph {
 public:
  explicit Graph(const Program& program);

  // Returns the instruction that has the same value, perhaps with other sizes, or `instruction`
  // itself.
  int32_t root(int32_t instruction) const { return nodes_[size_t(instruction)].root; }
  const Splat* splat(int32_t instruction) const {
    const Node& node = nodes_[size_t(root(instruction))];
    return node.is_splat ? &node.splat : nullptr;
  }

  // The source of a unit's operand.
  struct Source {
    int32_t value;  // a root: a member of the unit, or in memory
    // The operation in between that is done by reading in another order; -1: none.
    int32_t view = -1;
  };
  // Returns an operand's source. `fused` is true for an elementwise operation, and false for one
  // that can only swap dimensions.
  Source SourceOf(int32_t operand, bool fused) const;

  // Returns the units in an order in which they can run.
  const std::vector<Unit>& units() const { return units_; }

 private:
  struct Node {
    int32_t root = 0;
    int32_t level = -1, group = -1;
    bool live = false, is_splat = false, fusable = false, swaps = false, reads_elsewhere = false;
    bool in_memory = false;
    Splat splat;
  };

  void FindLive();
  void Classify(int32_t i);
  bool Fold(int32_t i);
  void Group(int32_t i);
  void FindMemory();
  void Sink();
  // Maps what several outputs have in common to the index of their unit.
  using Outputs =
      std::map<std::tuple<const Op*, std::vector<int32_t>, std::vector<int64_t>>, size_t>;
  bool JoinsOutputs(int32_t i, Outputs* outputs, std::vector<Unit>& units) const;
  void MakeUnits();
  void Order(std::vector<Unit> units);
  const Instruction& instruction(int32_t i) const { return program_.instructions[size_t(i)]; }
  Node& node(int32_t i) { return nodes_[size_t(i)]; }

  const Program& program_;
  std::vector<Node> nodes_;
  std::vector<std::vector<int32_t>> groups_;
  std::vector<Unit> units_;
};

}  // namespace xlaprof::lazy

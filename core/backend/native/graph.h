// What a program's instructions become: kernels of one or several, views of another's memory,
// scalars, nothing.
#pragma once

#include <map>

#include "core/backend/native/loops.h"
#include "core/backend/native/strided.h"

namespace xlaprof::lazy {

// The one value of all elements, in the type that is computed with.
struct Splat {
  alignas(8) char bytes[8] = {};
};

// The code of an elementwise operation that is not a cast; kCount: it is none.
Code CodeOf(const Op* op);

// Instructions that run as one kernel: a single one, those that are outputs of one operation, or
// elementwise ones of equally many elements.
struct Unit {
  bool fused = false;
  std::vector<int32_t> members;  // ascending; of outputs by their places
  // Values in memory that it reads, and members that are put in memory; each once.
  std::vector<int32_t> inputs, outputs;
};

class Graph {
 public:
  explicit Graph(const Program& program);

  // The instruction whose value this one's is, too, with other sizes; itself, if there is none.
  int32_t root(int32_t instruction) const { return nodes_[size_t(instruction)].root; }
  const Splat* splat(int32_t instruction) const {
    const Node& node = nodes_[size_t(root(instruction))];
    return node.is_splat ? &node.splat : nullptr;
  }

  // How a unit gets an operand.
  struct Source {
    int32_t value;  // a root: a member, or in memory
    // The operation between the two that is done by reading elsewhere; -1: none.
    int32_t view = -1;
  };
  // `fused`: for an elementwise operation, else for one that can only swap.
  Source SourceOf(int32_t operand, bool fused) const;

  // In an order in which they can run.
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
  // By what several outputs have in common, the unit that they are.
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

#include "core/compile/graph.h"

#include <absl/container/flat_hash_map.h>

#include "core/environment.h"
#include "core/exec/data.h"

namespace xlaprof::lazy {
namespace {

uint64_t NextWalk() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

TracedGraph WalkGraph(std::vector<NodePtr> roots) {
  TracedGraph graph{.roots = std::move(roots)};
  const uint64_t walk = NextWalk();
  struct Visit {
    const Node* node;
    size_t next = 0;  // operand to look at
  };
  std::vector<Visit> open;
  absl::flat_hash_map<const Data*, int32_t> known;
  auto enter = [&](const Node* node) {
    if (node->mark().walk == walk) return;
    node->mark().walk = walk;
    open.push_back({node});
  };
  for (const NodePtr& root : graph.roots) {
    enter(root.get());
    while (!open.empty()) {
      const Node* node = open.back().node;
      if (open.back().next < node->operands().size()) {
        enter(node->operands()[open.back().next++].get());
        continue;
      }
      open.pop_back();
      if (node->data()) {
        auto [at, is_new] = known.try_emplace(node->data().get(), int32_t(graph.parameters.size()));
        if (is_new) graph.parameters.push_back(node->data());
        graph.parameter_uses.push_back(at->second);
      } else {
        graph.executed_again += std::exchange(node->mark().executed, true);
      }
      node->mark().place = int32_t(graph.nodes.size());
      graph.nodes.push_back(node);
    }
  }
  return graph;
}

void SetHash(TracedGraph& graph, bool ends_step) {
  static const Hash environment_hash = Mix(Hash{}, environment().compile_environment);
  Hash hash = Mix(environment_hash, uint64_t(ends_step));
  for (const NodePtr& root : graph.roots) hash = Mix(hash, root->hash());
  graph.tensors_hash = hash;
  // Leaves of one type and size are alike to a node's own hash: which node uses which tells apart
  // (a + a) * b and (a + b) * a.
  for (const Node* node : graph.nodes) {
    for (const NodePtr& operand : node->operands())
      hash = Mix(hash, uint64_t(operand->mark().place));
  }
  for (const NodePtr& root : graph.roots) hash = Mix(hash, uint64_t(root->mark().place));
  for (int32_t parameter : graph.parameter_uses) hash = Mix(hash, uint64_t(parameter));
  for (const Program::Donation& donation : graph.donations)
    hash = Mix(Mix(hash, uint64_t(donation.parameter)), uint64_t(donation.result));
  graph.hash = hash;
}

Program MakeProgram(const TracedGraph& graph, std::string name) {
  Program program{.donations = graph.donations, .name = std::move(name), .hash = graph.hash};
  program.instructions.reserve(graph.nodes.size());
  program.parameters.resize(graph.parameters.size(), -1);
  std::vector<int32_t> place(graph.nodes.size());
  size_t uses = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    if (node.data()) {  // two leaves of one value are one parameter
      int32_t& parameter = program.parameters[size_t(graph.parameter_uses[uses++])];
      if (parameter >= 0) {
        place[i] = parameter;
        continue;
      }
      parameter = int32_t(program.instructions.size());
    }
    place[i] = int32_t(program.instructions.size());
    Instruction& instruction = program.instructions.emplace_back();
    instruction.op = &node.op();
    instruction.shape = node.shape();
    instruction.attributes = node.attributes();
    instruction.location = node.location();
    instruction.scope = node.scope();
    for (const NodePtr& operand : node.operands())
      instruction.operands.push_back(place[size_t(operand->mark().place)]);
  }
  for (const NodePtr& root : graph.roots)
    program.results.push_back(place[size_t(root->mark().place)]);
  return program;
}

}  // namespace xlaprof::lazy

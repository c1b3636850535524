#include "core/graph/traced_graph.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/environment.h"
#include "core/exec/data.h"

namespace xlaprof::lazy {
namespace {

uint64_t NextWalk() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Compare nodes by what they compute. The table of nodes forgets some, depending on their
// addresses, so that the same step would now and then give another graph. Therefore nodes of one
// walk are equal if they have equal operations, attributes and operands, which are compared by
// their places.
struct HashOfWhatItMakes {
  size_t operator()(const Node* node) const {
    if (node->data()) return absl::HashOf(node->data().get());
    uint64_t hash = node->hash().low;
    for (const NodePtr& operand : node->operands())
      hash = absl::HashOf(hash, operand->mark().place);
    return hash;
  }
};
struct MakesTheSame {
  bool operator()(const Node* a, const Node* b) const {
    if (a->data() || b->data()) return a->data() == b->data();
    auto place = [](const NodePtr& operand) { return operand->mark().place; };
    return &a->op() == &b->op() && a->attributes() == b->attributes() &&
           std::ranges::equal(a->operands(), b->operands(), {}, place, place);
  }
};

}  // namespace

TracedGraph WalkGraph(std::vector<NodePtr> roots) {
  TracedGraph graph{.roots = std::move(roots)};
  const uint64_t walk = NextWalk();
  struct Visit {
    const Node* node;
    size_t next = 0;  // the next operand to visit
  };
  std::vector<Visit> open;
  absl::flat_hash_set<const Node*, HashOfWhatItMakes, MakesTheSame> known;
  constexpr size_t kUsual = 128;  // growing to a usual step's size would hash each node several times
  open.reserve(kUsual), graph.nodes.reserve(kUsual), known.reserve(kUsual);
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
      const bool executed = !node->data() && std::exchange(node->mark().executed, true);
      const auto [equal, is_new] = known.insert(node);
      node->mark().place = is_new ? int32_t(graph.nodes.size()) : (*equal)->mark().place;
      if (!is_new) continue;
      graph.nodes.push_back(node);
      graph.executed_again += executed;
      if (node->data()) graph.parameters.push_back(node->data());
    }
  }
  return graph;
}

void SetHash(TracedGraph& graph, bool ends_step) {
  static const Hash environment_hash = Mix(Hash{}, environment().compile_environment);
  Hash hash = Mix(environment_hash, uint64_t(ends_step));
  for (const NodePtr& root : graph.roots) hash = Mix(hash, root->hash());
  graph.tensors_hash = hash;
  // A node's own hash is the same for all leaves of one type and size. The places of operands
  // distinguish (a + a) * b from (a + b) * a.
  for (const Node* node : graph.nodes) {
    for (const NodePtr& operand : node->operands())
      hash = Mix(hash, uint64_t(operand->mark().place));
  }
  for (const NodePtr& root : graph.roots) hash = Mix(hash, uint64_t(root->mark().place));
  for (const Program::Donation& donation : graph.donations)
    hash = Mix(Mix(hash, uint64_t(donation.parameter)), uint64_t(donation.result));
  graph.hash = hash;
}

Program MakeProgram(const TracedGraph& graph, std::string name) {
  Program program{.donations = graph.donations, .name = std::move(name), .hash = graph.hash};
  program.instructions.reserve(graph.nodes.size());
  for (const Node* node : graph.nodes) {
    if (node->data()) program.parameters.push_back(int32_t(program.instructions.size()));
    Instruction& instruction = program.instructions.emplace_back();
    instruction.op = &node->op();
    instruction.shape = node->shape();
    instruction.attributes = node->attributes();
    instruction.location = node->location();
    instruction.scope = node->scope();
    instruction.call_stack = node->call_stack();
    for (const NodePtr& operand : node->operands())
      instruction.operands.push_back(operand->mark().place);
  }
  for (const NodePtr& root : graph.roots) program.results.push_back(root->mark().place);
  return program;
}

}  // namespace xlaprof::lazy

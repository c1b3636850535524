#include "core/compile/graph.h"

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

// Finds equal nodes within a walk. The table of nodes forgets some, and which, their addresses
// decide: the same step would now and then be another graph.
class EqualNodes {
 public:
  EqualNodes(uint64_t walk, const std::vector<const Node*>& nodes) : walk_(walk), nodes_(nodes) {}

  // The place of the first node that equals `node`, the operands of which have places; `place`,
  // which is to be its own, where there is none.
  int32_t Place(const Node& node, int32_t place) {
    const uint64_t key = KeyOf(node);
    std::vector<Slot>& slots = Slots();
    if (size_t(place) * 2 >= slots.size()) Grow(slots);
    for (size_t at = key;; ++at) {
      Slot& slot = slots[at & (slots.size() - 1)];
      if (slot.walk != walk_) {
        slot = {walk_, key, place};
        return place;
      }
      if (slot.key == key && Equal(node, *nodes_[size_t(slot.place)])) return slot.place;
    }
  }

 private:
  struct Slot {
    uint64_t walk = 0;  // another's: the slot is free
    uint64_t key = 0;
    int32_t place = 0;
  };
  // Kept from walk to walk; their number is a power of two.
  static std::vector<Slot>& Slots() {
    static thread_local std::vector<Slot> slots(256);
    return slots;
  }
  static uint64_t KeyOf(const Node& node) {
    uint64_t key = node.data() ? reinterpret_cast<uintptr_t>(node.data().get()) : node.hash().low;
    auto mix = [&](uint64_t value) { key = (key ^ value) * 0x9e3779b97f4a7c15, key ^= key >> 29; };
    mix(0);
    for (const NodePtr& operand : node.operands()) mix(uint64_t(operand->mark().place));
    return key;
  }
  static bool Equal(const Node& a, const Node& b) {
    if (a.data() || b.data()) return a.data() == b.data();
    return &a.op() == &b.op() && a.attributes() == b.attributes() &&
           std::ranges::equal(
               a.operands(), b.operands(), {},
               [](const NodePtr& operand) { return operand->mark().place; },
               [](const NodePtr& operand) { return operand->mark().place; });
  }
  void Grow(std::vector<Slot>& slots) const {
    std::vector<Slot> grown(2 * slots.size());
    for (const Slot& slot : slots) {
      if (slot.walk != walk_) continue;
      size_t at = slot.key;
      while (grown[at & (grown.size() - 1)].walk == walk_) ++at;
      grown[at & (grown.size() - 1)] = slot;
    }
    slots = std::move(grown);
  }

  const uint64_t walk_;
  const std::vector<const Node*>& nodes_;
};

}  // namespace

TracedGraph WalkGraph(std::vector<NodePtr> roots) {
  TracedGraph graph{.roots = std::move(roots)};
  const uint64_t walk = NextWalk();
  struct Visit {
    const Node* node;
    size_t next = 0;  // operand to look at
  };
  std::vector<Visit> open;
  EqualNodes equal(walk, graph.nodes);
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
      const auto own = int32_t(graph.nodes.size());
      node->mark().place = equal.Place(*node, own);
      if (node->mark().place != own) continue;
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
  // Leaves of one type and size are alike to a node's own hash: which node uses which tells apart
  // (a + a) * b and (a + b) * a.
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
    for (const NodePtr& operand : node->operands())
      instruction.operands.push_back(operand->mark().place);
  }
  for (const NodePtr& root : graph.roots) program.results.push_back(root->mark().place);
  return program;
}

}  // namespace xlaprof::lazy

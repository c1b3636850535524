// XLA may fuse two graphs differently, so nodes of optimised HLO are not matched by position.
// Parameters of the entry computation are matched in order. All other instructions, including fused
// ones, form a multiset of (op, shape, attributes). The instructions that remain on either side
// after equal ones cancel are the difference. It begins at the first of them, in the order of
// computation, that reads nothing of a new shape. Fusions, tuples, copies and the parameters inside
// computations are ignored, because they only pass values on.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_diff_internal.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/graph/loop_count.h"
#include "base/numbers.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

class OptimizedDiff {
 public:
  OptimizedDiff(const PrintedGraph& before, const PrintedGraph& after, NewStateIs new_state)
      : before_(before), after_(after), new_state_(new_state) {}

  GraphDiff Run() {
    Inputs();
    surplus_before_ = Surplus(before_, after_);
    surplus_after_ = Surplus(after_, before_);
    diff_.differing_nodes += static_cast<int64_t>(surplus_before_.size() + surplus_after_.size());
    if (inputs_differ_ && (NewState() || Scalars())) return std::move(diff_);
    if (!surplus_before_.empty() || !surplus_after_.empty()) {
      Loop();
      Instructions();
    } else if (inputs_differ_) {
      SharedInput();
    } else if (diff_.origins.empty()) {
      Results();
    }
    if (diff_.origins.size() > kMaxOrigins) diff_.origins.resize(kMaxOrigins);
    return std::move(diff_);
  }

 private:
  static std::vector<int> InputsOf(const PrintedGraph& graph) {
    std::vector<int> inputs;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (IsInput(graph.nodes[i])) inputs.push_back(static_cast<int>(i));
    }
    // Sorts by parameter number, which is printed first among the attributes, or else by name, or
    // else leaves the order of the listing.
    auto number = [&](int i) { return FindCount(graph.nodes[i].attributes).value_or(-1); };
    std::stable_sort(inputs.begin(), inputs.end(),
                     [&](int a, int b) { return number(a) < number(b); });
    return inputs;
  }

  void Inputs() {
    inputs_before_ = InputsOf(before_), inputs_after_ = InputsOf(after_);
    inputs_differ_ = inputs_before_.size() != inputs_after_.size() || AreOfOtherRanks();
    if (inputs_differ_) {
      diff_.differing_nodes += std::abs(static_cast<int64_t>(inputs_before_.size()) -
                                        static_cast<int64_t>(inputs_after_.size()));
      return;
    }
    for (size_t k = 0; k < inputs_after_.size(); ++k) {
      const GraphNode &a = before_.nodes[inputs_before_[k]], &b = after_.nodes[inputs_after_[k]];
      if (WithoutLayout(a.shape) == WithoutLayout(b.shape) &&
          AttributeOf("sharding", a.attributes) == AttributeOf("sharding", b.attributes))
        continue;
      GraphDifference d = CompareNodes(a, b, /*partitioned=*/true);
      d.before_index = inputs_before_[k], d.node_index = inputs_after_[k];
      diff_.origins.push_back(std::move(d));
      ++diff_.differing_nodes;
    }
  }

  // Returns whether several inputs have another rank than those at the same positions. Each graph
  // then has inputs of its own, which shift the others; they are not the same with another size.
  bool AreOfOtherRanks() const {
    const auto rank = [](const GraphNode& node) {
      const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
      return shape ? int64_t(shape->rank()) : -1;
    };
    int64_t others = 0;
    for (size_t k = 0; k < std::min(inputs_before_.size(), inputs_after_.size()); ++k)
      others += rank(before_.nodes[inputs_before_[k]]) != rank(after_.nodes[inputs_after_[k]]);
    return others > 1;
  }

  // Returns the instructions of `graph` that `other` does not have, or has less often.
  static std::vector<int> Surplus(const PrintedGraph& graph, const PrintedGraph& other) {
    absl::flat_hash_map<uint64_t, int> count;
    for (const GraphNode& node : other.nodes) {
      if (!node.Has(OpTrait::kNothing)) ++count[ContentHash(node)];
    }
    std::vector<int> surplus;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!graph.nodes[i].Has(OpTrait::kNothing) && --count[ContentHash(graph.nodes[i])] < 0)
        surplus.push_back(static_cast<int>(i));
    }
    return surplus;
  }

  void SharedInput() {
    GraphDifference d{.type = ReasonType::kParameterSharingChange,
                      .node = std::string(HloNameOf(OpKind::kInput)),
                      .before = fmt::format("{} inputs", inputs_before_.size()),
                      .after = fmt::format("{} inputs", inputs_after_.size()),
                      .before_index = LostScalar(before_, after_),
                      .is_input = true};
    if (d.before_index < 0) d.node_index = LostScalar(after_, before_);
    diff_.origins.push_back(std::move(d));
  }

  // Finds tensors that the older graph makes and that are inputs of the newer one. They have the
  // place at which most of them are recorded, which is where the optimizer is called.
  bool NewState() {
    if (new_state_ == NewStateIs::kImpossible) return false;
    const std::vector<int> state = NewStateInputs(before_, after_);
    if (state.empty()) return false;
    std::map<std::string, int> places;
    for (const GraphNode& node : after_.nodes) {
      if (IsInput(node) && !IsScalar(node)) ++places[node.location];
    }
    for (const GraphNode& node : before_.nodes) {
      if (IsInput(node) && !IsScalar(node)) --places[node.location];
    }
    int shown = state.back();
    for (const int input : state) {
      if (places[after_.nodes[input].location] > places[after_.nodes[shown].location])
        shown = input;
    }
    diff_.origins.push_back({.type = ReasonType::kOpChange,
                             .node = std::string(HloNameOf(OpKind::kInput)),
                             .before = fmt::format("{} inputs", inputs_before_.size()),
                             .after = fmt::format("{} inputs", inputs_after_.size()),
                             .node_index = shown,
                             .is_new_state = true,
                             .is_of_optimizer = IsOfOptimizer(after_.nodes[shown])});
    return true;
  }

  // Finds a scalar input that only one graph has. If each instruction that differs is one of
  // several equal ones, of which XLA keeps one, equal scalars share an input. If a product with the
  // scalar is missing or a number is new, the scalar is a constant of the other graph.
  bool Scalars() {
    const bool fewer = inputs_after_.size() < inputs_before_.size();
    const PrintedGraph &with_input = fewer ? before_ : after_, &other = fewer ? after_ : before_;
    const int input = LostScalar(with_input, other);
    if (input < 0 || !HaveSameResults(before_, after_) || OtherTensors()) return false;
    absl::flat_hash_set<uint64_t> kept_before, kept_after;
    for (const GraphNode& node : before_.nodes) kept_before.insert(ContentHash(node));
    for (const GraphNode& node : after_.nodes) kept_after.insert(ContentHash(node));
    const std::string& place = with_input.nodes[input].location;
    bool only_repeats = true, only_scales = true, is_scaled_at_place = false;
    auto look = [&](const GraphNode& node, const absl::flat_hash_set<uint64_t>& kept) {
      is_scaled_at_place |=
          (node.Has(OpTrait::kScales) && !place.empty() && node.location == place);
      if (kept.contains(ContentHash(node))) return;
      only_repeats = false;
      only_scales &= Scales(node);
    };
    for (const int i : surplus_before_) look(before_.nodes[i], kept_after);
    for (const int i : surplus_after_) look(after_.nodes[i], kept_before);
    for (const int i : fewer ? surplus_after_ : surplus_before_)
      is_scaled_at_place |= other.nodes[i].known_framework_op->kind == OpKind::kConstant;
    if (only_repeats && !is_scaled_at_place) return SharedInput(), true;
    if (!only_scales) return false;
    diff_.origins.push_back({.type = ReasonType::kConstantChange,
                             .node = with_input.nodes[input].op,
                             .node_index = fewer ? -1 : input,
                             .before_index = fewer ? input : -1,
                             .is_scalar_or_input = true});
    return true;
  }

  // Returns whether tensors, and not only scalars, are other inputs.
  bool OtherTensors() const {
    std::map<std::string, int> shapes;
    for (const int i : inputs_before_) ++shapes[WithoutLayout(before_.nodes[i].shape)];
    for (const int i : inputs_after_) --shapes[WithoutLayout(after_.nodes[i].shape)];
    return std::ranges::any_of(shapes, [](const auto& entry) {
      const std::optional<XlaShape> shape = XlaShape::Parse(entry.first);
      return entry.second != 0 && (!shape || shape->rank() > 0);
    });
  }

  // Returns whether XLA adds or removes such an instruction when a factor becomes a constant.
  static bool Scales(const GraphNode& node) {
    return node.Has(OpTrait::kScales) || node.Is(OpKind::kConstant) ||
           node.Is(OpKind::kBroadcast) || node.Is(OpKind::kConvert);
  }

  // Returns whether an instruction does arithmetic, as some in each iteration of a loop do.
  static bool Computes(const GraphNode& node) {
    return !node.known->PassesOn() && !node.Is(OpKind::kView) && !node.Is(OpKind::kConstant) &&
           !node.Is(OpKind::kGenerate) && !node.Is(OpKind::kArrange) && !node.Is(OpKind::kPad);
  }

  // Finds a change of a loop's count: one graph only has more of the instructions that both have.
  void Loop() {
    const bool grew = surplus_before_.empty();
    if ((!grew && !surplus_after_.empty()) || inputs_differ_ || !diff_.origins.empty()) return;
    const PrintedGraph &longer = grew ? after_ : before_, &shorter = grew ? before_ : after_;
    absl::flat_hash_map<uint64_t, int64_t> have, more;
    for (const GraphNode& node : shorter.nodes) ++have[ContentHash(node)];
    for (int i : grew ? surplus_after_ : surplus_before_) ++more[ContentHash(longer.nodes[i])];
    for (const auto& [hash, times] : more) {
      if (!have.contains(hash)) return;
    }
    int first = -1;
    for (int i : grew ? surplus_after_ : surplus_before_) {
      if (first < 0 && Computes(longer.nodes[i])) first = i;
    }
    if (first < 0) return;
    GraphDifference d{.type = ReasonType::kLoopCountChange, .node = longer.nodes[first].op};
    const int64_t base = have[ContentHash(longer.nodes[first])],
                  extra = more[ContentHash(longer.nodes[first])];
    d.before = TurnsText(grew ? base : base + extra);
    d.after = TurnsText(grew ? base + extra : base);
    (grew ? d.node_index : d.before_index) = first;
    diff_.origins.push_back(std::move(d));
  }

  // Finds changed, new and removed instructions.
  void Instructions() {
    if (!diff_.origins.empty() && diff_.origins.back().type == ReasonType::kLoopCountChange) return;
    // An instruction that reads a shape which the older graph does not have follows from another
    // change.
    absl::flat_hash_map<std::string, int> shapes_before;
    for (const GraphNode& node : before_.nodes) shapes_before[WithoutLayout(node.shape)] = 1;
    auto reads_new_shape = [&](const GraphNode& node) {
      return std::any_of(
          node.operands.begin(), node.operands.end(), [&](const GraphNode::Operand& operand) {
            return !shapes_before.contains(WithoutLayout(after_.nodes[operand.node].shape));
          });
    };
    std::vector<bool> taken(surplus_before_.size(), false);
    std::vector<GraphDifference> changed, structure;
    for (int index : surplus_after_) {
      const GraphNode& node = after_.nodes[index];
      if (reads_new_shape(node)) continue;
      if (const int k = Counterpart(node, taken); k >= 0) {
        taken[k] = true;
        GraphDifference d =
            CompareNodes(before_.nodes[surplus_before_[k]], node, /*partitioned=*/true);
        d.before_index = surplus_before_[k], d.node_index = index;
        // A number, or an op that reads only numbers, often follows from a shape (a mean's 1/n).
        d.follows = IsConstant(node) || ReadsConstantsOnly(node);
        changed.push_back(std::move(d));
      } else if (!IsConstant(node) && !ReadsConstantsOnly(node)) {
        structure.push_back({.type = ReasonType::kOpChange,
                             .node = node.op,
                             .after = fmt::format("{} {}", node.op, WithoutLayout(node.shape)),
                             .node_index = index});
      }
    }
    std::stable_sort(
        changed.begin(), changed.end(),
        [](const GraphDifference& a, const GraphDifference& b) { return a.follows < b.follows; });
    // New instructions beside a changed one mostly result from the change, because XLA simplifies
    // or fuses differently.
    const bool certain = !diff_.origins.empty() || (!changed.empty() && !changed.front().follows);
    if (structure.empty() && !certain) {
      for (size_t k = 0; k < surplus_before_.size() && structure.empty(); ++k) {
        const GraphNode& node = before_.nodes[surplus_before_[k]];
        if (taken[k] || IsConstant(node)) continue;
        structure.push_back({.type = ReasonType::kOpChange,
                             .node = node.op,
                             .before = fmt::format("{} {}", node.op, WithoutLayout(node.shape)),
                             .before_index = surplus_before_[k]});
      }
    }
    if (structure.size() > 1) structure.resize(1);
    auto add = [&](std::vector<GraphDifference>& from) {
      for (GraphDifference& d : from) diff_.origins.push_back(std::move(d));
    };
    if (certain && !inputs_differ_) {
      add(changed), add(structure);
    } else {
      add(structure), add(changed);
    }
    if (diff_.origins.empty()) FirstInstruction();
  }

  // Returns whether the results have the same sizes in another order, such as those of a product
  // and of its gradient.
  static bool IsTransposed(const GraphNode& a, const GraphNode& b) {
    const std::optional<XlaShape> one = XlaShape::Parse(a.shape), other = XlaShape::Parse(b.shape);
    return one && other && one->dimensions() != other->dimensions() &&
           std::ranges::is_permutation(one->dimensions(), other->dimensions());
  }

  // Returns the index in surplus_before_ of the instruction that a new one most likely replaces:
  // the same op from the same place in the code, or else the same op. Returns -1 if there is none.
  int Counterpart(const GraphNode& node, const std::vector<bool>& taken) const {
    int best = -1;
    for (size_t k = 0; k < surplus_before_.size(); ++k) {
      const GraphNode& other = before_.nodes[surplus_before_[k]];
      if (taken[k] || other.op != node.op || IsTransposed(node, other)) continue;
      if (other.location == node.location) return static_cast<int>(k);
      if (best < 0) best = static_cast<int>(k);
    }
    return best;
  }

  // Reports the first instruction that differs, because all of them read new shapes. A loop
  // surrounds such a change.
  void FirstInstruction() {
    const bool after = !surplus_after_.empty();
    const GraphNode& node =
        after ? after_.nodes[surplus_after_.front()] : before_.nodes[surplus_before_.front()];
    diff_.origins.push_back({.type = ReasonType::kOpChange,
                             .node = node.op,
                             .before = after ? "" : node.op,
                             .after = after ? node.op : "",
                             .node_index = after ? surplus_after_.front() : -1,
                             .before_index = after ? -1 : surplus_before_.front()});
  }

  bool ReadsConstantsOnly(const GraphNode& node) const {
    return !node.operands.empty() && std::all_of(node.operands.begin(), node.operands.end(),
                                                 [&](const GraphNode::Operand& operand) {
                                                   return IsConstant(after_.nodes[operand.node]);
                                                 });
  }

  // Finds other results of the same instructions.
  void Results() {
    auto result = [](const PrintedGraph& graph) -> const GraphNode* {
      for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        if (node->computation.empty() && node->root) return &*node;
      }
      return nullptr;
    };
    const GraphNode *a = result(before_), *b = result(after_);
    if (!a || !b || !a->Is(OpKind::kTuple) || !b->Is(OpKind::kTuple) ||
        a->operands.size() == b->operands.size())
      return;
    diff_.origins.push_back({.type = ReasonType::kLiveTensorsChange,
                             .node = b->op,
                             .before = ResultsText(int64_t(a->operands.size())),
                             .after = ResultsText(int64_t(b->operands.size()))});
    ++diff_.differing_nodes;
  }

  const PrintedGraph &before_, &after_;
  std::vector<int> inputs_before_, inputs_after_, surplus_before_, surplus_after_;
  bool inputs_differ_ = false;
  NewStateIs new_state_;
  GraphDiff diff_;
};

}  // namespace

GraphDiff DiffOptimized(const PrintedGraph& before, const PrintedGraph& after,
                        NewStateIs new_state) {
  return OptimizedDiff(before, after, new_state).Run();
}

}  // namespace xlaprof

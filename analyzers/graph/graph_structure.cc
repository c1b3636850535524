// Finds how the structure of two graphs differs: nodes that only one of them has, other results, or
// values that are read elsewhere.
#include "analyzers/graph/graph_diff_internal.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/graph/loop_count.h"
#include "analyzers/policy.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Returns the kind of each node, by place.
std::vector<uint64_t> KindsOf(const GraphListing& listing) {
  std::vector<uint64_t> kinds;
  kinds.reserve(listing.keys.size());
  for (const AlignKey& key : listing.keys) kinds.push_back(key.kind);
  return kinds;
}

class StructureDiff {
 public:
  StructureDiff(const AlignedGraphs& graphs, NewStateIs new_state)
      : before_(graphs.before),
        after_(graphs.after),
        match_(graphs.match),
        nothing_changed_(std::ranges::count(graphs.changed, true) == 0),
        new_state_(new_state) {}

  std::optional<GraphDifference> Find() const {
    std::vector<int> added, removed;
    for (size_t j = 0; j < after_.nodes.size(); ++j) {
      if (match_.after_to_before[j] < 0) added.push_back(static_cast<int>(j));
    }
    for (size_t i = 0; i < before_.nodes.size(); ++i) {
      if (match_.before_to_after[i] < 0) removed.push_back(static_cast<int>(i));
    }
    if (added.empty() && removed.empty()) return Rewired();

    if (auto shared = SharedInputs(added, removed)) return shared;
    if (auto number = ScalarOrInput(added, removed)) return number;
    if (auto number = NumberPatternChange(*before_.graph, *after_.graph)) return number;
    if (auto part = WholeInsteadOfPart(added, removed)) return part;
    if (new_state_ == NewStateIs::kPossible &&
        !NewStateInputs(*before_.graph, *after_.graph, /*only_state=*/true).empty())
      return NewState(added, removed);
    if (auto loop = LoopChange(added, removed)) return loop;
    if (nothing_changed_ && before_.roots != after_.roots && (removed.empty() || added.empty()) &&
        OnlyFeedsResults(added, removed)) {
      GraphDifference d{.type = ReasonType::kLiveTensorsChange,
                        .before = ResultsText(before_.roots),
                        .after = ResultsText(after_.roots)};
      SetLastNode(&d, removed, added);
      return d;
    }
    if (auto state = NewState(added, removed)) return state;
    return OpChange(added, removed);
  }

 private:
  // Returns a parameter_sharing_change if the graphs only have other numbers of inputs.
  std::optional<GraphDifference> SharedInputs(const std::vector<int>& added,
                                              const std::vector<int>& removed) const {
    auto all_inputs = [](const GraphListing& listing, const std::vector<int>& places) {
      return std::ranges::all_of(places, [&](int p) { return IsInput(listing.Node(p)); });
    };
    if (!nothing_changed_ || before_.inputs == after_.inputs || !all_inputs(after_, added) ||
        !all_inputs(before_, removed))
      return std::nullopt;
    GraphDifference d{.type = ReasonType::kParameterSharingChange,
                      .before = fmt::format("{} inputs", before_.inputs),
                      .after = fmt::format("{} inputs", after_.inputs),
                      .is_input = true};
    d.node = added.empty() ? before_.Node(removed.front()).op : after_.Node(added.front()).op;
    if (!added.empty()) d.node_index = after_.nodes[added.front()];
    if (added.empty()) d.before_index = before_.nodes[removed.front()];
    // Scalars are alike, so the alignment does not tell which of them is shared. Its place does.
    if (const int lost = LostScalar(*before_.graph, *after_.graph); added.empty() && lost >= 0)
      d.before_index = lost;
    if (const int gained = LostScalar(*after_.graph, *before_.graph);
        removed.empty() && gained >= 0)
      d.node_index = gained;
    return d;
  }

  // Returns the change of a bound if only one graph takes a part of a tensor, and in the other the
  // same op reads the whole tensor. No op is recorded for a part that is the whole.
  std::optional<GraphDifference> WholeInsteadOfPart(const std::vector<int>& added,
                                                    const std::vector<int>& removed) const {
    const bool is_in_after = !added.empty();
    const GraphListing &with = is_in_after ? after_ : before_,
                       &without = is_in_after ? before_ : after_;
    const std::vector<int>& matches = is_in_after ? match_.after_to_before : match_.before_to_after;
    for (const int part : is_in_after ? added : removed) {
      const GraphNode& node = with.Node(part);
      if (IsInput(node) || IsConstant(node)) continue;
      if (!node.Has(OpTrait::kPart) || node.operands.size() != 1) return std::nullopt;
      const int whole = with.place[node.operands[0].node];
      if (whole < 0 || matches[whole] < 0 || !IsBypassed(with, without, matches, part, whole))
        return std::nullopt;
      const std::string sizes[] = {WithoutLayout(node.shape),
                                   WithoutLayout(with.Node(whole).shape)};
      GraphDifference d{.type = ReasonType::kConstantChange,
                        .node = node.op,
                        .before = sizes[is_in_after ? 1 : 0],
                        .after = sizes[is_in_after ? 0 : 1],
                        .resized = true};
      (is_in_after ? d.node_index : d.before_index) = with.nodes[part];
      return d;
    }
    return std::nullopt;
  }

  // Returns whether the user of `part` reads `whole` in the other graph.
  static bool IsBypassed(const GraphListing& with, const GraphListing& without,
                         const std::vector<int>& matches, int part, int whole) {
    const auto reads = [](const GraphListing& listing, int user, int place) {
      return std::ranges::any_of(listing.Node(user).operands, [&](const auto& operand) {
        return operand.node == listing.nodes[place];
      });
    };
    for (size_t user = 0; user < with.nodes.size(); ++user) {
      if (matches[user] >= 0 && reads(with, int(user), part) &&
          reads(without, matches[user], matches[whole]))
        return true;
    }
    return false;
  }

  // Returns the change if tensors that the older graph makes are inputs of the newer one.
  std::optional<GraphDifference> NewState(const std::vector<int>& added,
                                          const std::vector<int>& removed) const {
    if (new_state_ == NewStateIs::kImpossible) return std::nullopt;
    const std::vector<int> state = NewStateInputs(*before_.graph, *after_.graph);
    if (state.empty() && !MakesState(added, removed)) return std::nullopt;
    GraphDifference d = OpChange(added, removed);
    d.is_new_state = true;
    int shown = -1;  // a place of the new inputs, at best one that the optimizer recorded
    for (const int place : added) {
      const GraphNode& node = after_.Node(place);
      if (IsInput(node) && !IsScalar(node) &&
          (shown < 0 || (IsOfOptimizer(node) && !IsOfOptimizer(after_.Node(shown)))))
        shown = place;
      d.is_of_optimizer |= IsOfOptimizer(node);
      for (const GraphNode::Operand& operand : node.operands)
        d.is_of_optimizer |= IsOfOptimizer(after_.graph->nodes[operand.node]);
    }
    if (shown >= 0) d.node = after_.Node(shown).op, d.node_index = after_.nodes[shown];
    for (const int place : removed) d.is_of_optimizer |= IsOfOptimizer(before_.Node(place));
    return d;
  }

  // Returns whether most new inputs are tensors that the older graph created by filling, as it
  // creates the state of an optimizer.
  bool MakesState(const std::vector<int>& added, const std::vector<int>& removed) const {
    absl::flat_hash_map<std::string, int64_t> filled;  // by shape
    for (const int place : removed) {
      const GraphNode& node = before_.Node(place);
      const bool is_fill =
          !node.operands.empty() && std::ranges::all_of(node.operands, [&](const auto& operand) {
            return IsConstant(before_.graph->nodes[operand.node]);
          });
      if (is_fill) ++filled[WithoutLayout(node.shape)];
    }
    int64_t inputs = 0, made = 0;
    for (const int place : added) {
      const std::optional<XlaShape> shape = XlaShape::Parse(after_.Node(place).shape);
      if (!IsInput(after_.Node(place)) || !shape || shape->rank() == 0) continue;
      ++inputs;
      if (filled[WithoutLayout(after_.Node(place).shape)]-- > 0) ++made;
    }
    return inputs >= policy::kNotOnce &&
           double(made) >= policy::kMadeStateShare * double(inputs);
  }

  // Compares graphs with the same nodes in the same order, which may have other results or
  // operands.
  std::optional<GraphDifference> Rewired() const {
    for (size_t j = 0; j < after_.nodes.size(); ++j) {
      const int place = static_cast<int>(j), i = match_.after_to_before[j];
      const GraphNode &a = before_.Node(i), &b = after_.Node(place);
      bool same = a.operands.size() == b.operands.size();
      for (size_t k = 0; same && k < a.operands.size(); ++k) {
        const int pa = before_.place[a.operands[k].node], pb = after_.place[b.operands[k].node];
        same = a.operands[k].output == b.operands[k].output &&
               (pa < 0 || pb < 0 ? pa == pb : match_.after_to_before[pb] == pa);
      }
      if (same) continue;
      return GraphDifference{.type = ReasonType::kOpChange,
                             .node = b.op,
                             .node_index = after_.nodes[place],
                             .before_index = before_.nodes[i],
                             .has_same_ops = true};
    }
    for (size_t j = 0; j < after_.nodes.size(); ++j) {
      const int place = static_cast<int>(j), i = match_.after_to_before[j];
      if (before_.root[i] == after_.root[place]) continue;
      return GraphDifference{.type = ReasonType::kLiveTensorsChange,
                             .node = after_.Node(place).op,
                             .before = ResultsText(before_.roots),
                             .after = ResultsText(after_.roots),
                             .node_index = after_.nodes[place],
                             .before_index = before_.nodes[i]};
    }
    return std::nullopt;
  }

  // Returns the change if one graph repeats a part of the other more often. The repetition is found
  // by counting ops instead of aligning them.
  std::optional<GraphDifference> RepeatChange(bool longer_is_after,
                                              const std::vector<int>& extra_places) const {
    const GraphListing &longer = longer_is_after ? after_ : before_,
                       &shorter = longer_is_after ? before_ : after_;
    const std::optional<RepeatCount> count = FindRepeatCount(KindsOf(longer), KindsOf(shorter));
    if (!count) return std::nullopt;
    GraphDifference d{.type = ReasonType::kLoopCountChange};
    d.before = TurnsText(longer_is_after ? count->shorter_turns : count->longer_turns);
    d.after = TurnsText(longer_is_after ? count->longer_turns : count->shorter_turns);
    NameOps(extra_places, longer_is_after, &d);
    return d;
  }

  // Returns a loop_count_change if one graph repeats a part of the other more often.
  std::optional<GraphDifference> LoopChange(const std::vector<int>& added,
                                            const std::vector<int>& removed) const {
    // The alignment of a repeated part may also leave a node or two unmatched at its ends.
    const bool longer_is_after = added.size() > removed.size();
    const GraphListing& longer = longer_is_after ? after_ : before_;
    const std::vector<int>& extra_places = longer_is_after ? added : removed;
    if (extra_places.empty()) return std::nullopt;
    if (10 * std::min(added.size(), removed.size()) > extra_places.size())
      return RepeatChange(longer_is_after, extra_places);
    const std::vector<uint64_t> ops = KindsOf(longer);
    const auto extra = std::make_unique<bool[]>(ops.size());
    bool computes = false;
    for (int place : extra_places) {
      extra[place] = true;
      const GraphNode& node = longer.Node(place);
      computes |= !IsInput(node) && !IsConstant(node);
    }
    if (!computes) return std::nullopt;
    const auto loop = FindLoopCount(ops, std::span<const bool>(extra.get(), ops.size()));
    if (!loop) return RepeatChange(longer_is_after, extra_places);
    GraphDifference d{.type = ReasonType::kLoopCountChange};
    const int64_t shorter = loop->shorter_turns, more = loop->longer_turns;
    d.before = TurnsText(longer_is_after ? shorter : more);
    d.after = TurnsText(longer_is_after ? more : shorter);
    std::vector<int> body(loop->body_length);
    std::iota(body.begin(), body.end(), loop->body_begin);
    NameOps(body, longer_is_after, &d);
    return d;
  }

  // Sets the node of a difference to the different ops at `places` of one graph, separated by commas.
  // Inputs and constants are left out, and a long list is cut.
  void NameOps(std::span<const int> places, bool is_after, GraphDifference* d) const {
    const GraphListing& listing = is_after ? after_ : before_;
    absl::flat_hash_set<std::string_view> named;
    for (const int place : places) {
      const GraphNode& node = listing.Node(place);
      if (IsInput(node) || IsConstant(node) || !named.insert(node.op).second) continue;
      if (d->node.empty()) (is_after ? d->node_index : d->before_index) = listing.nodes[place];
      if (d->node.size() > 60) {
        d->node += ", ...";
        break;
      }
      d->node += (d->node.empty() ? "" : ", ") + node.op;
    }
  }

  // Returns whether no common node reads an extra one, and each extra node that nothing reads is a
  // result.
  bool OnlyFeedsResults(const std::vector<int>& added, const std::vector<int>& removed) const {
    const bool grew = removed.empty();
    const GraphListing& listing = grew ? after_ : before_;
    std::vector<bool> extra(listing.nodes.size(), false);
    for (int place : grew ? added : removed) extra[place] = true;
    for (size_t p = 0; p < listing.nodes.size(); ++p) {
      if (extra[p] && !listing.used[p] && !listing.root[p]) return false;
      if (extra[p]) continue;
      for (const GraphNode::Operand& operand : listing.Node(static_cast<int>(p)).operands) {
        const int place = listing.place[operand.node];
        if (place >= 0 && extra[place]) return false;
      }
    }
    return true;
  }

  // Sets the node of a difference to the last added node, or to the last removed one if none was
  // added.
  void SetLastNode(GraphDifference* d, const std::vector<int>& removed,
                   const std::vector<int>& added) const {
    if (!added.empty()) {
      d->node = after_.Node(added.back()).op;
      d->node_index = after_.nodes[added.back()];
    } else {
      d->node = before_.Node(removed.back()).op;
      d->before_index = before_.nodes[removed.back()];
    }
  }

  // Leaves the places of nodes of which the graphs have different numbers. The alignment does not
  // match nodes in another order, although both graphs have them.
  void LeaveUnequal(std::vector<int>& added, std::vector<int>& removed) const {
    absl::flat_hash_map<uint64_t, int64_t> more;  // in `after`
    for (size_t p = 0; p < after_.nodes.size(); ++p) ++more[ContentHash(after_.Node(int(p)))];
    for (size_t p = 0; p < before_.nodes.size(); ++p) --more[ContentHash(before_.Node(int(p)))];
    std::erase_if(added, [&](int p) { return more[ContentHash(after_.Node(p))] <= 0; });
    std::erase_if(removed, [&](int p) { return more[ContentHash(before_.Node(p))] >= 0; });
  }

  // Returns how many nodes with the content of `node` a graph has.
  static int64_t CountOf(const GraphListing& listing, const GraphNode& node) {
    const uint64_t content = ContentHash(node);
    return std::ranges::count_if(
        listing.nodes, [&](int at) { return ContentHash(listing.graph->nodes[at]) == content; });
  }

  // Returns an op_change that names the first added node, and the removed one that it replaces.
  GraphDifference OpChange(std::vector<int> added, std::vector<int> removed) const {
    GraphDifference d{.type = ReasonType::kOpChange};
    auto [a, b] = FirstReplaced(added, removed);
    if (a < 0 || b < 0) {
      const std::pair first(a, b);
      LeaveUnequal(added, removed);
      if (added.empty() && removed.empty()) {
        d.has_same_ops = true;
        SetNodes(&d, first.first, first.second);
        return d;
      }
      std::tie(a, b) = FirstReplaced(added, removed);
    }
    if (a >= 0 && b >= 0 && before_.Node(a).op == after_.Node(b).op) {  // the rank changed
      d = CompareNodes(before_.Node(a), after_.Node(b));
      SetNodes(&d, a, b);
      return d;
    }
    SetNodes(&d, a, b);
    auto text = [](const GraphNode& node) {
      return fmt::format("{} {}", node.op, WithoutLayout(node.shape));
    };
    if (a >= 0) d.before = text(before_.Node(a));
    if (b >= 0) d.after = text(after_.Node(b));
    const GraphNode& node = b >= 0 ? after_.Node(b) : before_.Node(a);
    const int64_t count_before = CountOf(before_, node), count_after = CountOf(after_, node);
    if ((a < 0 || b < 0) && count_before > 0 && count_after > 0) {
      d.before = fmt::format("{} × {}", count_before, text(node));
      d.after = fmt::format("{} × {}", count_after, text(node));
    }
    return d;
  }

  // Returns the places of a removed node and of the added node that replaces it; -1 for one without
  // the other. A node replaces the one between the same neighbours.
  std::pair<int, int> FirstReplaced(const std::vector<int>& added,
                                    const std::vector<int>& removed) const {
    const int b = added.empty() ? -1 : added.front();
    const int previous = b > 0 ? match_.after_to_before[b - 1] : -1;
    for (const int place : removed) {
      if (b < 0 || place == previous + 1) return {place, b};
    }
    return {-1, b};
  }

  // Sets the nodes of a difference; -1: only the other graph has one.
  void SetNodes(GraphDifference* d, int removed, int added) const {
    if (removed >= 0) d->before_index = before_.nodes[removed];
    if (added >= 0) d->node_index = after_.nodes[added];
    d->node = added >= 0 ? after_.Node(added).op : before_.Node(removed).op;
  }

  struct Scalars {
    std::vector<int> constants, inputs;  // places in a listing
    bool has_others = false;             // other nodes than scalars
  };
  static Scalars ScalarsAt(const GraphListing& listing, const std::vector<int>& places) {
    Scalars scalars;
    for (const int place : places) {
      const GraphNode& node = listing.Node(place);
      if (!IsScalar(node) || (!IsConstant(node) && !IsInput(node)))
        scalars.has_others = true;
      else
        (IsConstant(node) ? scalars.constants : scalars.inputs).push_back(place);
    }
    return scalars;
  }

  // Returns a constant_change if numbers are constants in one graph and inputs of the other, and
  // nothing else differs. torch_xla embeds 0 and 1 as constants and passes other numbers as
  // inputs; equal ones are one input, so the counts may differ.
  std::optional<GraphDifference> ScalarOrInput(const std::vector<int>& added,
                                               const std::vector<int>& removed) const {
    const Scalars old = ScalarsAt(before_, removed), now = ScalarsAt(after_, added);
    if (old.has_others || now.has_others) return std::nullopt;
    // If there are as many constants as before, other numbers of a list are 0 or 1.
    const bool to_input = old.constants.size() > now.constants.size();
    const std::vector<int>&inputs = to_input ? now.inputs : old.inputs,
          &constants = to_input ? old.constants : now.constants;
    if (constants.empty()) return std::nullopt;
    if (to_input && !inputs.empty() && IsCounter(inputs.front())) return std::nullopt;
    const PrintedGraph &with_input = to_input ? *after_.graph : *before_.graph,
                       &with_constant = to_input ? *before_.graph : *after_.graph;
    const GraphListing &input_listing = to_input ? after_ : before_,
                       &constant_listing = to_input ? before_ : after_;
    int input = LostScalar(with_input, with_constant);
    if (input < 0 && !inputs.empty()) input = input_listing.nodes[inputs.front()];
    // An input that other numbers of the same line share stays when one of them becomes a constant.
    if (input < 0)
      input = ScalarInputAt(with_input, constant_listing.Node(constants.front()).location);
    if (input < 0) return std::nullopt;
    int constant = ConstantAt(with_constant, with_input.nodes[input].location);
    if (constant < 0) constant = constant_listing.nodes[constants.front()];
    GraphDifference d{
        .type = ReasonType::kConstantChange,
        .node_index = to_input ? input : constant,
        .before_index = to_input ? constant : input,
        .is_scalar_or_input = true,
        .has_equal_scalar = HasEqualScalar(with_input, with_constant.nodes[constant])};
    d.node = after_.graph->nodes[d.node_index].op;
    auto text = [](const GraphNode& node) {
      return fmt::format("{} {}", node.op, WithoutLayout(node.shape));
    };
    d.before = text(before_.graph->nodes[d.before_index]),
    d.after = text(after_.graph->nodes[d.node_index]);
    return d;
  }

  // Returns whether the input is a counter: its first reader is its own update, a result. Such a
  // number is a constant only in the first step.
  bool IsCounter(int input) const {
    for (size_t p = 0; p < after_.nodes.size(); ++p) {
      const GraphNode& user = after_.Node(static_cast<int>(p));
      if (user.operands.empty() || user.operands[0].node != after_.nodes[input]) continue;
      if (after_.root[p] && WithoutLayout(user.shape) == WithoutLayout(after_.Node(input).shape))
        return true;
    }
    return false;
  }

  const GraphListing &before_, &after_;
  const Alignment& match_;
  const bool nothing_changed_;  // all matched nodes have the same content
  const NewStateIs new_state_;
};

}  // namespace

std::optional<GraphDifference> StructureChange(const AlignedGraphs& graphs, NewStateIs new_state) {
  return StructureDiff(graphs, new_state).Find();
}

}  // namespace xlaprof

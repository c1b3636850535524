// Implements Diff by aligning two graphs node by node. A changed node is an origin if its inputs
// have the same shapes in both graphs. Otherwise its change is a consequence.
#include "analyzers/graph/graph_diff.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "analyzers/graph/graph_align.h"
#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_diff_internal.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/graph/loop_count.h"
#include "core/base/xla_shape.h"

namespace xlaprof {
namespace {

// A listing without the tuple that gathers the results. The tuple's operands are the roots.
struct Listing {
  std::vector<int> nodes;        // index in the graph
  std::vector<int> place;        // place in `nodes` of each node of the graph; -1: left out
  std::vector<bool> root, used;  // by place: it is a result; another node reads it
  std::vector<AlignKey> keys;
  int64_t inputs = 0, roots = 0;
};

Listing MakeListing(const PrintedGraph& graph) {
  Listing listing;
  const int n = static_cast<int>(graph.nodes.size());
  listing.place.assign(n, -1);
  std::vector<bool> root(n, false);
  int result_tuple = -1;
  for (int i = 0; i < n; ++i) {
    const GraphNode& node = graph.nodes[i];
    root[i] = node.root.has_value();
    if (node.computation.empty() && node.op == "tuple" && (node.root || i == n - 1))
      result_tuple = i;
  }
  if (result_tuple >= 0) {
    for (const GraphNode::Operand& operand : graph.nodes[result_tuple].operands)
      root[operand.node] = true;
  }
  for (int i = 0; i < n; ++i) {
    const GraphNode& node = graph.nodes[i];
    if (i == result_tuple || node.op.empty()) continue;
    listing.place[i] = static_cast<int>(listing.nodes.size());
    listing.nodes.push_back(i);
    listing.root.push_back(root[i]);
    listing.inputs += IsInput(node);
    listing.roots += root[i];
    listing.keys.push_back({ContentHash(node), KindHash(node)});
  }
  listing.used.assign(listing.nodes.size(), false);
  for (int i : listing.nodes) {
    for (const GraphNode::Operand& operand : graph.nodes[i].operands) {
      if (listing.place[operand.node] >= 0) listing.used[listing.place[operand.node]] = true;
    }
  }
  return listing;
}

// Returns the kind of each node, by place.
std::vector<uint64_t> KindsOf(const Listing& listing) {
  std::vector<uint64_t> kinds;
  kinds.reserve(listing.keys.size());
  for (const AlignKey& key : listing.keys) kinds.push_back(key.kind);
  return kinds;
}

class ListingDiff {
 public:
  ListingDiff(const PrintedGraph& before, const PrintedGraph& after)
      : before_(before),
        after_(after),
        before_listing_(MakeListing(before)),
        after_listing_(MakeListing(after)),
        match_(Align(before_listing_.keys, after_listing_.keys)) {}

  GraphDiff Run() {
    FindChangedNodes();
    GraphDiff diff;
    diff.differing_nodes = static_cast<int64_t>(
        std::count(changed_.begin(), changed_.end(), true) +
        std::count(match_.after_to_before.begin(), match_.after_to_before.end(), -1) +
        std::count(match_.before_to_after.begin(), match_.before_to_after.end(), -1));
    std::optional<GraphDifference> structure = Structure();
    const bool inputs_only = structure && structure->type == ReasonType::kParameterSharingChange;
    if (!inputs_only) AttributeOrigins(&diff.origins);
    std::stable_sort(diff.origins.begin(), diff.origins.end(), [](const auto& x, const auto& y) {
      auto rank = [](const GraphDifference& d) { return d.is_input ? 0 : d.follows ? 2 : 1; };
      return rank(x) < rank(y);
    });
    if (structure) {
      // Changed inputs explain new ops, so they come first. Added or removed ops make the alignment
      // of the others doubtful.
      auto place = diff.origins.begin();
      if (before_listing_.inputs == after_listing_.inputs) {
        while (place != diff.origins.end() && place->is_input) ++place;
      }
      diff.origins.insert(place, *structure);
    }
    if (diff.origins.size() > kMaxOrigins) diff.origins.resize(kMaxOrigins);
    return diff;
  }

 private:
  const GraphNode& BeforeNode(int place) const {
    return before_.nodes[before_listing_.nodes[place]];
  }
  const GraphNode& AfterNode(int place) const { return after_.nodes[after_listing_.nodes[place]]; }

  void FindChangedNodes() {
    const size_t n = after_listing_.nodes.size();
    changed_.assign(n, false);
    constant_.assign(n, false);
    for (size_t j = 0; j < n; ++j) {
      const int i = match_.after_to_before[j];
      changed_[j] = i >= 0 && before_listing_.keys[i].content != after_listing_.keys[j].content;
      const GraphNode& node = AfterNode(static_cast<int>(j));
      constant_[j] = IsConstant(node) || (!IsInput(node) && !node.operands.empty());
      for (const GraphNode::Operand& operand : node.operands) {
        const int place = after_listing_.place[operand.node];
        if (place >= 0 && !constant_[place]) constant_[j] = false;
      }
    }
  }

  bool ReadsTheSameShapes(const GraphNode& a, const GraphNode& b) const {
    return std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                      [&](const GraphNode::Operand& x, const GraphNode::Operand& y) {
                        return WithoutLayout(before_.nodes[x.node].shape) ==
                               WithoutLayout(after_.nodes[y.node].shape);
                      });
  }

  void AttributeOrigins(std::vector<GraphDifference>* origins) const {
    for (size_t j = 0; j < after_listing_.nodes.size(); ++j) {
      if (!changed_[j]) continue;
      const int place = static_cast<int>(j), i = match_.after_to_before[j];
      if (!ReadsTheSameShapes(BeforeNode(i), AfterNode(place))) continue;
      GraphDifference difference = CompareNodes(BeforeNode(i), AfterNode(place));
      difference.before_index = before_listing_.nodes[i];
      difference.node_index = after_listing_.nodes[place];
      difference.follows |= constant_[j];
      origins->push_back(std::move(difference));
    }
  }

  // Finds at most one difference in structure: added or removed nodes, other results, or values
  // that are read elsewhere.
  std::optional<GraphDifference> Structure() const {
    std::vector<int> added, removed;
    for (size_t j = 0; j < after_listing_.nodes.size(); ++j) {
      if (match_.after_to_before[j] < 0) added.push_back(static_cast<int>(j));
    }
    for (size_t i = 0; i < before_listing_.nodes.size(); ++i) {
      if (match_.before_to_after[i] < 0) removed.push_back(static_cast<int>(i));
    }
    if (added.empty() && removed.empty()) return Rewired();

    const bool nothing_changed = std::count(changed_.begin(), changed_.end(), true) == 0;
    auto inputs = [](const std::vector<int>& places, auto&& node) {
      return std::all_of(places.begin(), places.end(), [&](int p) { return IsInput(node(p)); });
    };
    if (nothing_changed && before_listing_.inputs != after_listing_.inputs &&
        inputs(added, [&](int p) { return AfterNode(p); }) &&
        inputs(removed, [&](int p) { return BeforeNode(p); })) {
      GraphDifference d{.type = ReasonType::kParameterSharingChange,
                        .before = fmt::format("{} inputs", before_listing_.inputs),
                        .after = fmt::format("{} inputs", after_listing_.inputs),
                        .is_input = true};
      d.node = added.empty() ? BeforeNode(removed.front()).op : AfterNode(added.front()).op;
      if (!added.empty()) d.node_index = after_listing_.nodes[added.front()];
      if (added.empty()) d.before_index = before_listing_.nodes[removed.front()];
      // Scalars are alike, so the alignment does not tell which of them is shared. Its place does.
      if (const int lost = LostScalar(before_, after_); added.empty() && lost >= 0)
        d.before_index = lost;
      if (const int gained = LostScalar(after_, before_); removed.empty() && gained >= 0)
        d.node_index = gained;
      return d;
    }
    if (auto number = ScalarOrInput(added, removed)) return number;
    if (!NewStateInputs(before_, after_, /*only_state=*/true).empty())
      return NewState(added, removed);
    if (auto loop = LoopChange(added, removed)) return loop;
    if (nothing_changed && before_listing_.roots != after_listing_.roots &&
        (removed.empty() || added.empty()) && OnlyFeedsResults(added, removed)) {
      GraphDifference d{.type = ReasonType::kLiveTensorsChange,
                        .before = fmt::format("{} results", before_listing_.roots),
                        .after = fmt::format("{} results", after_listing_.roots)};
      SetLastNode(&d, removed, added);
      return d;
    }
    if (auto state = NewState(added, removed)) return state;
    return OpChange(added, removed);
  }

  // Returns the change if tensors that the older graph makes are inputs of the newer one.
  std::optional<GraphDifference> NewState(const std::vector<int>& added,
                                          const std::vector<int>& removed) const {
    const std::vector<int> state = NewStateInputs(before_, after_);
    if (state.empty() && !MakesState(added, removed)) return std::nullopt;
    GraphDifference d = OpChange(added, removed);
    d.is_new_state = true;
    int shown = -1;  // a place of the new inputs, at best one that the optimizer recorded
    for (const int place : added) {
      const GraphNode& node = AfterNode(place);
      if (IsInput(node) && !IsScalar(node) &&
          (shown < 0 || (IsOfOptimizer(node) && !IsOfOptimizer(AfterNode(shown)))))
        shown = place;
      d.is_of_optimizer |= IsOfOptimizer(node);
      for (const GraphNode::Operand& operand : node.operands)
        d.is_of_optimizer |= IsOfOptimizer(after_.nodes[operand.node]);
    }
    if (shown >= 0) d.node = AfterNode(shown).op, d.node_index = after_listing_.nodes[shown];
    for (const int place : removed) d.is_of_optimizer |= IsOfOptimizer(BeforeNode(place));
    return d;
  }

  // Returns whether most new inputs are tensors that the older graph created by filling, as it
  // creates the state of an optimizer.
  bool MakesState(const std::vector<int>& added, const std::vector<int>& removed) const {
    absl::flat_hash_map<std::string, int64_t> filled;  // by shape
    for (const int place : removed) {
      const GraphNode& node = BeforeNode(place);
      const bool is_fill =
          !node.operands.empty() && std::ranges::all_of(node.operands, [&](const auto& operand) {
            return IsConstant(before_.nodes[operand.node]);
          });
      if (is_fill) ++filled[WithoutLayout(node.shape)];
    }
    int64_t inputs = 0, made = 0;
    for (const int place : added) {
      const std::optional<XlaShape> shape = XlaShape::Parse(AfterNode(place).shape);
      if (!IsInput(AfterNode(place)) || !shape || shape->rank() == 0) continue;
      ++inputs;
      if (filled[WithoutLayout(AfterNode(place).shape)]-- > 0) ++made;
    }
    return inputs >= 2 && 10 * made >= 8 * inputs;
  }

  // Compares graphs with the same nodes in the same order, which may have other results or
  // operands.
  std::optional<GraphDifference> Rewired() const {
    for (size_t j = 0; j < after_listing_.nodes.size(); ++j) {
      const int place = static_cast<int>(j), i = match_.after_to_before[j];
      const GraphNode &a = BeforeNode(i), &b = AfterNode(place);
      bool same = a.operands.size() == b.operands.size();
      for (size_t k = 0; same && k < a.operands.size(); ++k) {
        const int pa = before_listing_.place[a.operands[k].node],
                  pb = after_listing_.place[b.operands[k].node];
        same = a.operands[k].output == b.operands[k].output &&
               (pa < 0 || pb < 0 ? pa == pb : match_.after_to_before[pb] == pa);
      }
      if (same) continue;
      return GraphDifference{.type = ReasonType::kOpChange,
                             .node = b.op,
                             .before = "other operands",
                             .after = "operands",
                             .node_index = after_listing_.nodes[place],
                             .before_index = before_listing_.nodes[i]};
    }
    for (size_t j = 0; j < after_listing_.nodes.size(); ++j) {
      const int place = static_cast<int>(j), i = match_.after_to_before[j];
      if (before_listing_.root[i] == after_listing_.root[place]) continue;
      return GraphDifference{.type = ReasonType::kLiveTensorsChange,
                             .node = AfterNode(place).op,
                             .before = fmt::format("{} results", before_listing_.roots),
                             .after = fmt::format("{} results", after_listing_.roots),
                             .node_index = after_listing_.nodes[place],
                             .before_index = before_listing_.nodes[i]};
    }
    return std::nullopt;
  }

  // Returns the change if one graph repeats a part of the other more often. The repetition is found
  // by counting ops instead of aligning them.
  std::optional<GraphDifference> RepeatChange(bool longer_is_after,
                                              const std::vector<int>& extra_places) const {
    const std::optional<RepeatCount> count =
        FindRepeatCount(KindsOf(longer_is_after ? after_listing_ : before_listing_),
                        KindsOf(longer_is_after ? before_listing_ : after_listing_));
    if (!count) return std::nullopt;
    GraphDifference d{.type = ReasonType::kLoopCountChange};
    d.before =
        fmt::format("{} times", longer_is_after ? count->shorter_turns : count->longer_turns);
    d.after = fmt::format("{} times", longer_is_after ? count->longer_turns : count->shorter_turns);
    std::vector<int> first_places;  // of each op
    absl::flat_hash_set<std::string_view> named;
    for (const int place : extra_places) {
      const GraphNode& node = longer_is_after ? AfterNode(place) : BeforeNode(place);
      if (named.insert(node.op).second) first_places.push_back(place);
    }
    NameOps(first_places, longer_is_after, &d);
    return d;
  }

  std::optional<GraphDifference> LoopChange(const std::vector<int>& added,
                                            const std::vector<int>& removed) const {
    // The alignment of a repeated part may also leave a node or two unmatched at its ends.
    const bool longer_is_after = added.size() > removed.size();
    const Listing& longer = longer_is_after ? after_listing_ : before_listing_;
    const std::vector<int>& extra_places = longer_is_after ? added : removed;
    if (extra_places.empty()) return std::nullopt;
    if (10 * std::min(added.size(), removed.size()) > extra_places.size())
      return RepeatChange(longer_is_after, extra_places);
    const std::vector<uint64_t> ops = KindsOf(longer);
    const auto extra = std::make_unique<bool[]>(ops.size());
    bool computes = false;
    for (int place : extra_places) {
      extra[place] = true;
      const GraphNode& node = longer_is_after ? AfterNode(place) : BeforeNode(place);
      computes |= !IsInput(node) && !IsConstant(node);
    }
    if (!computes) return std::nullopt;
    const auto loop = FindLoopCount(ops, std::span<const bool>(extra.get(), ops.size()));
    if (!loop) return RepeatChange(longer_is_after, extra_places);
    GraphDifference d{.type = ReasonType::kLoopCountChange};
    const int64_t shorter = loop->shorter_turns, more = loop->longer_turns;
    d.before = fmt::format("{} times", longer_is_after ? shorter : more);
    d.after = fmt::format("{} times", longer_is_after ? more : shorter);
    std::vector<int> body(loop->body_length);
    std::iota(body.begin(), body.end(), loop->body_begin);
    NameOps(body, longer_is_after, &d);
    return d;
  }

  // Sets the node of a difference to the ops at `places` of one graph, separated by commas. Inputs
  // and constants are left out, and a long list is cut.
  void NameOps(std::span<const int> places, bool is_after, GraphDifference* d) const {
    for (const int place : places) {
      const GraphNode& node = is_after ? AfterNode(place) : BeforeNode(place);
      if (IsInput(node) || IsConstant(node)) continue;
      if (d->node.empty())
        (is_after ? d->node_index : d->before_index) =
            (is_after ? after_listing_ : before_listing_).nodes[place];
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
    const Listing& listing = grew ? after_listing_ : before_listing_;
    const PrintedGraph& graph = grew ? after_ : before_;
    std::vector<bool> extra(listing.nodes.size(), false);
    for (int place : grew ? added : removed) extra[place] = true;
    for (size_t p = 0; p < listing.nodes.size(); ++p) {
      if (extra[p] && !listing.used[p] && !listing.root[p]) return false;
      if (extra[p]) continue;
      for (const GraphNode::Operand& operand : graph.nodes[listing.nodes[p]].operands) {
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
      d->node = AfterNode(added.back()).op;
      d->node_index = after_listing_.nodes[added.back()];
    } else {
      d->node = BeforeNode(removed.back()).op;
      d->before_index = before_listing_.nodes[removed.back()];
    }
  }

  GraphDifference OpChange(const std::vector<int>& added, const std::vector<int>& removed) const {
    GraphDifference d{.type = ReasonType::kOpChange};
    auto text = [](const GraphNode& node) {
      return fmt::format("{} {}", node.op, WithoutLayout(node.shape));
    };
    // Picks the first added node, and the removed node between the same neighbours.
    const int b = added.empty() ? -1 : added.front();
    int a = -1;
    if (!removed.empty()) {
      const int previous = b > 0 ? match_.after_to_before[b - 1] : -1;
      for (int place : removed) {
        if (b < 0 || place == previous + 1) {
          a = place;
          break;
        }
      }
    }
    if (a >= 0 && b >= 0 && BeforeNode(a).op == AfterNode(b).op) {  // the rank changed
      d = CompareNodes(BeforeNode(a), AfterNode(b));
      d.before_index = before_listing_.nodes[a], d.node_index = after_listing_.nodes[b];
      return d;
    }
    if (a >= 0) d.before = text(BeforeNode(a)), d.before_index = before_listing_.nodes[a];
    if (b >= 0) d.after = text(AfterNode(b)), d.node_index = after_listing_.nodes[b];
    d.node = b >= 0 ? AfterNode(b).op : BeforeNode(a).op;
    return d;
  }

  // Returns a constant_change if numbers are constants in one graph and inputs of the other, and
  // nothing else differs. torch_xla embeds 0 and 1 as constants and passes other numbers as
  // inputs; equal ones are one input, so the counts may differ.
  std::optional<GraphDifference> ScalarOrInput(const std::vector<int>& added,
                                               const std::vector<int>& removed) const {
    auto all_are = [](const std::vector<int>& places, auto&& node, bool (*is)(const GraphNode&)) {
      return !places.empty() && std::ranges::all_of(places, [&](int place) {
        return is(node(place)) && IsScalar(node(place));
      });
    };
    auto before = [&](int place) -> const GraphNode& { return BeforeNode(place); };
    auto after = [&](int place) -> const GraphNode& { return AfterNode(place); };
    const bool to_input = all_are(removed, before, IsConstant) && all_are(added, after, IsInput),
               to_constant = all_are(removed, before, IsInput) && all_are(added, after, IsConstant);
    if (!to_input && !to_constant) return std::nullopt;
    if (to_input && IsCounter(added.front())) return std::nullopt;
    const PrintedGraph &with_input = to_input ? after_ : before_,
                       &with_constant = to_input ? before_ : after_;
    int input = LostScalar(with_input, with_constant);
    if (input < 0)
      input =
          to_input ? after_listing_.nodes[added.front()] : before_listing_.nodes[removed.front()];
    int constant = ConstantAt(with_constant, with_input.nodes[input].location);
    if (constant < 0)
      constant =
          to_input ? before_listing_.nodes[removed.front()] : after_listing_.nodes[added.front()];
    GraphDifference d{
        .type = ReasonType::kConstantChange,
        .node_index = to_input ? input : constant,
        .before_index = to_input ? constant : input,
        .is_scalar_or_input = true,
        .has_equal_scalar = HasEqualScalar(with_input, with_constant.nodes[constant])};
    d.node = after_.nodes[d.node_index].op;
    auto text = [](const GraphNode& node) {
      return fmt::format("{} {}", node.op, WithoutLayout(node.shape));
    };
    d.before = text(before_.nodes[d.before_index]), d.after = text(after_.nodes[d.node_index]);
    return d;
  }

  // Returns whether the input is a counter: its first reader is its own update, a result. Such a
  // number is a constant only in the first step.
  bool IsCounter(int input) const {
    for (size_t p = 0; p < after_listing_.nodes.size(); ++p) {
      const GraphNode& user = AfterNode(static_cast<int>(p));
      if (user.operands.empty() || user.operands[0].node != after_listing_.nodes[input]) continue;
      if (after_listing_.root[p] &&
          WithoutLayout(user.shape) == WithoutLayout(AfterNode(input).shape))
        return true;
    }
    return false;
  }

  const PrintedGraph &before_, &after_;
  const Listing before_listing_, after_listing_;
  const Alignment match_;
  std::vector<bool> changed_;   // by place in `after`: matched, but with another content
  std::vector<bool> constant_;  // by place in `after`: computed from constants only
};

}  // namespace

GraphDifference CompareNodes(const GraphNode& before, const GraphNode& after, bool partitioned) {
  GraphDifference d{.node = after.op, .is_input = IsInput(after)};
  const std::string shape_a = WithoutLayout(before.shape), shape_b = WithoutLayout(after.shape);
  const auto [attributes_a, attributes_b] =
      DifferingAttributes(before.attributes, after.attributes);
  d.before = shape_a, d.after = shape_b;
  d.resized = shape_a != shape_b;
  // A text that is not a shape is treated as an empty shape.
  const XlaShape parsed_a = XlaShape::Parse(shape_a).value_or(XlaShape()),
                 parsed_b = XlaShape::Parse(shape_b).value_or(XlaShape());
  const bool same_type = parsed_a.element_type() == parsed_b.element_type(),
             same_rank = parsed_a.rank() == parsed_b.rank();
  const bool types_only = parsed_a.dimensions() == parsed_b.dimensions() && !same_type;
  if (d.is_input) {
    d.type = types_only ? ReasonType::kDtypeChange : ReasonType::kShapeChange;
    const std::string sharding_a = AttributeOf("sharding", attributes_a),
                      sharding_b = AttributeOf("sharding", attributes_b);
    const bool shape_follows = partitioned && same_type && same_rank;
    if (sharding_a != sharding_b && (shape_a == shape_b || shape_follows)) {
      d.type = ReasonType::kShardingChange;
      d.before = sharding_a, d.after = sharding_b;
      return d;
    }
    if (shape_a == shape_b) {
      if (attributes_a.starts_with("weak_type") || attributes_b.starts_with("weak_type"))
        d.type = ReasonType::kDtypeChange;
      d.before += " " + attributes_a, d.after += " " + attributes_b;
    }
    if (!same_type && !same_rank) {
      d.type = ReasonType::kOpChange;  // a different input
      d.is_input = false;
      d.before = "input " + shape_a, d.after = "input " + shape_b;
    }
    return d;
  }
  if (types_only && !parsed_a.element_type().empty()) {
    d.type = ReasonType::kDtypeChange;
    return d;
  }
  // The parameter of a computation has the shape that its caller passes. Its number is an index.
  if (after.op == "parameter") {
    d.type = ReasonType::kShapeChange;
    d.follows = true;
    return d;
  }
  if (!same_rank && attributes_a == attributes_b) {
    d.type = ReasonType::kOpChange;  // the same op for another shape
    d.before = fmt::format("{} {}", before.op, shape_a);
    d.after = fmt::format("{} {}", after.op, shape_b);
    return d;
  }
  d.type = ReasonType::kConstantChange;
  if (attributes_a != attributes_b) d.before = attributes_a, d.after = attributes_b;
  return d;
}

GraphDiff Diff(const PrintedGraph& before, const PrintedGraph& after) {
  if (after.printed_as == PrintedForm::kHloOptimized) return DiffOptimized(before, after);
  return ListingDiff(before, after).Run();
}

}  // namespace xlaprof

#include "analyzers/recompile/cause_of_difference.h"

#include <algorithm>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/quantity.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Returns "x" for x.1, but "" for names that a compiler gives: p0.1, param_2, Arg_1.2.
std::string InputName(const GraphNode& node) {
  std::string name = node.name.substr(0, node.name.find('.'));
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return "";
  return IsGivenInputName(name) ? "" : name;
}

// Returns whether devices exchange data in the graph. Its shapes are then those of one device's
// part.
bool IsPartitioned(const PrintedGraph& graph) {
  return std::ranges::any_of(graph.nodes, [](const GraphNode& node) {
    return node.Is(OpKind::kCollective) || node.Is(OpKind::kDeviceNumber);
  });
}

// Returns the op that a constant is written for: the framework's op that HLO's metadata names, or
// else the first op that computes with it. Returns "" if the graph shows neither.
std::string OpWithConstant(const PrintedGraph& graph, int constant) {
  int at = constant;
  for (int step = 0; step < 4; ++step) {
    const GraphNode& node = graph.nodes[at];
    const bool has_name = !node.framework_op.empty();
    const Op& op = has_name ? *node.known_framework_op : *node.known;
    // The user of an op that only passes on a number says more about what the number is for.
    const bool is_number = IsConstant(node) && op.kind == OpKind::kConstant;
    if (!is_number && !op.PassesOn()) return has_name ? node.framework_op : node.op;
    const auto user = std::ranges::find_if(graph.nodes, [&](const GraphNode& other) {
      return other.computation == node.computation &&
             std::ranges::any_of(other.operands, [&](const auto& o) { return o.node == at; });
    });
    if (user == graph.nodes.end()) return "";
    at = int(user - graph.nodes.begin());
  }
  return "";
}

// Returns whether what differs is the size of an op that does not select a part by itself. The
// number that decides the size is elsewhere.
bool IsSizeInside(const GraphDifference& d, const GraphNode& node) {
  return !d.is_input && !IsConstant(node) && !node.Has(OpTrait::kPart) &&
         XlaShape::Parse(d.before) && XlaShape::Parse(d.after);
}

// Returns the kind of the constant that changed, judged by its op. Its nodes may show more.
ConstantKind KindOfConstant(const GraphDifference& d, const Op& op) {
  if (op.kind == OpKind::kPad && !d.resized) return ConstantKind::kWrittenPart;
  if (op.Has(OpTrait::kPart)) return d.resized ? ConstantKind::kBound : ConstantKind::kIndex;
  const bool is_node = op.kind == OpKind::kConstant || op.kind == OpKind::kInput;
  return is_node ? ConstantKind::kNode : ConstantKind::kInOp;
}

// Sets the kind of a changed constant more exactly, by its node, and names the op that it is for.
void RefineConstant(const GraphDifference& d, const PrintedGraph& graph, int index,
                    RecompileCause* cause) {
  const GraphNode& node = graph.nodes[index];
  const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
  if (!d.resized && IsConstant(node) && shape && shape->rank() > 0)
    cause->constant = ConstantKind::kCapturedArray;
  if (d.is_scalar_or_input) {
    cause->constant = ConstantKind::kScalarOrInput;
    cause->has_equal_scalar = d.has_equal_scalar;
  }
  if (cause->constant == ConstantKind::kNode && IsConstant(node)) {
    if (std::string op = OpWithConstant(graph, index); !op.empty()) cause->node = std::move(op);
    for (std::string* value : {&cause->before, &cause->after}) {
      if (value->starts_with("literal=")) value->erase(0, std::string_view("literal=").size());
    }
  }
}

// Returns whether the difference is one of structure. A signature only lists inputs, so such a
// difference means that there are other inputs, or more or fewer.
bool IsOfStructure(ReasonType type) {
  return type == ReasonType::kParameterSharingChange || type == ReasonType::kOpChange ||
         type == ReasonType::kLiveTensorsChange || type == ReasonType::kLoopCountChange;
}

// Returns the cause for two signatures that list other inputs.
RecompileCause OtherArguments(const PrintedGraph& before, const PrintedGraph& after) {
  auto inputs = [](const PrintedGraph& graph) {
    return Plural(std::ranges::count_if(
                      graph.nodes, [](const GraphNode& node) { return node.Is(OpKind::kInput); }),
                  "input");
  };
  return {
      .type = ReasonType::kInputStructureChange, .before = inputs(before), .after = inputs(after)};
}

// Returns a note about the value that a view reads. A view is recorded where it is used, so the
// place of that value may say more.
CauseNote WhatItReads(const PrintedGraph& graph, const GraphNode& node, const SourcePlace& own,
                      const UserCode& code) {
  if (!node.Is(OpKind::kView) || !node.Has(OpTrait::kPart)) return {};
  // Optimised HLO has the view several times, inside fusions and outside.
  const uint64_t content = ContentHash(node);
  for (const GraphNode& same : graph.nodes) {
    if (same.op != node.op || same.location != node.location || ContentHash(same) != content)
      continue;
    for (const GraphNode::Operand& operand : same.operands) {
      const SourcePlace place = code.Of(graph.nodes[operand.node]);
      if (place.empty() || place.text() == own.text()) continue;
      return note::ViewReads{place};
    }
  }
  return {};
}

}  // namespace

RecompileCause CauseOfDifference(const GraphDifference& d, const PrintedGraph& before,
                                 const PrintedGraph& after, const UserCode& code) {
  if (after.printed_as == PrintedForm::kSignature && IsOfStructure(d.type))
    return OtherArguments(before, after);
  RecompileCause cause{.type = d.type,
                       .node = d.node,
                       .before = d.before,
                       .after = d.after,
                       .is_input = d.is_input,
                       .has_same_ops = d.has_same_ops,
                       .follows = d.follows};
  if (d.type == ReasonType::kConstantChange)
    cause.constant = KindOfConstant(d, FindOp(d.node, after.printed_as));
  if (d.type == ReasonType::kInputStructureChange) cause.note = note::OtherInputs();
  if (d.is_new_state) cause.note = note::NewState{.of_optimizer = d.is_of_optimizer};
  const bool in_after = d.node_index >= 0;
  const int index = in_after ? d.node_index : d.before_index;
  if (index < 0) return cause;
  // The place at which the order of equal ops differs says nothing about the cause.
  if (d.has_same_ops) {
    cause.node.clear();
    return cause;
  }
  const PrintedGraph& graph = in_after ? after : before;
  const GraphNode& node = graph.nodes[index];
  cause.scope = node.scope;
  cause.shape = WithoutLayout(node.shape);
  if (d.type == ReasonType::kConstantChange) RefineConstant(d, graph, index, &cause);
  if (d.is_input) cause.input = InputName(node);
  if (d.is_input && d.type == ReasonType::kShapeChange &&
      before.printed_as != PrintedForm::kSignature)
    cause.may_be_result = HasResult(before, d.after);
  if (d.is_input && d.type == ReasonType::kShapeChange &&
      graph.printed_as == PrintedForm::kHloOptimized &&
      IsPartitioned(before) != IsPartitioned(after)) {
    cause.type = ReasonType::kShardingChange;
    cause.note = note::OnePartitioned();
  }
  if (cause.type == ReasonType::kShardingChange) cause.names_input = true, cause.node.clear();
  if (cause.type == ReasonType::kConstantChange && IsSizeInside(d, node)) {
    cause.type = ReasonType::kShapeChange;
    cause.is_size_inside = true;
  }
  cause.location = code.Of(node);
  // A library may have recorded one of two ops that replace each other.
  if (cause.location.empty() && d.type == ReasonType::kOpChange && in_after && d.before_index >= 0)
    cause.location = code.Of(before.nodes[d.before_index]);
  if (cause.location.empty()) {
    // Values near an optimizer's state are anywhere in the model.
    if (!d.is_new_state) cause.location = code.Near(graph, index);
    cause.near = !cause.location.empty();
    cause.library = SourcePlace::Parse(node.location);
  } else if (d.type == ReasonType::kConstantChange && !d.resized) {
    cause.note = WhatItReads(graph, node, cause.location, code);
  }
  return cause;
}

}  // namespace xlaprof

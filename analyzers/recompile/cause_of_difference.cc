#include "analyzers/recompile/cause_of_difference.h"

#include <algorithm>
#include <array>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/quantity.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Returns whether the op, as named in a dump of IR or HLO, returns a part of a tensor.
bool IsView(std::string_view op) {
  static constexpr std::array<std::string_view, 8> kViews = {
      "select", "slice", "generic_slice", "narrow", "split", "unbind", "as_strided", "diagonal"};
  const size_t name = op.rfind(':') + 1;
  return std::find(kViews.begin(), kViews.end(), op.substr(name)) != kViews.end();
}

// Returns "x" for x.1, but "" for names that a compiler gives: p0.1, param_2, Arg_1.2.
std::string InputName(const GraphNode& node) {
  std::string name = node.name.substr(0, node.name.find('.'));
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return "";
  for (std::string_view given : {"p", "param", "param_", "Arg_", "arg", "parameter"}) {
    if (name.starts_with(given) &&
        name.find_first_not_of("0123456789", given.size()) == std::string::npos)
      return "";
  }
  return name;
}

// Returns whether devices exchange data in the graph. Its shapes are then those of one device's
// part.
bool IsPartitioned(const PrintedGraph& graph) {
  static constexpr std::array<std::string_view, 6> kExchanges = {
      "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-", "partition-id"};
  return std::ranges::any_of(graph.nodes, [](const GraphNode& node) {
    return std::ranges::any_of(kExchanges,
                               [&](std::string_view op) { return node.op.starts_with(op); });
  });
}

bool IsIndexing(std::string_view op) { return TakesPart(op) || op.find("index") != op.npos; }

// Returns whether the op is a number, or an input that replaces one.
bool IsNumberOrInput(std::string_view op) {
  return op == "prim::Constant" || op.ends_with("device_data") || op == "constant" ||
         op == "parameter";
}

// Returns whether the op only passes on a number: its user says more about what the number is for.
bool OnlyPassesOn(std::string_view op) {
  static constexpr std::array<std::string_view, 9> kOps = {"broadcast",
                                                           "convert",
                                                           "reshape",
                                                           "copy",
                                                           "stablehlo.broadcast_in_dim",
                                                           "bitcast",
                                                           "convert_element_type",
                                                           "aten::expand",
                                                           "aten::_to_copy"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

// Returns the op that a constant is written for: the framework's op that HLO's metadata names, or
// else the first op that computes with it. Returns "" if the graph shows neither.
std::string OpWithConstant(const PrintedGraph& graph, int constant) {
  int at = constant;
  for (int step = 0; step < 4; ++step) {
    const GraphNode& node = graph.nodes[at];
    const std::string& op = node.framework_op.empty() ? node.op : node.framework_op;
    const bool is_number =
        IsConstant(node) && (node.framework_op.empty() || node.framework_op == "prim::Constant");
    if (!is_number && !OnlyPassesOn(op)) return op;
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
  return !d.is_input && !IsConstant(node) && !IsIndexing(d.node) && XlaShape::Parse(d.before) &&
         XlaShape::Parse(d.after);
}

// Returns whether the op is a pad: "pad" in HLO, "xla::pad" in an IR dump.
bool IsPad(std::string_view op) { return op == "pad" || op.ends_with("::pad"); }

// Returns the kind of the constant that changed, judged by its op. Its nodes may show more.
ConstantKind KindOfConstant(const GraphDifference& d) {
  if (IsPad(d.node) && !d.resized) return ConstantKind::kWrittenPart;
  if (IsIndexing(d.node)) return d.resized ? ConstantKind::kBound : ConstantKind::kIndex;
  return IsNumberOrInput(d.node) ? ConstantKind::kNode : ConstantKind::kInOp;
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
    return Plural(std::ranges::count(graph.nodes, "parameter", &GraphNode::op), "input");
  };
  return {
      .type = ReasonType::kInputStructureChange, .before = inputs(before), .after = inputs(after)};
}

// Returns a note about the value that a view reads. A view is recorded where it is used, so the
// place of that value may say more.
CauseNote WhatItReads(const PrintedGraph& graph, const GraphNode& node, const SourcePlace& own,
                      const UserCode& code) {
  if (!IsView(node.op)) return {};
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
  if (d.type == ReasonType::kConstantChange) cause.constant = KindOfConstant(d);
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

#include "analyzers/recompile/size_reads.h"

#include <algorithm>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/policy.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

bool IsSize(const RecompileCause& cause) {
  return cause.is_size_inside ||
         (cause.type == ReasonType::kConstantChange && cause.constant == ConstantKind::kBound);
}

bool IsInteger(const XlaShape& shape) {
  return shape.element_type().starts_with('s') || shape.element_type().starts_with('u');
}

}  // namespace

SizeReads::SizeReads(const EarlyCuts& cuts) {
  for (const EarlyCut& cut : cuts.cuts) {
    const SourcePlace place = cut.place();
    if (!cut.op.empty() || place.empty() || !place.line) continue;
    if (cut.returned) returned_.emplace_back(cut.returned->place, place);
    if (cut.value == EarlyCut::Value::kScalar)
      reads_.push_back({place, cut.shape && IsInteger(*cut.shape),
                        cut.steps && int64_t(cut.executions.size()) >= *cut.steps});
  }
}

const SizeReads::Read* SizeReads::Before(const SourcePlace& op) const {
  const Read* nearest = nullptr;
  for (const Read& read : reads_) {
    if (read.place.file != op.file || read.place.function != op.function ||
        *read.place.line > op.line.value_or(0))
      continue;
    if (nearest == nullptr || *read.place.line > *nearest->place.line) nearest = &read;
  }
  const bool decides =
      nearest != nullptr && (nearest->is_integer || nearest->place.line == op.line);
  return decides ? nearest : nullptr;
}

void SizeReads::Explain(std::vector<RecompileCause>* causes) const {
  bool inputs_change = false;
  for (RecompileCause& cause : *causes) {
    if (!cause.is_input) continue;
    inputs_change = true;
    const auto read =
        std::ranges::find(returned_, cause.location, &std::pair<SourcePlace, SourcePlace>::first);
    if (cause.type != ReasonType::kShapeChange || cause.near || !cause.library.empty()) continue;
    if (read != returned_.end()) {
      cause.size_read = read->second;
      cause.is_made_of_read = true;
      continue;
    }
    const Read* number = Before(cause.location);
    if (number != nullptr && number->is_integer && number->is_in_each_step &&
        *cause.location.line - *number->place.line <= policy::kLinesFromSize)
      cause.size_read = number->place;
  }
  if (inputs_change) return;
  for (RecompileCause& cause : *causes) {
    if (!IsSize(cause) || cause.location.empty() || cause.near) continue;
    if (const Read* read = Before(cause.location)) cause.size_read = read->place;
  }
  // An op in the line of its read is the first that uses the number.
  std::ranges::stable_sort(*causes, {}, [](const RecompileCause& cause) {
    return cause.size_read.empty() ? 2 : cause.size_read.line == cause.location.line ? 0 : 1;
  });
}

namespace {

// Returns the places in the user's code at which the inputs that `is_meant` accepts are recorded.
template <typename IsMeant>
std::vector<SourcePlace> PlacesOfInputs(const PrintedGraph& graph, const UserCode& code,
                                        const IsMeant& is_meant) {
  std::vector<SourcePlace> places;
  for (const GraphNode& node : graph.nodes) {
    if (!IsInput(node) || !is_meant(node)) continue;
    SourcePlace place = code.Of(node);
    const bool is_known = std::ranges::any_of(
        places, [&](const SourcePlace& one) { return one.text() == place.text(); });
    if (!place.empty() && !is_known) places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

std::vector<SourcePlace> PlacesOfScalarInputs(const PrintedGraph& graph, const UserCode& code) {
  return PlacesOfInputs(graph, code, IsScalar);
}

SourcePlace PlaceOfInput(const PrintedGraph& graph, const std::string& shape,
                         const UserCode& code) {
  const std::vector<SourcePlace> places = PlacesOfInputs(graph, code, [&](const GraphNode& node) {
    return WithoutLayout(node.shape) == WithoutLayout(shape);
  });
  return places.size() == 1 ? places.front() : SourcePlace();
}

}  // namespace xlaprof

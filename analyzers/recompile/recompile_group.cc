#include "analyzers/recompile/recompile_group.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "analyzers/quantity.h"
#include "analyzers/recompile/padding.h"

namespace xlaprof {
namespace {

std::string Short(std::string text) {
  constexpr size_t kLongest = 48;
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

// "dimensions=" of dimensions={0}, "precision =" of precision = [HIGHEST]; "" of
// f32[]{weak_type=True}.
std::string KeyOf(const std::string& value) {
  const size_t sign = value.find('=');
  const bool named = sign != std::string::npos && sign > 0 &&
                     std::all_of(value.begin(), value.begin() + ptrdiff_t(sign), [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ' ';
                     });
  return named ? value.substr(0, sign + 1) : "";
}

// "a → b → c", from the clearest compile on.
std::string Values(const RecompileGroup& group) {
  std::vector<std::string> values;
  auto add = [&](const std::string& value) {
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  };
  add(group.cause().before);
  for (size_t i = group.clearest; i < group.causes.size(); ++i) add(group.causes[i].after);
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    std::string value = values[i];
    const std::string key = KeyOf(values[0]);  // once is enough
    if (i > 0 && value.starts_with(key)) value = value.substr(key.size());
    text += (i == 0 ? "" : " → ") + Short(std::move(value));
  }
  if (values.size() > kShown) text += " → ...";
  return text;
}

// Two shapes of the same type and rank: where several inputs change, as images and their labels do,
// the first that differs is not the same one in each compile.
bool MayBeOneInput(const std::optional<XlaShape>& shape, const XlaShape& other) {
  return shape && shape->is_tuple() == other.is_tuple() &&
         shape->element_type() == other.element_type() && shape->rank() == other.rank();
}

int64_t Executions(const std::set<int64_t>& graphs, const std::map<int64_t, int64_t>* executions) {
  int64_t times = 0;
  for (int64_t graph : graphs) {
    if (executions == nullptr) break;
    if (const auto at = executions->find(graph); at != executions->end()) times += at->second;
  }
  return times;
}

}  // namespace

std::optional<SizesSeen> SizesOf(const RecompileGroup& group) {
  const std::optional<XlaShape> shown = XlaShape::Parse(group.cause().before);
  if (group.cause().type != ReasonType::kShapeChange || !shown) return std::nullopt;
  SizesSeen seen{.shape = *shown};
  std::map<std::string, std::set<int64_t>> graphs;  // of each shape
  auto add = [&](const XlaShape& shape, OptInt graph) {
    if (graph) graphs[shape.text()].insert(*graph);
    if (std::find(seen.shapes.begin(), seen.shapes.end(), shape) != seen.shapes.end()) return;
    seen.shapes.push_back(shape);
  };
  for (const RecompileCause& cause : group.causes) {
    const std::optional<XlaShape> before = XlaShape::Parse(cause.before),
                                  after = XlaShape::Parse(cause.after);
    if (!MayBeOneInput(before, *shown) || !MayBeOneInput(after, *shown)) {
      // The same input with another rank: no one size changes.
      if (!cause.input.empty() && cause.input == group.cause().input)
        return SizesSeen{.shape = *shown};
      continue;
    }
    if (seen.shapes.empty()) add(*before, cause.graph_before);
    add(*after, cause.graph_after);
  }
  std::optional<int> varies;
  for (const XlaShape& shape : seen.shapes) {
    for (size_t d = 0; d < shape.rank(); ++d) {
      if (shape.dimensions()[d] == seen.shapes[0].dimensions()[d]) continue;
      if (varies && *varies != static_cast<int>(d)) return seen;
      varies = static_cast<int>(d);
    }
  }
  if (!varies) return seen;
  seen.dimension = varies;
  for (const XlaShape& shape : seen.shapes) {
    const int64_t size = shape.dimensions()[size_t(*varies)];
    if (std::find(seen.sizes.begin(), seen.sizes.end(), size) != seen.sizes.end()) continue;
    seen.sizes.push_back(size);
    int64_t times = Executions(graphs[shape.text()], group.executions);
    const auto other = group.other_executions.find(shape.text());
    if (other != group.other_executions.end()) times += other->second;
    if (times > 0) seen.times.push_back(times);
  }
  if (seen.times.size() != seen.sizes.size()) seen.times.clear();
  return seen;
}

std::string DimensionName(int dimension, size_t rank) {
  if (rank == 1) return "length";
  if (dimension == 0) return "batch dimension";
  return fmt::format("dimension {}", dimension);
}

std::string SiteName(const RecompileGroup& group) {
  const CompileSite& site = *group.site;
  if (!site.function.empty()) return fmt::format("`{}`", site.function);
  if (site.cause == CutKind::kValueAccess && !site.place.empty()) {
    return fmt::format("the read at {}", site.place.ShortText());
  }
  if (!group.steps->name.empty() && site.cause != CutKind::kValueAccess) {
    return group.steps->name.ends_with("step") ? group.steps->name : group.steps->name + " step";
  }
  if (!site.place.empty()) return fmt::format("the graph cut at {}", site.place.ShortText());
  if (site.cause == CutKind::kValueAccess) return "a read before the step mark";
  return "the step";
}

std::string RecompileTitle(const RecompileGroup& group, const std::optional<SizesSeen>& sizes) {
  const RecompileCause& cause = group.cause();
  const std::string head =
      fmt::format("{} recompiled {}", SiteName(group), TimesText(int64_t(group.compiles.size())));
  if (cause.type == ReasonType::kShapeChange) {
    if (sizes && sizes->dimension) {
      return fmt::format("{}: {} of input {} changes ({})", head,
                         DimensionName(*sizes->dimension, sizes->shape.rank()),
                         cause.input + (cause.input.empty() ? "" : " ") + sizes->shape.text(),
                         SizeList(sizes->sizes));
    }
    if (sizes)
      return fmt::format("{}: the shape of input {} changes ({})", head, sizes->shape.text(),
                         Values(group));
    return head + ": the size of its inputs changes";
  }
  if (cause.type == ReasonType::kDtypeChange && cause.node == "parameter")
    return fmt::format("{}: the type of an input changes ({})", head, Values(group));
  if (cause.type == ReasonType::kDtypeChange)
    return fmt::format("{}: the type of {} changes ({})", head, cause.node, Values(group));
  if (cause.type == ReasonType::kConstantChange &&
      cause.before.starts_with("prim::Constant") != cause.after.starts_with("prim::Constant")) {
    return head +
           ": a scalar is a constant in some graphs and an input in others (0 and 1 are baked in)";
  }
  if (cause.type == ReasonType::kConstantChange && cause.node.starts_with("static "))
    return fmt::format("{}: {} changes ({})", head, cause.node, Values(group));
  if (cause.captures_array)
    return fmt::format("{}: a captured array {} changes", head, cause.shape);
  if (cause.type == ReasonType::kConstantChange)
    return fmt::format("{}: a number baked into {} changes ({})", head, cause.node, Values(group));
  if (cause.type == ReasonType::kLoopCountChange)
    return fmt::format("{}: a part of the graph ({}) is repeated {}", head, cause.node,
                       Values(group));
  if (cause.type == ReasonType::kLiveTensorsChange)
    return fmt::format("{}: the set of tensors that are alive at the cut changes ({})", head,
                       Values(group));
  if (cause.type == ReasonType::kParameterSharingChange)
    return fmt::format("{}: the same graph with other shared inputs ({})", head, Values(group));
  if (cause.type == ReasonType::kDonationChange)
    return fmt::format("{}: the same graph, but other inputs are donated ({})", head,
                       Values(group));
  if (cause.type == ReasonType::kCutKindChange)
    return fmt::format("{}: the same graph, cut in another way ({})", head, Values(group));
  if (cause.type == ReasonType::kEnvironmentChange) {
    const std::string values = Values(group);
    const std::string what =
        cause.node + (cause.node.empty() || values.empty() ? "" : ": ") + values;
    return head + ": the same graph under another setting" +
           (what.empty() ? "" : fmt::format(" ({})", what));
  }
  if (cause.type == ReasonType::kRedefinedFunction)
    return head + ": it is another function object at each call";
  if (cause.type == ReasonType::kInputStructureChange) {
    if (cause.node.empty() && !cause.before.empty())
      return fmt::format("{}: it is called with other arguments ({})", head, Values(group));
    return fmt::format("{}: the structure of its inputs changes{}{}", head,
                       cause.node.empty() ? "" : " at ", cause.node);
  }
  if (cause.type == ReasonType::kShardingChange)
    return fmt::format("{}: the sharding of {} changes ({})", head, cause.node, Values(group));
  if (cause.type == ReasonType::kCacheEviction)
    return head + ": a graph that had been compiled before was no longer cached";
  if (cause.type == ReasonType::kNoStepMark)
    return head + ": its graph grows, as no step is marked";
  if (cause.type == ReasonType::kUnprintedChange)
    return head + ": graphs that print alike, but differ";
  if (cause.type == ReasonType::kOpChange)
    return fmt::format("{}: its ops change ({})", head, Values(group));
  return head + ": nothing that was captured shows why";
}

std::string RecompileReasonText(const RecompileGroup& group) {
  const RecompileCause& cause = group.cause();
  std::string text;
  auto sentence = [&](std::string one) {
    if (one.empty()) return;
    one[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(one[0])));
    if (!one.ends_with('.')) one += '.';
    text += (text.empty() ? "" : " ") + one;
  };
  const bool shown =
      !cause.node.empty() || cause.note.empty();  // else the note says what was compared
  if (!cause.seen_in.empty() && shown) sentence(fmt::format("{} shows it", cause.seen_in));
  sentence(cause.note);
  if (!group.beside.empty())
    sentence(fmt::format("in the same compiles also changed: {}", fmt::join(group.beside, "; ")));
  return text;
}

}  // namespace xlaprof

#include "analyzers/recompile/graph_parts.h"

#include <algorithm>
#include <utility>

namespace xlaprof {
namespace {

// Returns the row of the graph as the runtime prints it, if it is one that prints parts.
OptInt OpsOf(const CompileFact& compile) {
  for (const auto& [form, graph_id] : compile.forms) {
    if (form == PrintedForm::kTorchtpuOps) return graph_id;
  }
  return {};
}

// The sizes of the changed input, which identify a change of the program.
using ChangedSizes = std::pair<int64_t, std::vector<Sizes>>;  // process, and sizes in order

// Returns nothing if the group is none of a part, or if several sizes change. The list is empty if no
// source shows the sizes.
std::optional<ChangedSizes> SizesOfPart(const RecompileGroup& group) {
  if (!IsPart(group.site->compiles.front())) return {};
  // The keys of programs show no sizes.
  if (group.cause().seen_in == SeenIn::kCacheKey) return ChangedSizes(group.site->process_id, {});
  std::optional<SizesSeen> seen = SizesOf(group);
  if (!seen || seen->sizes.empty() || seen->dimensions.size() != 1) return {};
  std::ranges::sort(seen->sizes);
  return ChangedSizes(group.site->process_id, std::move(seen->sizes));
}

void Unite(const RecompileGroup& other, RecompileGroup& group) {
  group.compiles.insert(group.compiles.end(), other.compiles.begin(), other.compiles.end());
  std::ranges::stable_sort(group.compiles, {}, &CompileFact::ordinal);
  ++group.parts;
  group.compiles_of_others += other.site->compiles.size();
  const SourcePlace& place = other.cause().location;
  if (place.empty() || place.IsLineOf(group.cause().location)) return;
  const auto known = std::ranges::find_if(
      group.other_places, [&](const auto& one) { return one.first.IsLineOf(place); });
  if (known == group.other_places.end()) {
    group.other_places.emplace_back(place, int64_t(other.compiles.size()));
  } else {
    known->second += int64_t(other.compiles.size());
  }
}

}  // namespace

bool IsPart(const CompileFact& compile) {
  const bool is_looked_up = compile.cause == CutKind::kUnknown && !compile.site_id &&
                            compile.forms.empty() && !compile.program.empty();
  return is_looked_up || OpsOf(compile).has_value();
}

bool MayBeOtherCall(const CompileSite& site, const CompileFact& compile, const StepsSeen& steps) {
  return IsPart(compile) &&
         (steps.from != StepsFrom::kSteps || compile.step == site.compiles.front().step);
}

std::string PartName(const CompileFact& compile) { return OpsOf(compile) ? "" : compile.program; }

absl::StatusOr<GraphParts> GraphParts::Of(const Run& run,
                                          const std::vector<CompileFact>& compiles) {
  GraphParts parts;
  std::map<std::pair<Place, int64_t>, std::string> first_in_step;  // operations
  for (const CompileFact& compile : compiles) {
    const OptInt graph_id = OpsOf(compile);
    if (!graph_id) continue;
    Part part;
    XP_TRY(run.store().Each(
        fmt::format("SELECT op, coalesce(location, '') FROM graph_node WHERE graph_id = ?1 AND op "
                    "NOT IN ({}) ORDER BY idx",
                    SqlNamesOf(OpKind::kInput)),
        [&](std::string_view op, std::string_view location) {
          std::string text = fmt::format("{} at {};", op, location);
          if (part.begin.empty()) part.begin = text;
          part.ops += text;
        },
        *graph_id));
    const Place place(compile.process_id, compile.cause, part.begin);
    const auto [first, is_first] = first_in_step.try_emplace({place, compile.step}, part.ops);
    if (!is_first && first->second != part.ops) parts.several_.insert(place);
    parts.by_compile_[compile.id] = std::move(part);
  }
  return parts;
}

std::string GraphParts::KeyOf(const CompileFact& compile) const {
  const auto part = by_compile_.find(compile.id);
  if (part == by_compile_.end()) return "";
  const auto& [begin, ops] = part->second;
  return several_.contains({compile.process_id, compile.cause, begin}) ? ops : begin;
}

void UniteParts(std::vector<RecompileGroup>* groups) {
  std::map<ChangedSizes, std::vector<size_t>> same;  // indices of groups
  for (size_t i = 0; i < groups->size(); ++i) {
    if (auto sizes = SizesOfPart((*groups)[i])) same[*std::move(sizes)].push_back(i);
  }
  std::set<size_t> united;
  for (const auto& [sizes, members] : same) {
    const size_t first = *std::ranges::min_element(
        members, {}, [&](size_t i) { return (*groups)[i].compiles.front()->ordinal; });
    for (size_t i : members) {
      if (i == first) continue;
      Unite((*groups)[i], (*groups)[first]);
      united.insert(i);
    }
  }
  std::vector<RecompileGroup> left;
  for (size_t i = 0; i < groups->size(); ++i) {
    if (!united.contains(i)) left.push_back(std::move((*groups)[i]));
  }
  *groups = std::move(left);
}

}  // namespace xlaprof

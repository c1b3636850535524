#include "analyzers/recompile/cause_group.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analyzers/policy.h"
#include "base/array_bytes.h"

namespace xlaprof {
namespace {

// Returns whether two shapes may belong to one input, because their types and ranks are equal. If
// several inputs change, for example images and labels, different compiles may list a different
// one first.
bool MayBeOneInput(const std::optional<XlaShape>& shape, const XlaShape& other) {
  return shape && shape->is_tuple() == other.is_tuple() &&
         shape->element_type() == other.element_type() && shape->rank() == other.rank();
}

int64_t ExecutionsOf(const std::set<int64_t>& graphs,
                     const std::map<int64_t, int64_t>* executions) {
  if (executions == nullptr) return 0;
  int64_t count = 0;
  for (int64_t graph : graphs) {
    if (const auto at = executions->find(graph); at != executions->end()) count += at->second;
  }
  return count;
}

OptInt Either(OptInt one, OptInt other) { return one ? one : other; }

// Returns how often an array of each shape was copied to the device. Returns nothing unless these copies
// are as many as the steps, because arrays of other inputs may have the same bytes.
std::vector<int64_t> TimesUploaded(const std::vector<XlaShape>& shapes,
                                   const RecompileGroup& group) {
  if (group.uploads == nullptr || group.steps == nullptr || !group.steps->known ||
      group.steps->from != StepsFrom::kSteps)
    return {};
  std::vector<int64_t> times;
  std::set<int64_t> met;
  int64_t sum = 0;
  for (const XlaShape& shape : shapes) {
    const int64_t bytes = ArrayBytes(shape);
    const auto count = group.uploads->find(bytes);
    if (bytes <= 0 || count == group.uploads->end() || !met.insert(bytes).second) return {};
    times.push_back(count->second);
    sum += count->second;
  }
  return sum == group.steps->count() ? times : std::vector<int64_t>();
}

}  // namespace

std::optional<SizesSeen> SizesOf(const RecompileGroup& group) {
  const std::optional<XlaShape> clearest_shape = XlaShape::Parse(group.cause().before);
  if (group.cause().type != ReasonType::kShapeChange || !clearest_shape) return std::nullopt;
  SizesSeen seen{.shape = *clearest_shape};
  std::map<std::string, std::set<int64_t>> graphs;  // by shape
  auto add = [&](const XlaShape& shape, OptInt graph) {
    if (graph) graphs[shape.text()].insert(*graph);
    if (std::find(seen.shapes.begin(), seen.shapes.end(), shape) != seen.shapes.end()) return;
    seen.shapes.push_back(shape);
  };
  // The set holds the dimensions that some compile changed. Others may differ between inputs that change
  // alike, such as those of two layers.
  std::set<int> changed;
  for (const RecompileCause& cause : group.causes) {
    const std::optional<XlaShape> before = XlaShape::Parse(cause.before),
                                  after = XlaShape::Parse(cause.after);
    if (!MayBeOneInput(before, *clearest_shape) || !MayBeOneInput(after, *clearest_shape)) {
      // If the same input has another rank, no single size changes.
      if (!cause.input.empty() && cause.input == group.cause().input)
        return SizesSeen{.shape = *clearest_shape};
      continue;
    }
    for (size_t d = 0; d < clearest_shape->rank(); ++d) {
      if (before->dimensions()[d] != after->dimensions()[d]) changed.insert(int(d));
    }
    if (seen.shapes.empty()) add(*before, Either(cause.graph_before, cause.program_before));
    add(*after, Either(cause.graph_after, cause.program_after));
  }
  seen.dimensions.assign(changed.begin(), changed.end());
  if (seen.dimensions.empty()) return seen;
  std::vector<XlaShape> shapes;  // the first of each of seen.sizes
  std::vector<int64_t> executions;
  for (const XlaShape& shape : seen.shapes) {
    Sizes sizes;
    for (int d : seen.dimensions) sizes.push_back(shape.dimensions()[size_t(d)]);
    const auto known = std::ranges::find(seen.sizes, sizes);
    const size_t at = size_t(known - seen.sizes.begin());
    if (known == seen.sizes.end()) {
      seen.sizes.push_back(std::move(sizes));
      shapes.push_back(shape);
      executions.push_back(0);
    }
    int64_t count = ExecutionsOf(graphs[shape.text()], group.executions);
    const auto other = group.other_executions.find(shape.text());
    if (other != group.other_executions.end()) count += other->second;
    executions[at] += count;
    seen.came_again |= count > 1;
  }
  if (group.counts_all_executions && std::ranges::find(executions, 0) == executions.end())
    seen.times = std::move(executions);
  if (seen.times.empty()) seen.times = TimesUploaded(shapes, group);
  return seen;
}

std::vector<std::string> ValuesOf(const RecompileGroup& group) {
  std::vector<std::string> values;
  auto add = [&](const std::string& value) {
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  };
  add(group.cause().before);
  for (size_t i = group.clearest; i < group.causes.size(); ++i) add(group.causes[i].after);
  return values;
}

namespace {

constexpr size_t kMaxBeside = 3;  // other changes that a reason names

struct Explained {
  std::map<std::string, const RecompileCause*> by_key;  // the most telling cause of each key
  std::vector<std::string> order;  // keys that may explain it, most telling first
};

// Returns in how many ways the sizes of an input changed: 2 for i32[40,49] → i32[29,70], and 1 for
// f32[8,64,64] → f32[8,70,70], whose dimensions change together.
size_t SizesChanged(const RecompileCause& cause) {
  const std::optional<XlaShape> before = XlaShape::Parse(cause.before),
                                after = XlaShape::Parse(cause.after);
  if (!cause.is_input || !before || !after || before->rank() != after->rank()) return 0;
  std::set<std::pair<int64_t, int64_t>> changes;
  for (size_t d = 0; d < before->rank(); ++d) {
    if (before->dimensions()[d] != after->dimensions()[d])
      changes.emplace(before->dimensions()[d], after->dimensions()[d]);
  }
  return changes.size();
}

// Returns the index of a cause whose difference is the most frequent one. Of equally frequent ones, it
// is the latest, because a clean program has one in its first steps.
size_t MostFrequent(const std::vector<RecompileCause>& causes) {
  using Difference = std::tuple<size_t, int64_t, int64_t, OptInt, OptInt>;
  const auto difference = [](const RecompileCause& cause) {
    const auto* counts = std::get_if<note::OtherCounts>(&cause.note);
    if (counts == nullptr) return Difference(cause.note.index(), 0, 0, {}, {});
    return Difference(cause.note.index(), counts->inputs_before, counts->inputs,
                      counts->results_before, counts->results);
  };
  std::map<Difference, size_t> times;
  for (const RecompileCause& cause : causes) ++times[difference(cause)];
  size_t best = 0;
  for (size_t i = 0; i < causes.size(); ++i) {
    if (times[difference(causes[i])] >= times[difference(causes[best])]) best = i;
  }
  return best;
}

// Sets the group's causes, from the causes with `key` that put `reasons[members]` into the group.
void ChooseCauses(const std::vector<CompileReason>& reasons,
                  const std::vector<Explained>& explained, const std::vector<size_t>& members,
                  const std::string& key, RecompileGroup* group) {
  for (const bool from_sizes : {false, true}) {
    if (!group->causes.empty()) break;
    int64_t least = INT64_MAX;
    for (size_t i : members) {
      const RecompileCause& cause = *explained[i].by_key.at(key);
      if (cause.is_carried || (cause.seen_in == SeenIn::kNothing) != from_sizes) continue;
      if (reasons[i].differing_nodes < least)
        least = reasons[i].differing_nodes, group->clearest = group->causes.size();
      group->causes.push_back(cause);
    }
  }
  group->carried = size_t(std::ranges::count_if(
      members, [&](size_t i) { return explained[i].by_key.at(key)->is_carried; }));
  group->from_sizes = members.size() - group->causes.size() - group->carried;
  if (group->cause().type == ReasonType::kUnknown && group->cause().seen_in == SeenIn::kNothing)
    group->clearest = MostFrequent(group->causes);
}

// Sets the other changes that accompanied all members. For a change of an input, only changes of
// other inputs are named, because many changes follow from a shape.
void NameOthers(const std::vector<Explained>& explained, const std::vector<size_t>& members,
                const std::string& key, RecompileGroup* group) {
  std::map<std::string, std::pair<size_t, const RecompileCause*>> others;
  for (size_t i : members) {
    for (const auto& [other, cause] : explained[i].by_key) {
      if (other == key || (group->cause().is_input && !cause->is_input)) continue;
      ++others.try_emplace(other, 0, cause).first->second.first;
    }
  }
  for (const auto& [other, entry] : others) {
    const RecompileCause& cause = *entry.second;
    if (entry.first != members.size() || group->beside.size() == kMaxBeside) continue;
    group->beside.push_back(cause);
  }
}

}  // namespace

void MergeCausesGuessedFromSizes(std::vector<CompileReason>* reasons) {
  std::map<ReasonType, const RecompileCause*> shown;  // the first of each type
  for (const CompileReason& reason : *reasons) {
    for (const RecompileCause& cause : reason.causes) {
      if (cause.seen_in != SeenIn::kNothing && !cause.follows)
        shown.try_emplace(cause.type, &cause);
    }
  }
  for (CompileReason& reason : *reasons) {
    for (RecompileCause& cause : reason.causes) {
      const auto at = shown.find(cause.type);
      if (cause.seen_in != SeenIn::kNothing || !cause.location.empty() || at == shown.end())
        continue;
      cause.location = at->second->location, cause.node = at->second->node,
      cause.scope = at->second->scope;
    }
  }
}

void ExplainUnprinted(std::vector<CompileReason>* reasons) {
  const RecompileCause* shown = nullptr;
  size_t times = 0;
  for (const CompileReason& reason : *reasons) {
    if (reason.causes.empty()) continue;
    const RecompileCause& cause = reason.causes.front();
    if (cause.type != ReasonType::kConstantChange || cause.seen_in != SeenIn::kOptimizedHlo)
      continue;
    if (shown != nullptr && shown->Key() != cause.Key()) return;
    if (shown == nullptr) shown = &cause;
    ++times;
  }
  if (times < 2) return;
  const RecompileCause copy = *shown;
  for (CompileReason& reason : *reasons) {
    if (reason.causes.size() != 1) continue;
    const RecompileCause& cause = reason.causes.front();
    if (cause.type != ReasonType::kUnprintedChange || cause.seen_in != SeenIn::kIrDump) continue;
    reason = {.causes = {copy}, .differing_nodes = INT64_MAX};
  }
}

void CarryCauses(const CompileSite& site, const std::vector<size_t>& recompiles,
                 std::vector<CompileReason>* reasons) {
  // Debug logs of torch_xla print sizes in GB with six decimals.
  constexpr int64_t kRoundedBytes = 2 * 1074;
  const auto has_counts = [](const CompileFact& compile) {
    return compile.input_count && compile.output_count && compile.input_bytes;
  };
  const auto same_counts = [](const CompileFact& a, const CompileFact& b) {
    return a.input_count == b.input_count && a.output_count == b.output_count;
  };
  // Returns whether compile `b` may have the cause that compile `a` has, as far as the log counts.
  const auto may_share = [&](const CompileFact& a, const CompileFact& b, ReasonType type) {
    if (!has_counts(a) || !has_counts(b) || !same_counts(a, b)) return false;
    const int64_t apart = std::abs(*a.input_bytes - *b.input_bytes);
    return type == ReasonType::kShapeChange ? apart <= kRoundedBytes
                                            : apart == 0 && a.output_bytes == b.output_bytes;
  };
  struct Shown {
    const CompileFact* compile;
    const RecompileCause* cause;
  };
  std::vector<Shown> shown;
  std::vector<size_t> open;
  for (size_t i = 0; i < reasons->size(); ++i) {
    const CompileReason& reason = (*reasons)[i];
    const RecompileCause& cause = reason.causes.front();
    const CompileFact& compile = site.compiles[recompiles[i]];
    const bool says_nothing = cause.type == ReasonType::kUnknown && reason.causes.size() == 1;
    if (says_nothing && std::holds_alternative<note::SameCounts>(cause.note)) {
      open.push_back(i);
    } else if (!says_nothing) {
      shown.push_back({&compile, &cause});
    }
  }
  std::vector<std::pair<size_t, RecompileCause>> carried;
  for (const size_t i : open) {
    const CompileFact& compile = site.compiles[recompiles[i]];
    const RecompileCause* found = nullptr;
    std::set<std::string> keys;
    int64_t times = 0;
    for (const Shown& one : shown) {
      if (!may_share(*one.compile, compile, one.cause->type)) continue;
      keys.insert(one.cause->Key());
      ++times;
      if (one.cause->seen_in != SeenIn::kNothing) found = one.cause;
    }
    if (found == nullptr || keys.size() != 1 || times < policy::kNotOnce ||
        found->type == ReasonType::kUnprintedChange)
      continue;
    carried.emplace_back(i, *found);
  }
  for (auto& [i, cause] : carried) {
    cause.is_carried = true;
    (*reasons)[i] = {.causes = {std::move(cause)}, .differing_nodes = INT64_MAX};
  }
}

std::vector<RecompileGroup> Divide(const CompileSite& site, const StepsSeen& steps,
                                   const std::vector<size_t>& recompiles,
                                   const std::vector<CompileReason>& reasons) {
  std::vector<Explained> explained(reasons.size());
  for (size_t i = 0; i < reasons.size(); ++i) {
    const bool only_follows =
        std::all_of(reasons[i].causes.begin(), reasons[i].causes.end(),
                    [](const RecompileCause& cause) { return cause.follows; });
    for (const RecompileCause& cause : reasons[i].causes) {
      const std::string key = cause.Key();
      const auto [known, is_new] = explained[i].by_key.emplace(key, &cause);
      // Labels change with the rows of a batch, and its tokens with their lengths, too.
      if (!is_new && SizesChanged(cause) > SizesChanged(*known->second)) known->second = &cause;
      if (!is_new) continue;
      if (!cause.follows || only_follows) explained[i].order.push_back(key);
    }
  }
  std::vector<size_t> left(reasons.size());
  std::iota(left.begin(), left.end(), size_t{0});
  std::vector<RecompileGroup> groups;
  while (!left.empty()) {
    // The key of most compiles wins. Ties are decided by its position in the order of the first
    // compile that has it.
    std::map<std::string, std::tuple<int64_t, int64_t, int64_t>> score;
    for (size_t i : left) {
      for (size_t k = 0; k < explained[i].order.size(); ++k) {
        const auto place =
            std::tuple(int64_t{0}, -static_cast<int64_t>(k), -static_cast<int64_t>(i));
        ++std::get<0>(score.try_emplace(explained[i].order[k], place).first->second);
      }
    }
    const std::string key =
        std::max_element(score.begin(), score.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    std::vector<size_t> members, others;
    for (size_t i : left) {
      const std::vector<std::string>& order = explained[i].order;
      (std::find(order.begin(), order.end(), key) != order.end() ? members : others).push_back(i);
    }
    RecompileGroup group{.site = &site, .steps = &steps};
    for (size_t i : members) group.compiles.push_back(&site.compiles[recompiles[i]]);
    ChooseCauses(reasons, explained, members, key, &group);
    NameOthers(explained, members, key, &group);
    groups.push_back(std::move(group));
    left = std::move(others);
  }
  return groups;
}

}  // namespace xlaprof

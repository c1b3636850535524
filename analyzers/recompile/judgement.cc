#include "analyzers/recompile/judgement.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/jax_operation.h"

namespace xlaprof {
namespace {

// Returns whether the sizes are at least three powers of two, each compiled once. A program pads to such
// buckets on purpose.
bool AreBuckets(const RecompileGroup& group) {
  const std::optional<SizesSeen> sizes = SizesOf(group);
  return sizes && sizes->sizes.size() >= 3 && sizes->sizes.size() == group.compiles.size() + 1 &&
         std::ranges::all_of(sizes->sizes, [](const Sizes& one) {
           return std::ranges::all_of(
               one, [](int64_t size) { return size > 0 && std::has_single_bit(uint64_t(size)); });
         });
}

// Returns the first or the latest step that each compile may be in, ascending.
std::vector<int64_t> StepsOf(const RecompileGroup& group, int64_t CompileFact::* step) {
  std::vector<int64_t> steps;
  for (const CompileFact* compile : group.compiles) steps.push_back(compile->*step);
  std::ranges::sort(steps);
  // The parts of a step compile for one change.
  if (group.parts > 1) steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// Returns whether all compiles after the first steps have one difference that was not there before, with
// another size of the inputs each. The program changed once, and compiled for each of its sizes.
bool IsOneChangeForEachSize(const RecompileGroup& group) {
  const auto* change = std::get_if<note::OtherCounts>(&group.cause().note);
  if (change == nullptr || group.causes.size() != group.compiles.size()) return false;
  std::set<int64_t> sizes;
  for (size_t i = 0; i < group.causes.size(); ++i) {
    const auto* other = std::get_if<note::OtherCounts>(&group.causes[i].note);
    const OptInt bytes = group.compiles[i]->input_bytes;
    if (other == nullptr || *other != *change || !bytes) continue;
    if (!sizes.insert(*bytes).second) return false;
  }
  return int64_t(sizes.size()) == group.state.after_warm_up;
}

// Returns whether so many compiles were late in the run that the next ones would have come after it.
bool GoesOnAtTheEnd(const RecompileGroup& group) {
  return std::ranges::count_if(group.compiles, [](const CompileFact* compile) {
           return compile->earliest_share >= policy::kSettledBeforeShare;
         }) > policy::kFewRecompiles;
}

// Returns whether a function is most likely one of JAX's operations.
bool IsOneOperation(std::string_view function) {
  return !JaxOperationOf(function).empty() && !IsShortJaxOperation(function);
}

}  // namespace

void SetState(RecompileGroup& group) {
  const CompileSite& site = *group.site;
  // In a window without a step mark, cuts of several places cannot be distinguished, so neither the
  // step nor the site is known.
  const bool mixed =
      site.place.empty() && site.function.empty() && group.steps->from == StepsFrom::kExecutions;
  const bool are_placed = std::ranges::all_of(group.compiles, &CompileFact::is_placed);
  if (group.steps->known && !mixed && are_placed && !group.may_be_one_step) {
    // Without marked steps, the execution that makes the parameters counts as one, too.
    const bool is_marked = group.steps->from == StepsFrom::kSteps && !group.steps->name.empty();
    const int64_t warm_up = policy::kMinWarmUpSteps + (is_marked ? 0 : 1);
    const auto state_by = [&](int64_t CompileFact::* step) {
      return StateOf(StepsOf(group, step), group.steps->first, group.steps->last, warm_up);
    };
    group.state = state_by(&CompileFact::latest_step);
    if (state_by(&CompileFact::step).word != group.state.word) group.state = {};
    if (group.state.word == State::kWarmUp && !group.steps->shows_start)
      group.state.word = State::kUnknown;
    // A step of torch.compile's program may execute many functions, forward and backward, so the number
    // of the execution is not that of a step.
    if (site.cause == CutKind::kCompiledFunction && group.steps->from == StepsFrom::kExecutions)
      group.state.step.reset();
  } else if (group.causes.back().is_dynamic) {
    group.state.word = State::kSettled;
  } else if (const double share = std::ranges::max(group.compiles, {}, &CompileFact::latest_share)
                                      ->latest_share;
             share <= policy::kSettledBeforeShare) {
    group.state = {.word = State::kSettled,
                   .after_warm_up = int64_t(group.compiles.size()),
                   .until_share = share};
  } else if (GoesOnAtTheEnd(group)) {
    group.state = {.word = State::kOngoing, .after_warm_up = int64_t(group.compiles.size())};
  } else if (site.cause == CutKind::kCompiledFunction &&
             int64_t(group.compiles.size()) > policy::kFewRecompiles) {
    // Each new value makes another program, and the log ends with such a compilation.
    group.state = {.word = site.reached_limit ? State::kSettled : State::kOngoing,
                   .after_warm_up = int64_t(group.compiles.size())};
  } else {
    group.state.word = State::kUnknown;
  }
}

bool IsNewState(const RecompileGroup& group) {
  return std::holds_alternative<note::NewState>(group.cause().note);
}

bool MayBeOtherPrograms(const RecompileGroup& group,
                        const std::map<std::string, int64_t>& executions) {
  const CompileSite& site = *group.site;
  if (!site.place.empty() || !site.function.empty()) return false;
  const ReasonType type = group.cause().type;
  if (type != ReasonType::kOpChange && type != ReasonType::kLiveTensorsChange &&
      type != ReasonType::kUnknown)
    return false;
  int64_t executed = 0, run_again = 0;
  for (const auto& [hash, times] : executions) executed += hash.empty() ? 0 : times;
  for (const CompileFact* compile : group.compiles) {
    const auto times = executions.find(compile->graph_key());
    run_again += times != executions.end() && times->second > 1;
  }
  const double compiles = double(group.compiles.size());
  // A Chrome trace names the graph only where it was compiled.
  if (2 * executed < group.steps->count())
    return compiles < policy::kCompilesPerStep * double(group.steps->count());
  return 2 * double(run_again) > compiles;
}

bool AreOtherPieces(const RecompileGroup& group, const std::map<std::string, int64_t>& executions) {
  const ReasonType type = group.cause().type;
  const int64_t most = type == ReasonType::kOpChange || type == ReasonType::kLiveTensorsChange
                           ? int64_t(policy::kFewRecompiles)
                       : type == ReasonType::kUnknown ? 1
                                                      : 0;
  if (group.state.word != State::kSettled || int64_t(group.compiles.size()) > most) return false;
  return std::ranges::count_if(group.compiles, [&](const CompileFact* compile) {
           const auto times = executions.find(compile->graph_key());
           return times == executions.end() || times->second < policy::kNotOnce;
         }) < 2;
}

bool AreFewSizesOfStart(const RecompileGroup& group) {
  const bool is_over = group.state.word == State::kSettled || group.state.word == State::kBurst;
  if (group.cause().type != ReasonType::kShapeChange || !is_over ||
      int64_t(group.compiles.size() / group.parts) >= policy::kFewSizes)
    return false;
  if (!group.state.step) return group.state.until_share < policy::kFirstStepsShare;
  const int64_t begin = std::max(group.site->compiles.front().step, group.steps->first);
  return double(StepsOf(group, &CompileFact::latest_step).back() - begin) <
         policy::kFirstStepsShare * double(group.steps->last - begin + 1);
}

bool IsRareSmallerSize(const RecompileGroup& group, const SizesSeen& sizes,
                       const std::map<std::string, int64_t>& executions) {
  if (sizes.dimensions.size() != 1 || sizes.sizes.size() != 2 || sizes.sizes[1] >= sizes.sizes[0])
    return false;
  int64_t all = 0, these = 0;
  for (const auto& [hash, times] : executions) all += times;
  for (const CompileFact* compile : group.compiles) {
    if (const auto at = executions.find(compile->graph_key()); at != executions.end())
      these += at->second;
  }
  return all > 0 && static_cast<double>(these) <= policy::kRareSizeShare * static_cast<double>(all);
}

bool NeedsFixing(const RecompileGroup& group, std::optional<double> share_of_time, OptInt cost_ns,
                 int64_t compiling_ns, bool is_rare_smaller_size) {
  if (group.cause().type == ReasonType::kNoStepMark || IsNewState(group)) return false;
  // A single operation outside of jit compiles for each type of its inputs, in all calls of the program.
  if (group.cause().type == ReasonType::kUnknown && IsOneOperation(group.site->function))
    return false;
  const RecompileState& state = group.state;
  const auto changes = int64_t(group.compiles.size() / group.parts);
  // No clean program compiles for a weak type, also not in its first steps.
  if (state.word == State::kWarmUp) {
    return group.cause().is_weak_type() && cost_ns.value_or(0) >= policy::kDearCompilingNs &&
           share_of_time.value_or(0) >= policy::kDearCompilingShare;
  }
  // A part of the run may contain only one of the recompiles.
  const bool is_part = std::ranges::any_of(
      group.site->compiles, [](const CompileFact& compile) { return !compile.in_slice; });
  if (is_part && share_of_time.value_or(0) > policy::kMostOfRunShare) return true;
  // A program with a few sizes, such as buckets, compiles each of them in its first steps.
  if (AreFewSizesOfStart(group)) return false;
  if (state.word == State::kBurst && IsOneChangeForEachSize(group)) return false;
  if (state.word == State::kOngoing || state.word == State::kBurst) return true;
  // torch.compile makes what changed dynamic, in every program.
  if (group.causes.back().is_dynamic) return false;
  if (state.word == State::kSettled) {
    const bool early = state.until_share < policy::kEarlyShare;
    const bool dear = share_of_time.value_or(0) >= policy::kDearCompilingShare;
    // A program's last, smaller batch compiles once, whatever that costs.
    if (changes < policy::kNotOnce && is_rare_smaller_size) return false;
    return dear || (state.after_warm_up > policy::kFewRecompiles && !early);
  }
  if (state.word == State::kUnknown) {
    // A clean program, too, compiles in its first steps. If no step is known, all compiles count.
    const int64_t count = state.after_warm_up > 0 ? state.after_warm_up : changes;
    // A program with a few sizes, such as buckets, compiles each of them once. torch.compile makes a
    // size dynamic after its first change, unless the program tells it not to.
    const bool is_told_static = group.cause().seen_in == SeenIn::kGuard && changes > 1;
    if (group.cause().type == ReasonType::kShapeChange && !is_told_static &&
        (count <= policy::kFewRecompiles || AreBuckets(group)))
      return false;
    if (!cost_ns || compiling_ns <= 0) return count > policy::kFewRecompiles;
    const double part = double(*cost_ns) / double(compiling_ns);
    const bool dear = *cost_ns >= policy::kDearCompilingNs && part >= policy::kDearCompilingShare;
    return count >= policy::kFewRecompiles &&
           (dear || (count > policy::kFewRecompiles && part >= policy::kCheapCompilingShare));
  }
  return false;
}

}  // namespace xlaprof

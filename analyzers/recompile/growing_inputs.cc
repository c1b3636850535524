#include "analyzers/recompile/growing_inputs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzers/policy.h"

namespace xlaprof {
namespace {

// Returns how many inputs more a compile takes than the one before, or nothing if that is unknown.
OptInt MoreInputs(const CompileSite& site, size_t index) {
  if (index == 0) return {};
  const CompileFact &before = site.compiles[index - 1], &now = site.compiles[index];
  if (before.input_count && now.input_count) return *now.input_count - *before.input_count;
  if (before.input_nodes && now.input_nodes) return *now.input_nodes - *before.input_nodes;
  return {};
}

// Returns whether the compile also computes so much more than the one before that a loop is unrolled
// more often. What uses the tensors of a list takes a few nodes for each.
bool RunsALoopMoreOften(const CompileSite& site, size_t index, int64_t more_inputs) {
  const OptInt before = site.compiles[index - 1].ir_nodes, now = site.compiles[index].ir_nodes;
  return before && now && *now - *before > policy::kNodesOfListInput * more_inputs;
}

std::string InputsText(const CompileFact& compile) {
  return compile.input_count ? fmt::format("{} inputs", *compile.input_count) : "";
}

// A difference of another kind that the growth explains: one graph has one input more, so its ops,
// numbers, results or new inputs differ, too.
bool IsExplained(const RecompileCause& cause) {
  switch (cause.type) {
    case ReasonType::kOpChange:
    case ReasonType::kConstantChange:
    case ReasonType::kLoopCountChange:
    case ReasonType::kLiveTensorsChange:
    case ReasonType::kParameterSharingChange:
    case ReasonType::kInputStructureChange:
    case ReasonType::kUnprintedChange:
    case ReasonType::kUnknown:
      return true;
    case ReasonType::kShapeChange:
      return cause.is_size_inside;  // of the op that joins the inputs
    default:
      return false;
  }
}

}  // namespace

void ReplaceByGrowth(const CompileSite& site, std::span<const size_t> recompiles,
                     std::vector<CompileReason>* reasons) {
  std::map<int64_t, int64_t> compiles;  // by inputs more
  for (const size_t index : recompiles) {
    const OptInt more = MoreInputs(site, index);
    if (more && *more > 0 && !RunsALoopMoreOften(site, index, *more)) ++compiles[*more];
  }
  const auto usual =
      std::ranges::max_element(compiles, {}, [](const auto& of) { return of.second; });
  if (usual == compiles.end()) return;
  // A list may also grow by other numbers, but then each time.
  int64_t growing_compiles = 0;
  for (const auto& [more, times] : compiles) growing_compiles += times;
  const bool is_usual = usual->second >= policy::kGrowingSizes &&
                        double(usual->second) >= policy::kGrowingShare * double(recompiles.size());
  const bool grows_each_time =
      growing_compiles >= policy::kGrowingSizes && growing_compiles == int64_t(recompiles.size());
  if (!is_usual && !grows_each_time) return;
  note::GrowingInputs growing{.more = usual->first, .first = INT64_MAX, .last = 0};
  for (const size_t index : recompiles) {
    if ((is_usual && MoreInputs(site, index) != usual->first) ||
        !site.compiles[index].input_count || !site.compiles[index - 1].input_count)
      continue;
    growing.first = std::min(growing.first, *site.compiles[index - 1].input_count);
    growing.last = std::max(growing.last, *site.compiles[index].input_count);
  }
  if (growing.last == 0) growing.first = 0;
  for (size_t i = 0; i < recompiles.size(); ++i) {
    const OptInt more = MoreInputs(site, recompiles[i]);
    std::vector<RecompileCause>& causes = (*reasons)[i].causes;
    if (!more || *more <= 0 || RunsALoopMoreOften(site, recompiles[i], *more) ||
        !std::ranges::all_of(causes, IsExplained))
      continue;
    causes.resize(1);
    RecompileCause& cause = causes.front();
    if (cause.type != ReasonType::kInputStructureChange ||
        cause.seen_in != SeenIn::kJaxExplanation) {
      cause.type = ReasonType::kInputStructureChange;
      cause.node = cause.input = cause.shape = "";
      cause.before = InputsText(site.compiles[recompiles[i] - 1]);
      cause.after = InputsText(site.compiles[recompiles[i]]);
    }
    cause.note = growing;
  }
}

}  // namespace xlaprof

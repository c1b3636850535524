#include "analyzers/recompile/cause.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_fold.h"
#include "analyzers/policy.h"
#include "analyzers/recompile/cause_of_difference.h"
#include "analyzers/recompile/compile_history.h"
#include "analyzers/recompile/size_reads.h"
#include "analyzers/recompile/stated_causes.h"
#include "analyzers/run/cache_use.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/jax_operation.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Forms in which a graph may be printed, the most informative first. TorchTPU's operations have lines,
// and the StableHLO beside them shows what they hide. The text IR of torch_xla 2.9 hides attributes.
// Optimised HLO shows them, but only after XLA's transformations.
struct Form {
  PrintedForm name;
  SeenIn seen_in;
};
constexpr std::array<Form, 7> kForms = {{{PrintedForm::kTorchtpuOps, SeenIn::kOperations},
                                         {PrintedForm::kHlo, SeenIn::kHlo},
                                         {PrintedForm::kStablehlo, SeenIn::kStablehlo},
                                         {PrintedForm::kIrText, SeenIn::kIrDump},
                                         {PrintedForm::kIrDot, SeenIn::kIrDump},
                                         {PrintedForm::kHloOptimized, SeenIn::kOptimizedHlo},
                                         {PrintedForm::kSignature, SeenIn::kSignature}}};

constexpr size_t kFullDiffs = 3;  // graphs with the nearest content are compared in full
// The most content hashes that are compared for one compile (a twentieth of a second) and for the
// whole run (a few seconds), and for each compile after that. A lookup costs as much as some
// comparisons.
constexpr int64_t kMaxCompared = 20'000'000, kMaxComparedInAll = 2'000'000'000,
                  kComparedBehindThat = 20'000, kLookUpCost = 64;
constexpr int64_t kMaxNodesKept = 2'000'000;  // about 600 MB of loaded graphs
constexpr size_t kMaxCandidates = 4;          // nodes named for an unprinted change

// Ranks ops whose attributes torch_xla's text dump does not print. Ops that most often have an
// index or a bound come first.
int UnprintedRank(const Op& op) {
  switch (op.kind) {
    case OpKind::kGather:
    case OpKind::kUpdate:
    case OpKind::kArrange:
    case OpKind::kPad:
      return 0;
    case OpKind::kConstant:
      return 1;
    case OpKind::kBroadcast:
    case OpKind::kGenerate:
      return 2;
    default:
      return op.Has(OpTrait::kPart) ? 0 : 3;
  }
}

// Returns whether the form is one of a program, which has no hash of a lazy graph.
bool IsProgram(PrintedForm form) {
  return form == PrintedForm::kHlo || form == PrintedForm::kHloOptimized ||
         form == PrintedForm::kStablehlo;
}

note::PrintAlike::Node Candidate(const PrintedGraph& graph, int index, const UserCode& code) {
  const GraphNode& node = graph.nodes[index];
  SourcePlace place = code.Of(node);
  const bool near = place.empty();
  if (near) place = code.Near(graph, index);
  note::PrintAlike::Node candidate{.op = node.op, .shape = WithoutLayout(node.shape)};
  if (place.empty()) return candidate;
  candidate.place = {.file = place.file, .line = place.line};
  candidate.near = near;
  return candidate;
}

// Returns whether a stated cause is more than that the source does not know it.
bool Explains(const RecompileCause& stated) {
  return stated.type != ReasonType::kUnknown && stated.type != ReasonType::kUnprintedChange;
}

// Returns what a source states without a cause.
CompileReason Unexplained(std::vector<RecompileCause> stated) {
  for (RecompileCause& cause : stated) cause.type = ReasonType::kUnknown;
  return {.causes = std::move(stated)};
}

// Returns whether a stated cause says only that sizes changed, so that the graphs may show which.
bool LacksValues(const RecompileCause& stated) {
  return stated.type == ReasonType::kShapeChange && stated.before.empty() && stated.after.empty();
}

// Returns the cause if JAX found no difference to explain, and the types of the inputs are equal.
RecompileCause OtherStaticArgument(const Form& form) {
  return {.type = ReasonType::kConstantChange,
          .node = "static argument",
          .constant = ConstantKind::kStaticArgument,
          .seen_in = form.seen_in,
          .note = note::OnlyStaticArgumentsAreLeft()};
}

}  // namespace

std::string RecompileCause::Name() const {
  if (!names_input) return node;
  if (input.empty() || shape.empty()) return "input " + input + shape;
  return fmt::format("input {} {}", input, shape);
}

bool RecompileCause::is_weak_type() const {
  return type == ReasonType::kDtypeChange &&
         (before.find("weak_type") != before.npos || after.find("weak_type") != after.npos) &&
         before.substr(0, before.find_first_of(" {")) == after.substr(0, after.find_first_of(" {"));
}

bool RecompileCause::is_scalar_value() const {
  return type == ReasonType::kParameterSharingChange ||
         (type == ReasonType::kConstantChange && constant == ConstantKind::kScalarOrInput);
}

std::string RecompileCause::Key() const {
  // A guard's line is not always printed.
  if (seen_in == SeenIn::kGuard) return fmt::format("{}|{}", type, names_input ? input : node);
  if (is_scalar_value()) return fmt::format("{}|scalar", type);
  if (!location.empty()) return fmt::format("{}|{}", type, location.text());
  // Indices that a scope's name ends with count its uses and say nothing.
  const bool by_node = type == ReasonType::kOpChange || type == ReasonType::kConstantChange ||
                       type == ReasonType::kEnvironmentChange;
  return fmt::format("{}|{}", type, by_node ? node + "|" + scope : of_class);
}

struct ReasonFinder::Impl {
  const Store* store = nullptr;
  const UserCode* code = nullptr;
  CompileHistory history;
  absl::flat_hash_map<int64_t, std::unique_ptr<PrintedGraph>> graphs;
  absl::flat_hash_map<int64_t, std::vector<uint64_t>> hashes;
  int64_t nodes_kept = 0;
  int64_t compared_in_all = 0;
  const std::map<int64_t, std::string>* changed_setting = nullptr;                    // by process
  const absl::flat_hash_map<int64_t, std::vector<RecompileCause>>* stated = nullptr;  // by compile
  const CacheClears* clears = nullptr;
  std::optional<SizeReads> size_reads;

  // Returns the causes that the source of a compile states; null if it states none.
  const std::vector<RecompileCause>* StatedFor(const CompileFact& compile) const {
    const auto found = stated->find(compile.id);
    return found == stated->end() ? nullptr : &found->second;
  }

  absl::StatusOr<const PrintedGraph*> Graph(int64_t id) {
    auto& graph = graphs[id];
    if (!graph) {
      XP_TRY(PrintedGraph loaded, LoadGraph(*store, id));
      FoldRepeatedViews(&loaded);
      nodes_kept += static_cast<int64_t>(loaded.nodes.size());
      graph = std::make_unique<PrintedGraph>(std::move(loaded));
    }
    return graph.get();
  }

  // Frees graphs if they are many. Pointers that Graph() returned become invalid.
  void TrimGraphs() {
    if (nodes_kept <= kMaxNodesKept) return;
    graphs.clear();
    nodes_kept = 0;
  }

  absl::StatusOr<const std::vector<uint64_t>*> Hashes(int64_t id) {
    if (const auto at = hashes.find(id); at != hashes.end()) return &at->second;
    XP_TRY(const PrintedGraph* graph, Graph(id));
    return &(hashes[id] = ContentHashes(*graph));
  }

  static OptInt RowOf(const CompileFact& fact, PrintedForm form) {
    for (const auto& [printed_as, row] : fact.forms) {
      if (printed_as == form) return row;
    }
    return {};
  }

  // Returns the reason that the graphs show, or nothing. Sets `alike` to the compile whose graph
  // prints alike.
  absl::StatusOr<std::optional<CompileReason>> ByGraphs(
      const CompileSite& site, size_t index, std::optional<std::pair<size_t, const Form*>>* alike) {
    const CompileFact& compile = site.compiles[index];
    for (const Form& form : kForms) {
      const OptInt row = RowOf(compile, form.name);
      if (!row) continue;
      XP_TRY(const std::vector<uint64_t>* mine, Hashes(*row));
      if (mine->empty()) continue;
      // Distance and compile. Among equal distances, the latest compile is first.
      std::vector<std::pair<int64_t, size_t>> near;
      int64_t compared = 0;
      const std::vector<uint64_t> mine_copy = *mine;  // the map may move its values
      const int64_t limit =
          compared_in_all < kMaxComparedInAll ? kMaxCompared : kComparedBehindThat;
      for (size_t e = index; e-- > 0 && compared < limit; compared += kLookUpCost) {
        const CompileFact& earlier = site.compiles[e];
        const OptInt other = RowOf(earlier, form.name);
        if (!other || (!compile.hash.empty() && earlier.hash == compile.hash)) continue;
        // What another form shows must explain the difference of two graphs that print alike here.
        if (*alike && e != (*alike)->first && RowOf(site.compiles[(*alike)->first], form.name))
          continue;
        // A row of a signature represents all programs with the same inputs. A row of another form
        // represents one graph.
        if (*other == *row && form.name != PrintedForm::kSignature) continue;
        XP_TRY(const std::vector<uint64_t>* theirs, Hashes(*other));
        compared += static_cast<int64_t>(mine_copy.size() + theirs->size());
        near.emplace_back(MultisetDistance(mine_copy, *theirs), e);
      }
      compared_in_all += compared;
      if (near.empty()) continue;
      std::stable_sort(near.begin(), near.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      if (near.size() > kFullDiffs) near.resize(kFullDiffs);
      TrimGraphs();
      std::optional<GraphDiff> best;
      size_t nearest = 0;
      for (const auto& [distance, e] : near) {
        // In the distance of contents, a changed node counts twice, and an added or removed node
        // once.
        if (best && best->differing_nodes <= distance / 2) continue;
        XP_TRY(const PrintedGraph* before, Graph(*RowOf(site.compiles[e], form.name)));
        XP_TRY(const PrintedGraph* after, Graph(*row));
        GraphDiff diff =
            Diff(*before, *after,
                 int64_t(index) > policy::kLastWithNewState ? NewStateIs::kImpossible
                                                            : NewStateIs::kPossible);
        if (best && best->differing_nodes <= diff.differing_nodes) continue;
        best = std::move(diff), nearest = e;
      }
      if (best->origins.empty()) {
        if (!*alike) {
          XP_TRY(const size_t shared, OtherInputCount(site, index, form, near, nearest));
          *alike = {shared, &form};
        }
        continue;
      }
      CompileReason reason{.differing_nodes = best->differing_nodes};
      XP_TRY(const PrintedGraph* before, Graph(*RowOf(site.compiles[nearest], form.name)));
      XP_TRY(const PrintedGraph* after, Graph(*row));
      for (const GraphDifference& origin : best->origins) {
        reason.causes.push_back(CauseOfDifference(origin, *before, *after, *code));
        XP_TRY(PlaceInput(compile, &reason.causes.back()));
        if (*alike && (*alike)->second->seen_in == SeenIn::kIrDump)
          NumberBehindOp(&reason.causes.back());
        if (*alike && (*alike)->second->seen_in == SeenIn::kOperations) {
          XP_TRY(PlaceByOperations(compile, &reason.causes.back()));
        }
        reason.causes.back().seen_in = form.seen_in;
        reason.causes.back().graph_before = before->id;
        reason.causes.back().graph_after = after->id;
      }
      size_reads->Explain(&reason.causes);
      return reason;
    }
    return std::nullopt;
  }

  // Sets the place of a parameter_sharing_change if all scalar inputs in the user's code have one
  // place, or else lists their places.
  void NameScalarInputs(const PrintedGraph& graph, RecompileCause* cause) const {
    std::vector<SourcePlace> places = PlacesOfScalarInputs(graph, *code);
    if (places.size() == 1) {
      cause->location = std::move(places.front());
      cause->near = true;
    } else if (!places.empty()) {
      if (places.size() > kMaxCandidates) places.resize(kMaxCandidates);
      cause->note = note::ScalarInputs{std::move(places)};
    }
  }

  // Returns the nearest compile whose graph prints alike but has another number of inputs, or else
  // `nearest`. Such a graph differs in the inputs that it shares, which no form prints.
  absl::StatusOr<size_t> OtherInputCount(const CompileSite& site, size_t index, const Form& form,
                                         const std::vector<std::pair<int64_t, size_t>>& near,
                                         size_t nearest) {
    const CompileFact& compile = site.compiles[index];
    for (const auto& [distance, e] : near) {
      const CompileFact& earlier = site.compiles[e];
      if (distance != 0 || !earlier.input_count || !compile.input_count ||
          *earlier.input_count == *compile.input_count)
        continue;
      XP_TRY(const PrintedGraph* before, Graph(*RowOf(earlier, form.name)));
      XP_TRY(const PrintedGraph* after, Graph(*RowOf(compile, form.name)));
      if (Diff(*before, *after).origins.empty()) return e;
    }
    return nearest;
  }

  // Sets the user's line of a changed input that a library recorded. Optimised HLO, which a profile
  // has, names the user's line that called the library.
  absl::Status PlaceInput(const CompileFact& compile, RecompileCause* cause) {
    const OptInt row = RowOf(compile, PrintedForm::kHloOptimized);
    if (!cause->is_input || !cause->location.empty() || cause->library.empty() || !row)
      return absl::OkStatus();
    XP_TRY(const PrintedGraph* graph, Graph(*row));
    cause->location = PlaceOfInput(*graph, cause->shape, *code);
    return absl::OkStatus();
  }

  // Sets the line of a change that only the StableHLO shows, which has no lines: the last one of the
  // operations.
  absl::Status PlaceByOperations(const CompileFact& compile, RecompileCause* cause) {
    const OptInt row = RowOf(compile, PrintedForm::kTorchtpuOps);
    if (!row || !cause->location.empty()) return absl::OkStatus();
    XP_TRY(const PrintedGraph* graph, Graph(*row));
    for (const GraphNode& node : graph->nodes) {
      if (SourcePlace place = code->Of(node); !place.empty()) cause->location = std::move(place);
    }
    cause->near = !cause->location.empty();
    return absl::OkStatus();
  }

  // Changes a cause that optimised HLO shows. The IR prints the same ops, so XLA only simplified
  // them in another way, because a number in the graph is another one. It may belong to an op
  // nearby.
  static void NumberBehindOp(RecompileCause* cause) {
    if (cause->type != ReasonType::kOpChange && cause->type != ReasonType::kLoopCountChange) return;
    cause->type = ReasonType::kConstantChange;
    cause->constant = ConstantKind::kInOp;
    cause->before.clear(), cause->after.clear();
    cause->node.clear();
    cause->near = !cause->location.empty();
  }

  // Returns the cause for graphs that print alike: first a change outside the graph, then one that
  // the printed form may not show.
  absl::StatusOr<RecompileCause> NotPrinted(const CompileFact& earlier, const CompileFact& compile,
                                            const Form& form) {
    RecompileCause cause{.seen_in = form.seen_in};
    const bool is_call = compile.cause == CutKind::kCall || compile.cause == CutKind::kOperation;
    if (is_call && IsJaxLoop(compile.function)) {
      cause.type = ReasonType::kRedefinedFunction;
      cause.note = note::OtherLoopBody();
      return cause;
    }
    if (form.name == PrintedForm::kSignature) {
      cause.type = ReasonType::kUnknown;
      cause.note = note::SameInputTypes();
      return cause;
    }
    auto differ = [&](ReasonType type, OptInt a, OptInt b, std::string_view unit) {
      if (!a || !b || *a == *b) return false;
      cause.type = type;
      cause.before = fmt::format("{} {}", *a, unit), cause.after = fmt::format("{} {}", *b, unit);
      cause.note = note::AlikeButForThis();
      return true;
    };
    if (differ(ReasonType::kParameterSharingChange, earlier.input_count, compile.input_count,
               "inputs")) {
      XP_TRY(const PrintedGraph* graph, Graph(*RowOf(compile, form.name)));
      NameScalarInputs(*graph, &cause);
      return cause;
    }
    if (differ(ReasonType::kLiveTensorsChange, earlier.output_count, compile.output_count,
               "results"))
      return cause;
    if (differ(ReasonType::kDonationChange, earlier.alias_bytes, compile.alias_bytes,
               "donated bytes"))
      return cause;
    if (earlier.cause != compile.cause) {
      cause.type = ReasonType::kCutKindChange;
      cause.before = TextOf(earlier.cause), cause.after = TextOf(compile.cause);
      return cause;
    }
    if (const auto setting = changed_setting->find(compile.process_id);
        setting != changed_setting->end()) {
      cause.type = ReasonType::kEnvironmentChange;
      cause.node = setting->second;
      return cause;
    }
    if (compile.hash.empty() && IsProgram(form.name)) {
      cause.type = ReasonType::kUnknown;
      cause.note = note::SameProgram();
      return cause;
    }
    cause.type = ReasonType::kUnprintedChange;
    XP_TRY(const PrintedGraph* graph, Graph(*RowOf(compile, form.name)));
    std::vector<std::pair<int, int>> candidates;  // rank, node
    // Optimised HLO prints all attributes.
    const bool prints_all = cause.seen_in == SeenIn::kOptimizedHlo;
    for (size_t i = 0; !prints_all && i < graph->nodes.size(); ++i) {
      const int rank = UnprintedRank(*graph->nodes[i].known);
      if (rank < 3) candidates.emplace_back(rank, static_cast<int>(i));
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](auto a, auto b) { return a.first < b.first; });
    note::PrintAlike alike;
    for (const auto& [rank, i] : candidates) {
      note::PrintAlike::Node candidate = Candidate(*graph, i, *code);
      if (std::ranges::find(alike.candidates, candidate) == alike.candidates.end())
        alike.candidates.push_back(std::move(candidate));
      if (alike.candidates.size() == kMaxCandidates) break;
    }
    cause.note = std::move(alike);
    return cause;
  }
};

ReasonFinder::ReasonFinder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReasonFinder::ReasonFinder(ReasonFinder&&) noexcept = default;
ReasonFinder::~ReasonFinder() = default;

absl::StatusOr<ReasonFinder> ReasonFinder::Make(const Run& run, const CompileSites& facts) {
  auto impl = std::make_unique<Impl>();
  impl->store = &run.store();
  XP_TRY(impl->code, run.Get<UserCode>());
  impl->history = CompileHistory(facts);
  XP_TRY(const Contents* contents, run.Get<Contents>());
  impl->changed_setting = &contents->changed_setting;
  XP_TRY(const StatedCauses* stated, run.Get<StatedCauses>());
  impl->stated = &stated->by_compile;
  XP_TRY(impl->clears, run.Get<CacheClears>());
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  impl->size_reads.emplace(*cuts);
  return ReasonFinder(std::move(impl));
}

bool ReasonFinder::IsStated(const CompileFact& compile) const {
  return impl_->StatedFor(compile) != nullptr;
}

absl::StatusOr<CompileReason> ReasonFinder::WithoutClears(const CompileSite& site, size_t index) {
  const CompileFact& compile = site.compiles[index];
  if (auto why = impl_->history.WhyCompiledAgain(compile))
    return CompileReason{.causes = {std::move(*why)}};
  const std::vector<RecompileCause>* stated = impl_->StatedFor(compile);
  if (stated != nullptr && Explains(stated->front()) && !LacksValues(stated->front()))
    return CompileReason{.causes = *stated};
  std::optional<std::pair<size_t, const Form*>> alike;
  XP_TRY(std::optional<CompileReason> reason, impl_->ByGraphs(site, index, &alike));
  // JAX has compared the types, with those of the most similar call.
  const bool is_unprinted =
      stated != nullptr && stated->front().type == ReasonType::kUnprintedChange;
  if (reason && !(is_unprinted && reason->causes.front().seen_in == SeenIn::kSignature))
    return *std::move(reason);
  if (is_unprinted && alike && !reason)
    return CompileReason{.causes = {OtherStaticArgument(*alike->second)}};
  if (stated != nullptr && Explains(stated->front())) return CompileReason{.causes = *stated};
  if (stated != nullptr) return Unexplained(*stated);
  if (alike) {
    const auto& [nearest, form] = *alike;
    XP_TRY(RecompileCause cause, impl_->NotPrinted(site.compiles[nearest], compile, *form));
    return CompileReason{.causes = {std::move(cause)}};
  }
  const CompileFact& nearest = NearestByCounts(site, index);
  return CompileReason{.causes = {BySizes(nearest, compile)}};
}

absl::StatusOr<CompileReason> ReasonFinder::Why(const CompileSite& site, size_t index) {
  XP_TRY(CompileReason reason, WithoutClears(site, index));
  RecompileCause& cause = reason.causes.front();
  const CompileFact &compile = site.compiles[index], &earlier = site.compiles[index - 1];
  if (std::holds_alternative<note::SameProgram>(cause.note) && compile.ts_ns && earlier.ts_ns &&
      impl_->clears->AnyBetween(*earlier.ts_ns, *compile.ts_ns)) {
    cause.type = ReasonType::kCacheEviction;
    cause.note = note::CachesCleared();
  }
  if (std::holds_alternative<note::CachesCleared>(cause.note))
    cause.location = impl_->clears->caller;
  return reason;
}

absl::StatusOr<std::optional<CompileReason>> ReasonFinder::WhyFirst(const CompileSite& site) {
  const CompileFact& first = site.compiles.front();
  // Many functions have a name such as <lambda>, so the site may not be the first of its function.
  // Other causes that a source states compare with a call that may only have been traced.
  const std::vector<RecompileCause>* stated = impl_->StatedFor(first);
  if (stated != nullptr && stated->front().type == ReasonType::kRedefinedFunction) {
    const auto before = impl_->history.Before(first);
    const bool came_before = std::ranges::any_of(before, [&](const auto& earlier) {
      return earlier.site->function == site.function && earlier.site->cause == site.cause;
    });
    if (came_before) return CompileReason{.causes = *stated};
  }
  XP_TRY(std::optional<RecompileCause> other_cut, OtherCut(site));
  if (!other_cut) return std::nullopt;
  return CompileReason{.causes = {*std::move(other_cut)}};
}

absl::StatusOr<std::optional<RecompileCause>> ReasonFinder::OtherCut(const CompileSite& site) {
  const CompileFact& first = site.compiles.front();
  for (const Form& form : kForms) {
    const OptInt row = Impl::RowOf(first, form.name);
    if (!row) continue;
    for (const CompileHistory::Compiled& earlier : impl_->history.Before(first)) {
      if (earlier.site->cause == site.cause || earlier.site->function != site.function) continue;
      const OptInt other = Impl::RowOf(*earlier.fact, form.name);
      if (!other || *other == *row || earlier.fact->hash == first.hash) continue;
      XP_TRY(const std::vector<uint64_t>* theirs, impl_->Hashes(*other));
      const std::vector<uint64_t> copy = *theirs;
      XP_TRY(const std::vector<uint64_t>* mine, impl_->Hashes(*row));
      if (mine->empty() || MultisetDistance(copy, *mine) != 0) continue;
      impl_->TrimGraphs();
      XP_TRY(const PrintedGraph* before, impl_->Graph(*other));
      XP_TRY(const PrintedGraph* after, impl_->Graph(*row));
      if (!Diff(*before, *after).origins.empty()) continue;
      return RecompileCause{.type = ReasonType::kCutKindChange,
                            .before = std::string(TextOf(earlier.site->cause)),
                            .after = std::string(TextOf(site.cause)),
                            .seen_in = form.seen_in};
    }
  }
  return std::nullopt;
}

}  // namespace xlaprof

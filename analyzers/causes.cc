#include "analyzers/causes.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <variant>

#include "analyzers/device_gap.h"
#include "analyzers/fallback.h"
#include "analyzers/graph_break.h"
#include "analyzers/graph_fragmentation.h"
#include "analyzers/kinds.h"
#include "analyzers/recompilation.h"
#include "analyzers/recompile/dynamo.h"
#include "analyzers/recompile/function_part.h"
#include "analyzers/recompile/outside_jit.h"
#include "analyzers/recompile_limit.h"
#include "analyzers/run/tables.h"
#include "analyzers/slow_compile.h"
#include "analyzers/sync_point.h"
#include "base/xla_shape.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

// Returns the figures of a finding, or null if they are of another struct. `Kind` is that of a kind
// of finding that has several.
template <class Figures, class Kind = Figures, class AnyFinding>
auto* FiguresOf(AnyFinding& finding) {
  auto* figures = std::any_cast<Kind>(&finding.figures);
  if constexpr (std::is_same_v<Figures, Kind>) {
    return figures;
  } else {
    return std::get_if<Figures>(figures);
  }
}

const FallbackOpFigures* FallbackOpOf(const Finding& finding) {
  return FiguresOf<FallbackOpFigures, FallbackFigures>(finding);
}

// Returns what accepts the findings of one kind, as an effect or as the cause of any effect.
auto Is(const Analyzer& kind) {
  return [&kind](const Finding& finding, const auto&...) { return IsOf(finding, kind); };
}

bool HasReason(const Finding& finding, ReasonType type) {
  return finding.reason && finding.reason->type == type;
}

// Returns the ids of the rows of a table that a finding cites.
std::vector<int64_t> CitedRows(const Finding& finding, std::string_view table) {
  std::vector<int64_t> rows;
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.table == table)
      rows.insert(rows.end(), evidence.rows.begin(), evidence.rows.end());
  }
  return rows;
}

// Returns whether an input that changes its size can be the result of this op, which runs on the
// CPU: its size depends on values, and its type and rank are those of the op's results.
bool FitsResult(std::string_view op, const Finding& recompile) {
  const auto* figures = FiguresOf<RecompileFigures>(recompile);
  if (figures == nullptr || !figures->cause.is_input || !figures->sizes ||
      figures->sizes->dimensions != std::vector{0} || !recompile.subject.file)
    return false;
  const XlaShape& shape = figures->sizes->shape;
  constexpr size_t kMostRanks = 5;  // nonzero has a column for each dimension of its input
  const Op& known = FindTorchOp(op);
  if (known.Has(OpTrait::kListsPlaces))
    return shape.element_type() == "s64" && shape.rank() == 2 &&
           shape.dimensions()[1] <= int64_t(kMostRanks);
  return known.Has(OpTrait::kSizedByValues) && shape.rank() == 1;
}

// Returns whether the input that changes its size enters the graph at the line of an op, as the
// result of an op that runs on the CPU does.
bool IsInputAt(const Finding& recompile, const Subject& op) {
  const auto* figures = FiguresOf<RecompileFigures>(recompile);
  return figures != nullptr && figures->cause.is_input && figures->sizes && op.file &&
         !figures->cause.near && figures->cause.library.empty() && recompile.subject.file &&
         figures->cause.location == op.place();
}

// The facts that links between fallbacks and compiles need.
class MaskEvidence {
 public:
  static absl::StatusOr<MaskEvidence> Of(const Run& run) {
    MaskEvidence evidence;
    XP_TRY(const Compiles* compiles, run.Get<Compiles>());
    XP_TRY(const Fallbacks* fallbacks, run.Get<Fallbacks>());
    for (const CompileRow& row : compiles->rows) evidence.compiles_[row.id] = &row;
    for (const FallbackRow& row : fallbacks->rows) {
      if (row.op && row.ordinal) evidence.calls_[*row.op].push_back(&row);
    }
    return evidence;
  }
  // Returns whether a call of the op came before most of these compiles, in their step.
  bool Precedes(const std::string& op, const std::vector<int64_t>& compiles) const {
    const auto calls = calls_.find(op);
    if (calls == calls_.end() || compiles.empty()) return false;
    int64_t preceded = 0;
    for (const int64_t id : compiles) {
      const auto compile = compiles_.find(id);
      if (compile == compiles_.end()) continue;
      const CompileRow& row = *compile->second;
      preceded += std::ranges::any_of(calls->second, [&](const FallbackRow* call) {
        return call->process_id == row.process_id && call->step_id == row.step_id &&
               *call->ordinal < row.ordinal;
      });
    }
    return double(preceded) >= policy::kPrecededShare * double(compiles.size());
  }

 private:
  std::map<int64_t, const CompileRow*> compiles_;
  std::map<std::string, std::vector<const FallbackRow*>> calls_;  // those with a place in the order
};

// Finds the links of one run. A finding keeps the first link that holds.
class Linker {
 public:
  explicit Linker(const Findings& findings) : findings_(findings), links_(findings.size()) {}

  // Links each finding that `is_effect` accepts to the most expensive one that `explains` accepts.
  template <class IsEffect, class Explains>
  void Link(IsEffect&& is_effect, Explains&& explains) {
    for (size_t effect = 0; effect < findings_.size(); ++effect) {
      if (links_[effect] || !is_effect(findings_[effect])) continue;
      std::optional<size_t> best;
      for (size_t cause = 0; cause < findings_.size(); ++cause) {
        if (cause == effect || IsBelow(cause, effect) ||
            !explains(findings_[cause], findings_[effect]))
          continue;
        if (!best || findings_[cause].cost_ns.value_or(-1) > findings_[*best].cost_ns.value_or(-1))
          best = cause;
      }
      links_[effect] = best;
    }
  }
  CauseLinks Take() { return std::move(links_); }

 private:
  // Returns whether `finding` already follows from `of`.
  bool IsBelow(size_t finding, size_t of) const {
    for (std::optional<size_t> at = finding; at; at = links_[*at]) {
      if (*at == of) return true;
    }
    return false;
  }

  const Findings& findings_;
  CauseLinks links_;
};

// Returns whether the metrics' copies are known to belong to this op and its like.
bool CopiesAreIts(const Finding& finding) {
  const FallbackOpFigures* op = FallbackOpOf(finding);
  return op != nullptr && op->cost == FallbackOpFigures::Cost::kShareOfMetrics;
}

// Returns whether both are the same place. Sources print a function with its class or without.
bool IsSame(const SourcePlace& a, const SourcePlace& b) {
  return a == b || (a.line && a.line == b.line && a.file == b.file);
}

// Returns whether a cause is at the place of an effect. An op may have several places.
bool IsHere(const Finding& cause, const Finding& effect) {
  const SourcePlace place = effect.subject.place();
  if (IsSame(cause.subject.place(), place)) return true;
  const FallbackOpFigures* op = FallbackOpOf(cause);
  return op != nullptr && effect.subject.file &&
         std::ranges::find(op->call_sites, place) != op->call_sites.end();
}

bool IsGap(const Finding& finding, ReasonType reason) {
  return IsOf(finding, device_gap) && HasReason(finding, reason);
}

// Returns whether the finding is a gap in which the host did this.
bool IsGapWhile(const Finding& finding, Doing doing) {
  const auto* figures = FiguresOf<DeviceGapFigures>(finding);
  return IsOf(finding, device_gap) && figures != nullptr && figures->doing == doing;
}

// Returns whether half of some copies, whose lines are not known, may be those of an op.
bool MayCopy(const Finding& op, const Finding& copies) {
  return !copies.subject.file && 2 * op.count.value_or(0) >= copies.count.value_or(INT64_MAX / 4);
}

// Returns whether step marks inside the steps, and not reads, cut most pieces of graph_fragmentation.
bool IsCutByMarks(const Finding& finding) {
  const auto* pieces = FiguresOf<RecordedPiecesFigures, GraphFragmentationFigures>(finding);
  return pieces != nullptr && pieces->inner_marks > pieces->forced;
}

bool IsReadOfJax(const Finding& finding) {
  const auto* read = FiguresOf<ReadOperationFigures, SyncPointFigures>(finding);
  return read != nullptr && read->of_jax;
}

// Returns the read whose number decides the size for which a finding recompiles; null if none does.
const SourcePlace* SizeReadOf(const Finding& finding) {
  const auto* figures = FiguresOf<RecompileFigures>(finding);
  return figures != nullptr && !figures->cause.size_read.empty() ? &figures->cause.size_read
                                                                 : nullptr;
}

// Returns the figures of a read before the step mark; null for a finding of another kind.
template <class AnyFinding>
auto* EarlyReadOf(AnyFinding& finding) {
  return FiguresOf<EarlyReadFigures, SyncPointFigures>(finding);
}

// Returns where a finding reads before the step mark, or else where it made what it reads. Returns an
// empty place for a finding of another kind.
SourcePlace PlaceOfRead(const Finding& finding) {
  const EarlyReadFigures* early = EarlyReadOf(finding);
  if (early == nullptr) return {};
  return finding.subject.file ? finding.subject.place() : early->value_place;
}

// Returns whether a finding is about the graph of a read that is compiled again.
bool IsRecompileOfRead(const Finding& finding) {
  const auto* figures = FiguresOf<RecompileFigures>(finding);
  return figures != nullptr && figures->site.cut == CutKind::kValueAccess &&
         !figures->site.place.empty();
}

// Returns whether both findings are recompilations for changes at one line of the user's.
bool IsSamePlace(const Finding& a, const Finding& b) {
  const auto *of_a = FiguresOf<RecompileFigures>(a), *of_b = FiguresOf<RecompileFigures>(b);
  return of_a != nullptr && of_b != nullptr && !of_a->cause.location.empty() &&
         of_a->cause.location == of_b->cause.location;
}

// Returns whether both findings are recompilations for the same change.
bool IsSameChange(const Finding& a, const Finding& b) {
  return IsSamePlace(a, b) && a.reason->type == b.reason->type;
}

// Returns whether a read is the one whose graph is compiled again.
bool IsAtSite(const Finding& read, const Finding& recompile) {
  const EarlyReadFigures* early = EarlyReadOf(read);
  const RecompileSite& site = std::any_cast<const RecompileFigures&>(recompile.figures).site;
  return early != nullptr && read.subject.place() == site.place && early->library == site.library;
}

// Tells a read that its number decides the size for which `recompile` compiles.
void TellSize(const Finding& recompile, Finding& read) {
  EarlyReadFigures* early = EarlyReadOf(read);
  const RecompileCause& cause = std::any_cast<const RecompileFigures&>(recompile.figures).cause;
  if (early == nullptr || early->returned) return;
  early->decides_size = EarlyReadFigures::Sized{
      cause.is_input ? "an input " + cause.shape : cause.node, cause.location};
}

// Returns whether the graphs of a read that were compiled hold several rounds of a loop.
bool HoldsRounds(const Finding& finding) {
  const auto* reads = FiguresOf<CompilationsOfReads, SlowCompileFigures>(finding);
  return reads != nullptr && reads->times_of_step;
}

// Returns whether a finding is about operations that JAX compiled outside of jit in the course of the
// run.
bool IsOutsideJit(const Finding& finding) {
  const auto* figures = FiguresOf<OutsideJitFigures>(finding);
  return figures != nullptr && !figures->at_start;
}

// Returns whether the operations of `compiled` that were compiled most are among those that `executed`
// executes most.
bool RunsOperationsOf(const Finding& executed, const Finding& compiled) {
  const auto* pieces = FiguresOf<OperationsOutsideJitFigures, GraphFragmentationFigures>(executed);
  const auto& operations =
      std::any_cast<const OutsideJitFigures&>(compiled.figures).operations.most;
  return pieces != nullptr && !operations.empty() &&
         std::ranges::any_of(pieces->most,
                             [&](const auto& of) { return of.first == operations.front().first; });
}

// Returns the lines between which the host worked while the device idled; null for other findings.
const WorkBetweenLines* WorkOf(const Finding& finding) {
  const auto* figures = FiguresOf<DeviceGapFigures>(finding);
  return figures != nullptr && figures->recurs() && figures->work ? &*figures->work : nullptr;
}

// Returns whether only sampled stacks say what the host did while the device idled.
bool IsSampledGap(const Finding& finding) {
  const auto* figures = FiguresOf<DeviceGapFigures>(finding);
  return figures != nullptr && figures->sampled;
}

// Returns whether the host waits for a number for at least the time of these gaps. Without the read,
// it would do meanwhile what it does in the gaps. Work on a tensor that it reads may depend on it.
bool WaitsAsLongAs(const Finding& read, const Finding& gap) {
  const EarlyReadFigures* early = EarlyReadOf(read);
  const bool is_of_number = early != nullptr && (early->value == ReadValue::kNumber ||
                                                 early->value == ReadValue::kBoolean);
  return is_of_number && read.needs_fixing && gap.cost_ns && early->wait_ns >= gap.cost_ns;
}

// Returns whether a function reached its limit of programs by these recompilations.
bool LeadsToLimit(const Finding& recompile, const Finding& limit) {
  const auto* of_limit = FiguresOf<RecompileLimitFigures>(limit);
  if (of_limit == nullptr || !IsOf(recompile, recompilation)) return false;
  const auto* figures = FiguresOf<RecompileFigures>(recompile);
  const std::string function =
      figures != nullptr ? figures->site.function : recompile.subject.function.value_or("");
  const SourcePlace place = figures != nullptr ? figures->site.place : recompile.subject.place();
  return function == of_limit->function && place.file == limit.subject.file.value_or("") &&
         place.line == limit.subject.line;
}

// Returns whether a recompilation is for a number that is read at the line of a graph break, behind
// which the part of the function begins that gets it.
bool IsReadAtBreak(const Finding& recompile, const Finding& at) {
  if (!IsOf(at, graph_break) || !at.subject.line) return false;
  const auto* figures = FiguresOf<RecompileFigures>(recompile);
  const auto* printed = FiguresOf<DynamoFigures>(recompile);
  const bool is_read =
      (figures != nullptr && figures->cause.constant == ConstantKind::kReadNumber) ||
      (printed != nullptr && printed->reason.find("___stack") != std::string::npos);
  if (!is_read) return false;
  const std::string& function = figures != nullptr ? figures->site.function : printed->function;
  const SourcePlace place = figures != nullptr ? figures->site.place : recompile.subject.place();
  return ParseFunctionPart(function).line == at.subject.line &&
         place.basename() == at.subject.place().basename();
}

// Links a recompile to the fallback op whose result has another size each time, if that op ran
// before most of its compiles or if the input that changes fits its result.
absl::Status LinkMasks(const Run& run, Linker& linker) {
  XP_TRY(const MaskEvidence evidence, MaskEvidence::Of(run));
  linker.Link(
      [](const Finding& effect) {
        return IsOf(effect, recompilation) && FiguresOf<RecompileFigures>(effect) != nullptr &&
               (HasReason(effect, ReasonType::kShapeChange) ||
                HasReason(effect, ReasonType::kOpChange) ||
                HasReason(effect, ReasonType::kLoopCountChange));
      },
      [&](const Finding& cause, const Finding& effect) {
        if (!IsOf(cause, fallback) || !cause.subject.op) return false;
        if (IsInputAt(effect, cause.subject)) return true;
        return FindTorchOp(*cause.subject.op).Has(OpTrait::kSizedByValues) &&
               (evidence.Precedes(*cause.subject.op, CitedRows(effect, "compile")) ||
                (cause.per_step.value_or(0) >= 1 && FitsResult(*cause.subject.op, effect)));
      });
  return absl::OkStatus();
}

}  // namespace

// The order of the links matters: an earlier one wins.
absl::StatusOr<CauseLinks> LinkCauses(const Run& run, Findings& findings) {
  Linker linker(findings);
  // Without a step mark, each graph holds one step more than the one before.
  linker.Link(
      [](const Finding& effect) {
        return IsOf(effect, recompilation) && HasReason(effect, ReasonType::kNoStepMark);
      },
      Is(missing_step_mark));
  // A missing step mark also makes each read evaluate all steps before it.
  linker.Link(Is(sync_point), [](const Finding& cause, const Finding& effect) {
    return IsOf(cause, missing_step_mark) && cause.needs_fixing && cause.subject.file &&
           IsSame(cause.subject.place(), effect.subject.place());
  });
  // A read evaluates a graph of its own, which has to be compiled.
  linker.Link(
      [](const Finding& effect) {
        return IsOf(effect, slow_compile) && HasReason(effect, ReasonType::kValueAccess);
      },
      [](const Finding& cause, const Finding& effect) {
        return (IsOf(cause, sync_point) || IsOf(cause, fallback)) && IsHere(cause, effect);
      });
  // A function of the host that works on JAX's results has to read them first.
  linker.Link(IsReadOfJax, [](const Finding& cause, const Finding& effect) {
    return IsGap(cause, ReasonType::kUserScope) && cause.needs_fixing && cause.subject.file &&
           IsSame(cause.subject.place(), effect.subject.place());
  });
  XP_TRY(LinkMasks(run, linker));
  // A tensor that leaves the device and comes back at one of the lines where an op without lowering may
  // be called is most likely that op's.
  linker.Link(
      [](const Finding& effect) {
        const EarlyReadFigures* early = EarlyReadOf(effect);
        return early != nullptr && early->returned;
      },
      [](const Finding& cause, const Finding& effect) {
        const FallbackOpFigures* op = FallbackOpOf(cause);
        return op != nullptr && std::ranges::any_of(op->candidates, [&](const Subject& candidate) {
                 return candidate.place().IsLineOf(PlaceOfRead(effect));
               });
      });
  // The gradient of an op without lowering has none either.
  linker.Link(Is(fallback), [](const Finding& cause, const Finding& effect) {
    const std::string forward = ForwardOpOf(effect.subject.op.value_or(""));
    return IsOf(cause, fallback) && !forward.empty() && cause.subject.op == forward;
  });
  // A number that is read decides a size, so each value makes another graph.
  linker.Link([](const Finding& effect) { return SizeReadOf(effect) != nullptr; },
              [](const Finding& cause, const Finding& effect) {
                return PlaceOfRead(cause) == *SizeReadOf(effect);
              });
  // Without a step mark, the graph of a read grows.
  linker.Link(IsRecompileOfRead, [](const Finding& cause, const Finding& effect) {
    return IsOf(cause, missing_step_mark) && cause.needs_fixing && cause.subject.file &&
           IsSame(cause.subject.place(), effect.subject.place());
  });
  // The graph of a read is compiled again for the same change as the step's graph, or else because it
  // is read at all.
  linker.Link(IsRecompileOfRead, [](const Finding& cause, const Finding& effect) {
    return IsSameChange(cause, effect) && !IsRecompileOfRead(cause);
  });
  linker.Link(IsRecompileOfRead, [](const Finding& cause, const Finding& effect) {
    return cause.needs_fixing && ((IsOf(cause, sync_point) && IsAtSite(cause, effect)) ||
                                  (IsOf(cause, fallback) && cause.subject.file &&
                                   IsHere(cause, effect)));
  });
  // A number that is read decides a size, and so does whether the ops of that size are recorded.
  linker.Link([](const Finding& effect) { return HasReason(effect, ReasonType::kOpChange); },
              [](const Finding& cause, const Finding& effect) {
                return SizeReadOf(cause) != nullptr && IsSamePlace(cause, effect);
              });
  // An op without lowering fetches its inputs and uploads its result at its own line.
  linker.Link(Is(large_transfer), [](const Finding& cause, const Finding& effect) {
    if (!IsOf(cause, fallback)) return false;
    const bool is_here = cause.subject.file && effect.subject.file && IsHere(cause, effect);
    return is_here || (!effect.subject.file && CopiesAreIts(cause)) || MayCopy(cause, effect);
  });
  linker.Link(IsGapOfFallbacks, Is(fallback));
  // Only a step's end donates, so what an op or a read evaluates before it copies what it updates.
  linker.Link(Is(missing_donation), [](const Finding& cause, const Finding& effect) {
    return (IsOf(cause, fallback) || IsOf(cause, sync_point)) && effect.subject.file &&
           IsHere(cause, effect);
  });
  // Reads and ops without lowering cut the graph in pieces, unless step marks cut most of them.
  linker.Link(
      [](const Finding& effect) {
        return IsOf(effect, graph_fragmentation) && !IsCutByMarks(effect);
      },
      [](const Finding& cause, const Finding&) {
        return (IsOf(cause, sync_point) || IsOf(cause, fallback)) &&
               cause.per_step.value_or(0) >= 1;
      });
  // Operations outside of jit are small executions, between which the device idles.
  linker.Link(
      [](const Finding& effect) {
        const auto* figures = FiguresOf<DeviceGapFigures>(effect);
        return figures != nullptr && figures->small_executions.has_value();
      },
      [](const Finding& cause, const Finding&) {
        return IsOf(cause, graph_fragmentation) && HasReason(cause, ReasonType::kOutsideJit);
      });
  // Outside of jit, each operation is also compiled by itself.
  linker.Link(IsOutsideJit, [](const Finding& cause, const Finding& effect) {
    return IsOf(cause, graph_fragmentation) && RunsOperationsOf(cause, effect);
  });
  // The host works with the tensor that it read.
  linker.Link([](const Finding& effect) { return WorkOf(effect) != nullptr; },
              [](const Finding& cause, const Finding& effect) {
                const EarlyReadFigures* early = EarlyReadOf(cause);
                return early != nullptr && early->value == ReadValue::kTensor &&
                       IsSame(cause.subject.place(), WorkOf(effect)->before);
              });
  // The host could do other work while it waits for a number.
  linker.Link(IsSampledGap, WaitsAsLongAs);
  // The samples show the line of a read, or of an op without lowering.
  linker.Link(IsSampledGap, [](const Finding& cause, const Finding& effect) {
    const bool may_wait = EarlyReadOf(cause) != nullptr || IsOf(cause, fallback);
    return may_wait && cause.needs_fixing && effect.subject.file && IsHere(cause, effect);
  });
  // The host works with a tensor that it fetched after the step mark.
  linker.Link(
      [](const Finding& effect) {
        const auto* read = FiguresOf<CountedReadFigures, SyncPointFigures>(effect);
        return (read != nullptr && read->after_marks && read->value == ReadValue::kTensor) ||
               (IsOf(effect, large_transfer) && HasReason(effect, ReasonType::kFromDevice) &&
                !effect.subject.file);
      },
      [](const Finding& cause, const Finding&) {
        const auto* figures = FiguresOf<DeviceGapFigures>(cause);
        return figures != nullptr && cause.needs_fixing &&
               (IsGap(cause, ReasonType::kUserScope) || IsGap(cause, ReasonType::kSampledLine)) &&
               figures->recurs() && figures->follows_fetch();
      });
  // A read copies from the device, which then idles.
  linker.Link(
      [](const Finding& effect) {
        return IsGapWhile(effect, Doing::kTransfer) ||
               (IsOf(effect, large_transfer) && HasReason(effect, ReasonType::kFromDevice));
      },
      [](const Finding& cause, const Finding& effect) {
        return IsOf(cause, sync_point) && cause.needs_fixing &&
               cause.subject.scope == effect.subject.scope;
      });
  linker.Link([](const Finding& effect) { return IsGapWhile(effect, Doing::kTransfer); },
              [](const Finding& cause, const Finding& effect) {
                return IsOf(cause, large_transfer) && cause.needs_fixing &&
                       cause.cost_ns.value_or(0) >= effect.cost_ns.value_or(0);
              });
  // The device idles because of what the host does meanwhile.
  linker.Link([](const Finding& effect) { return IsGapWhile(effect, Doing::kInput); },
              Is(input_bound));
  linker.Link([](const Finding& effect) { return IsGap(effect, ReasonType::kTracing); },
              Is(tracing_bound));
  linker.Link([](const Finding& effect) { return IsGap(effect, ReasonType::kCompile); },
              [](const Finding& cause, const Finding&) {
                return IsOf(cause, recompilation) || IsOf(cause, slow_compile) ||
                       IsOf(cause, cold_start);
              });
  linker.Link(Is(recompile_limit), LeadsToLimit);
  // A number that is read where the graph breaks becomes a part of the next program.
  linker.Link(Is(recompilation), [](const Finding& cause, const Finding& effect) {
    return IsReadAtBreak(effect, cause);
  });
  CauseLinks links = linker.Take();
  for (size_t i = 0; i < findings.size(); ++i) {
    if (links[i] && SizeReadOf(findings[i]) != nullptr) TellSize(findings[i], findings[*links[i]]);
    if (links[i] && findings[i].needs_fixing && HoldsRounds(findings[i])) {
      if (EarlyReadFigures* early = EarlyReadOf(findings[*links[i]])) early->holds_rounds = true;
    }
    if (!links[i] || !IsOf(findings[*links[i]], fallback)) continue;
    // The op's result enters the graph as an input at the line that called the op.
    Subject& op = findings[*links[i]].subject;
    const EarlyReadFigures* early = EarlyReadOf(findings[i]);
    if (!op.file && early != nullptr && early->returned) op.SetPlace(PlaceOfRead(findings[i]));
    if (!op.file && FitsResult(op.op.value_or(""), findings[i]))
      op.SetPlace(findings[i].subject.place());
    if (auto* figures = FiguresOf<RecompileFigures>(findings[i]))
      figures->mask = findings[*links[i]].subject;
  }
  return links;
}

}  // namespace xlaprof

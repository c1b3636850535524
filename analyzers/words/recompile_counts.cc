#include "analyzers/policy.h"
#include "analyzers/quantity.h"
#include "analyzers/recompilation.h"
#include "analyzers/recompile/counts.h"

namespace xlaprof {
namespace {

constexpr const char* kNothingToDo = "Recompilation needs no change.";

// Each text says what to do about compiles that are only counted: if the program certainly recompiles, if
// the metrics may have been cleared, and if steps are not known.
struct CountAdvice {
  std::string_view recompiles, may_be_cleared, each_step;
  std::string_view compile_time;  // the metric that times them
};

CountAdvice AdviceOf(Framework framework) {
  if (framework == Framework::kGaudi) {
    constexpr std::string_view kShapes =
        "Pad inputs to a few sizes, so that shapes repeat, or let the graph compiler handle sizes that vary (PT_HPU_ENABLE_REFINE_DYNAMIC_SHAPES=1). PT_HPU_METRICS_GC_DETAILS=1 lists each compiled recipe with its time.";
    return {
        .recompiles = kShapes,
        .may_be_cleared = kShapes,
        .each_step =
            "PT_HPU_ENABLE_CACHE_METRICS=1 counts how often compiled recipes are used again. In releases that have the trigger, PT_HPU_METRICS_DUMP_TRIGGERS=process_exit,metric_change shows when the program compiles.",
        .compile_time = "graph_compilation's TotalTime"};
  }
  if (framework == Framework::kTorchtpu) return {.compile_time = "compilation_duration"};
  return {
      .may_be_cleared =
          "Print the report without met.clear_all() before it, or set XLA_METRICS_FILE, to see whether CompileTime continues to rise.",
      .each_step =
          "Report on an XLA_METRICS_FILE, which has a report of each step, to see whether the program continues to compile.",
      .compile_time = "CompileTime"};
}

std::string Name(const CountSource& source, Framework framework) {
  const bool one = source.number == 1;
  if (one && framework == Framework::kTorchtpu) return "the totals that TorchTPU prints at exit";
  switch (source.kind) {
    case CountSource::Kind::kReports:
      return one ? "one metrics report" : fmt::format("{} metrics reports", source.number);
    case CountSource::Kind::kOneOfReports:
      return fmt::format("one of {} metrics reports", source.number);
    case CountSource::Kind::kFrequentLines:
      return one ? "one \"CompileTime too frequent\" line"
                 : fmt::format("{} \"CompileTime too frequent\" lines", source.number);
  }
  return "";
}

std::string Counted(const CountSignals& signals) {
  const std::string compiles = Plural(signals.compiles, "compile");
  if (signals.steps > 0) return fmt::format("{} in {}", compiles, Plural(signals.steps, "step"));
  if (signals.executions)
    return fmt::format("{} in {}", compiles, Plural(*signals.executions, "execution"));
  return compiles;
}

struct VerdictWords {
  std::string title;
  std::string_view advice;
  std::optional<Unseen> unseen =
      {};  // what metrics hide of a program that recompiles, or may do so
};

// Returns the words of each verdict.
VerdictWords Judged(const CountFigures& figures, const CountAdvice& advice, Framework framework) {
  const CountSignals& signals = figures.signals;
  const std::string counted = Counted(signals);
  const auto& [recompiles, may_be_cleared, each_step, compile_time] = advice;
  const std::optional<Unseen> which_line = Unseen{"which line and why", RecordingKind::kGraphs},
                              unseen = framework == Framework::kGaudi ? std::nullopt : which_line,
                              of_totals =
                                  framework == Framework::kTorchtpu ? which_line : std::nullopt;
  switch (figures.verdict) {
    case CountVerdict::kMoreThanClean:
      return {fmt::format("{}: a clean program with {} per step makes about {}", counted,
                          Plural(signals.cuts, "graph"), signals.clean),
              recompiles, unseen};
    case CountVerdict::kMostExecutionsNew:
      return {counted + ": most executions ran a graph that was compiled for them", recompiles,
              unseen};
    case CountVerdict::kMoreGraphsThanClean:
      return {counted + ": more graphs than a program without recompilation has", recompiles,
              unseen};
    case CountVerdict::kGoesOnInEachReport:
      return {fmt::format("{}, in {} separate reports: the program continues to compile", counted,
                          figures.source.number),
              may_be_cleared, unseen};
    case CountVerdict::kProcessesOrGoesOn:
      return {
          fmt::format(
              "{}, in {} separate reports: one process continues to compile, or each compiled in its first steps",
              counted, figures.source.number),
          may_be_cleared, unseen};
    case CountVerdict::kStepsNotTold:
      return {
          counted + ": the number of steps is not known, so this may or may not be recompilation",
          each_step, of_totals};
    case CountVerdict::kExecutionsNotTold:
      return {
          counted +
              "; the number of executions is not known, so this may be recompilation or several graphs per step",
          "Compare with a later report. A program that does not recompile stops compiling after its first steps."};
    case CountVerdict::kStopped:
      return {
          signals.between->since_step
              ? fmt::format("{}, none after step {}", counted, *signals.between->since_step)
              : fmt::format("{}, none in the last {} reports", counted, signals.between->reports),
          kNothingToDo};
    case CountVerdict::kCleanWithoutSteps:
      return {counted + ": no more than a clean program makes in its first steps", each_step,
              of_totals};
    case CountVerdict::kFewForExecutions:
      return {counted + ": that is little for so many executions", each_step, of_totals};
    case CountVerdict::kFewPerStep:
      return {counted + ": more than a clean program makes, but few per step", kNothingToDo};
    case CountVerdict::kCleanByCounters:
      return {counted + " by the counters: as many as a clean program makes at first",
              kNothingToDo};
    case CountVerdict::kClean:
      return {fmt::format("it is not recompilation: {}, as many as a clean program makes at first",
                          counted),
              kNothingToDo};
  }
  return {};
}

// Returns whether much time went into compilations that may or may not be recompilation.
bool IsOpen(const CountFigures& figures) {
  return (figures.verdict == CountVerdict::kStepsNotTold ||
          figures.verdict == CountVerdict::kExecutionsNotTold) &&
         figures.signals.compile_ns.value_or(0) > policy::kSlowCompileNs;
}

// Returns whether the counts are from reports that do not continue one another.
bool IsApart(CountVerdict verdict) {
  return verdict == CountVerdict::kGoesOnInEachReport ||
         verdict == CountVerdict::kProcessesOrGoesOn;
}

std::string Why(const CountFigures& figures, Framework framework) {
  const CountSignals& signals = figures.signals;
  if (const OptInt known = figures.known_compiles)
    return fmt::format(
        "Only {} of these compiles {} known one by one, from a profile or log. The others are only counted.",
        *known, *known == 1 ? "is" : "are");
  if (IsApart(figures.verdict))
    return "The reports hold only counts, and they do not continue one another: the metrics were cleared in between, or several processes wrote the reports.";
  std::string why =
      fmt::format("The source ({}) holds only counts: {}.", Name(figures.source, framework),
                  signals.between ? "it names neither the graphs nor the lines that made them"
                                  : "it does not say when or why the program compiled");
  if (!signals.between) return why;
  if (signals.between->more == 0) return why + " The count did not rise between the last two.";
  return why + fmt::format(" The count rose from {} to {} between the last two.",
                           signals.between->before, signals.compiles);
}

std::string CostNote(const CountFigures& figures, bool is_priced, std::string_view compile_time) {
  const CountSignals& signals = figures.signals;
  if (IsApart(figures.verdict))
    return is_priced
               ? fmt::format("mean of {} times the compiles after the first report", compile_time)
               : "not measured, because the reports do not say which compiles are of one process";
  if (is_priced)
    return fmt::format(
        "mean of {} ({:.2f} s in all) times {} compiles after the first of each graph",
        compile_time, static_cast<double>(*signals.compile_ns) / 1e9, signals.again);
  if (signals.compile_ns)
    return "not counted, because these may be the first compilations (see cold_start)";
  return signals.is_cut ? fmt::format("not measured, because {} may be in the part that is missing",
                                      compile_time)
                        : fmt::format("not measured, because there is no {} metric", compile_time);
}

}  // namespace

Words SayRecompileCounts(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const CountFigures&>(finding.figures);
  const CountAdvice advice = AdviceOf(framework);
  VerdictWords judged = Judged(figures, advice, framework);
  return {.title = std::move(judged.title),
          .why = Why(figures, framework),
          .cost_note = CostNote(figures, finding.cost_ns.has_value(), advice.compile_time),
          .advice = std::string(judged.advice),
          .unseen = std::move(judged.unseen),
          .evidence = {Name(figures.source, framework)},
          .is_open_question = IsOpen(figures)};
}

}  // namespace xlaprof

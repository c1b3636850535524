// Reports XLA's own alarms, and each first compilation of a graph that takes too long, or else the
// longest one if it takes long: its cost, and when it is paid back. Those of usual length are in the
// account of the start (cold_start), and later ones of a place are reported by recompilation.
#include "analyzers/slow_compile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/graph/large_constant.h"
#include "analyzers/graph/unrolled_loop.h"
#include "analyzers/run/jax_operation.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "analyzers/run/work_unit.h"
#include "base/duration.h"
#include "base/metric_names.h"
#include "base/source_place.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

// torch_xla prints a line about compilations that take longer.
constexpr int64_t kTorchXlaSlowCompileNs = 300'000'000'000;

constexpr size_t kMaxSlowCompileRows = 12;

// A compilation, and what makes it slow if it is a large part of the run.
struct Compiled : FirstCompilation {
  std::optional<UnrolledLines> loop;
  std::optional<CapturedArray> array;
  bool is_avoidable() const { return loop || array; }
};

// Adds the tracing before a compilation. If tracing takes longer, the remedy is to trace less.
void AddTracing(int64_t trace_ns, int64_t compile_ns, Finding& finding, SlowCompilation& figures) {
  if (trace_ns <= 0) return;
  *finding.cost_ns += trace_ns;
  figures.tracing = TracingOf(trace_ns, compile_ns);
  if (trace_ns > compile_ns) figures.remedy = CompileRemedy::kLessTracing;
}

// Returns what compiling only one turn of the loop saves, if each operation takes as long as another;
// nothing if it is not known which operations the turns have.
OptInt SavingOfOneTurn(const Compiled& c) {
  if (c.loop->share <= 0) return {};
  return Whole(double(c.ns) * c.loop->share * (1 - 1 / double(c.loop->turns)));
}

Finding SlowOne(const Compiled& c, std::optional<int64_t> step_ns) {
  const bool over_limit = c.ns > policy::kSlowCompileNs;
  Finding finding{.needs_fixing = true, .subject = About(c), .count = 1, .cost_ns = c.ns};
  SlowCompilation figures{.compilation = Timed(c), .steps = StepsAsLongAs(c.ns, step_ns)};
  const bool is_many_steps = !over_limit && IsTooSlow(c.ns, step_ns);
  finding.reason = Reason{.type = is_many_steps ? ReasonType::kManySteps : ReasonType::kTooSlow};
  AddTracing(c.trace_ns.value_or(0), c.ns, finding, figures);
  if (over_limit) figures.jax_operation = JaxOperationOf(c.function.value_or(""));
  if (!figures.jax_operation.empty()) figures.remedy = CompileRemedy::kFasterFirstUse;
  if (c.array) figures.array = c.array, figures.remedy = CompileRemedy::kPassArray;
  if (c.loop) {
    finding.reason->type = ReasonType::kUnrolledLoop;
    finding.certainty = Certainty::kInferred;
    finding.saving_ns = SavingOfOneTurn(c);
    figures.loop = c.loop, figures.remedy = CompileRemedy::kRollLoop;
  }
  finding.evidence = {{.table = "compile", .rows = {c.row}, .ts_ns = c.ts_ns, .dur_ns = c.ns}};
  finding.figures = SlowCompileFigures(std::move(figures));
  return finding;
}

// Returns the longest compilation of a step's graph in a process. Equal shares say nothing.
int64_t LongestOfStep(const std::vector<Compiled>& compiles, int64_t process_id) {
  int64_t longest_ns = 0;
  for (const Compiled& c : compiles) {
    if (c.process_id == process_id && !c.is_for_read && !c.is_share)
      longest_ns = std::max(longest_ns, c.ns);
  }
  return longest_ns;
}

// Takes out the compilations of graphs that only reads need, and makes one finding for the reads at
// each place. Those that take too long stay.
Findings OfReads(std::vector<Compiled>& compiles, std::optional<int64_t> step_ns, int64_t run_ns) {
  const auto place = [](const Compiled& c) { return std::tie(c.file, c.line, c.function); };
  const auto reads = std::ranges::stable_partition(compiles, [&](const Compiled& c) {
    return !c.is_for_read || c.is_avoidable() || IsTooSlow(c.ns, step_ns);
  });
  std::ranges::stable_sort(
      reads, [&](const Compiled& a, const Compiled& b) { return place(a) < place(b); });
  Findings findings;
  for (auto first = reads.begin(); first != reads.end();) {
    const auto last = std::find_if(first, reads.end(),
                                   [&](const Compiled& c) { return place(c) != place(*first); });
    Finding finding{.subject = About(*first),
                    .count = last - first,
                    .cost_ns = 0,
                    .reason = Reason{.type = ReasonType::kValueAccess}};
    finding.subject.graph_hash.reset();
    CompilationsOfReads figures;
    const double of_step_ns = double(LongestOfStep(compiles, first->process_id));
    double again_ns = 0;
    for (; first != last; ++first) {
      const int64_t ns = first->ns + first->trace_ns.value_or(0);
      *finding.cost_ns += ns;
      if (of_step_ns > 0 && !first->is_share && first->ns >= policy::kDearCompilingNs &&
          double(first->ns) >= policy::kCompileOfRounds * of_step_ns)
        figures.times_of_step =
            std::max(figures.times_of_step.value_or(0), double(first->ns) / of_step_ns);
      figures.shares += first->is_share;
      if (!first->is_unlike_others) again_ns += first->again.value_or(0) * double(ns);
      if (finding.evidence.size() == kMaxSlowCompileRows) continue;
      finding.evidence.push_back(
          {.table = "compile", .rows = {first->row}, .ts_ns = first->ts_ns, .dur_ns = first->ns});
      figures.examples.push_back(Timed(*first));
    }
    if (again_ns > 0) finding.saving_ns = Whole(again_ns);
    finding.needs_fixing = figures.times_of_step && run_ns > 0 &&
                           double(*finding.cost_ns) >= policy::kDearCompilingShare * double(run_ns);
    finding.figures = SlowCompileFigures(std::move(figures));
    findings.push_back(std::move(finding));
  }
  compiles.erase(reads.begin(), reads.end());
  return findings;
}

// Adds a compilation of another graph with the same loop.
void AddToLoop(const Compiled& c, const Finding& one, Finding& sum) {
  ++*sum.count;
  *sum.cost_ns += *one.cost_ns;
  if (sum.saving_ns) *sum.saving_ns += one.saving_ns.value_or(0);
  if (sum.evidence.size() == kMaxSlowCompileRows) return;
  sum.evidence.push_back(one.evidence.front());
  std::get<SlowCompilation>(std::any_cast<SlowCompileFigures&>(sum.figures))
      .same_loop.push_back(Timed(c));
}

Findings FromRows(std::vector<Compiled> compiles, std::optional<int64_t> step_ns, int64_t run_ns) {
  std::stable_sort(compiles.begin(), compiles.end(),
                   [](const Compiled& a, const Compiled& b) { return a.ns > b.ns; });
  Findings findings = OfReads(compiles, step_ns, run_ns);
  std::map<std::tuple<SourcePlace, int64_t, int64_t>, size_t> of_loop;  // by place, turns, process
  for (const Compiled& c : compiles) {
    if (!IsTooSlow(c.ns, step_ns) && !c.is_avoidable()) continue;
    Finding one = SlowOne(c, step_ns);
    if (c.loop) {
      const auto [known, is_new] =
          of_loop.try_emplace({c.loop->place, c.loop->turns, c.process_id}, findings.size());
      if (!is_new) {
        AddToLoop(c, one, findings[known->second]);
        continue;
      }
    }
    findings.push_back(std::move(one));
  }
  if (findings.empty() && !compiles.empty() && compiles.front().first_of_site &&
      compiles.front().ns >= policy::kLongCompileNs) {
    findings.push_back(SlowOne(compiles.front(), step_ns));
    findings.back().needs_fixing = false;
    findings.back().reason = Reason{.type = ReasonType::kFirstCompilations};
  }
  return findings;
}

Finding OfMetric(const CompileTimeSum& sum) {
  return {.needs_fixing = true,
          .count = sum.samples,
          .cost_ns = sum.ns,
          .reason = Reason{.type = ReasonType::kTooSlow},
          .evidence = {{.table = "metric", .rows = {sum.row}, .text = metric_names::kCompileTime}},
          .figures = SlowCompileFigures(sum)};
}

// Returns the duration in "...: longest instance took 16m18s970ms600.791us. Please open ...", or 0.
int64_t LongestNs(std::string_view line) {
  constexpr std::string_view kBefore = "longest instance took ";
  const size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return 0;
  line = line.substr(at + kBefore.size());
  std::string_view took = line.substr(0, line.find_first_of(" ,;"));
  if (took.ends_with('.')) took.remove_suffix(1);
  return Whole(std::max(0.0, DecodeDurationNs(took).value_or(0)));
}

// Judges torch_xla's own line, if no other source has compile times. It is logged again at each
// step, with the longest compilation so far.
absl::StatusOr<Findings> FromLine(const Run& run) {
  struct Line {
    int64_t id = 0;
    std::string text;
  };
  std::map<int64_t, Line, std::greater<>> by_length;  // the last line of each length
  XP_TRY(const ProfilerLines* lines, run.Get<ProfilerLines>());
  for (const ProfilerLineRow& line : lines->rows) {
    if (line.rule == ProfilerRule::kCompileSlow)
      by_length[LongestNs(line.text)] = {line.id, line.text};
  }
  if (by_length.empty()) return Findings();
  const bool has_unread = by_length.contains(0);
  SlowCompileLines figures{.threshold_ns = kTorchXlaSlowCompileNs,
                           .lengths = int64_t(by_length.size()) - int64_t(has_unread)};
  if (figures.lengths > 0) {
    figures.longest_ns = by_length.begin()->first;
    figures.shortest_ns = std::prev(by_length.end(), has_unread ? 2 : 1)->first;
  }
  Finding finding{.needs_fixing = true,
                  .cost_ns = figures.longest_ns,
                  .reason = Reason{.type = ReasonType::kTooSlow}};
  for (auto& [ns, line] : by_length) {
    if (finding.evidence.size() == kMaxSlowCompileRows) break;
    finding.evidence.push_back({.table = "profiler_line",
                                .rows = {line.id},
                                .dur_ns = ns > 0 ? OptInt(ns) : OptInt(),
                                .text = std::move(line.text)});
  }
  finding.figures = SlowCompileFigures(figures);
  return Findings{std::move(finding)};
}

ReasonType ReasonOf(AlarmKind kind) {
  switch (kind) {
    case AlarmKind::kCompile:
      return ReasonType::kTooSlow;
    case AlarmKind::kUnoptimizedCompile:
      return ReasonType::kUnoptimizedBuild;
    case AlarmKind::kConstantFolding:
      return ReasonType::kConstantFolding;
    case AlarmKind::kAutotuning:
      return ReasonType::kAutotuning;
    case AlarmKind::kOther:
    case AlarmKind::kUnknown:
      return ReasonType::kUnknown;
  }
  return ReasonType::kUnknown;
}

// `alone` means that no source times compilations.
Finding OfAlarms(CompileAlarms alarms, bool alone) {
  const CompileAlarm& longest = alarms.all.front();
  Finding finding{.subject = longest.subject,
                  .count = int64_t(alarms.all.size()),
                  .cost_ns = alarms.ns,
                  .reason = Reason{.type = ReasonOf(alarms.kind)}};
  SlowCompileAlarms figures{.per_process =
                                int64_t(alarms.all.size() / alarms.ns_by_process.size())};
  const bool is_compile = alarms.kind == AlarmKind::kCompile;
  const bool is_instruction =
      alarms.kind == AlarmKind::kConstantFolding || alarms.kind == AlarmKind::kAutotuning;
  if (is_instruction) finding.reason->node = longest.name;
  if (is_compile || alarms.kind == AlarmKind::kUnoptimizedCompile) {
    finding.needs_fixing = true;
    finding.subject.function = longest.name;
  }
  if (is_compile) figures.jax_operation = JaxOperationOf(longest.name.value_or(""));
  // If nothing else is known of the run, XLA's own complaint about avoidable work counts.
  const bool avoidable = alone && alarms.kind == AlarmKind::kConstantFolding;
  if (alarms.ns >= policy::kLongAlarmNs || avoidable) finding.needs_fixing = true;
  for (const CompileAlarm& alarm : alarms.all) {
    if (finding.evidence.size() == kMaxSlowCompileRows) break;
    finding.evidence.push_back({.table = "compile_alarm",
                                .rows = {alarm.row},
                                .dur_ns = alarm.ended ? OptInt(alarm.ns) : OptInt()});
  }
  figures.alarms = std::move(alarms);
  finding.figures = SlowCompileFigures(std::move(figures));
  return finding;
}

// Sets the unrolled loop and the large constant of a compilation, from the first form of its graph
// that shows one.
absl::Status FindAvoidable(const Run& run, Compiled& c) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  for (const GraphRow* form : graphs->FormsOf(c.graph_id)) {
    if (form->node_count.value_or(0) == 0) continue;
    XP_TRY(const PrintedGraph graph, LoadGraph(run.store(), form->id));
    const std::optional<LargeConstant> constant = FindLargestConstant(graph);
    if (!c.array && constant && constant->bytes >= policy::kCapturedArrayBytes)
      c.array = CapturedArray{.bytes = constant->bytes,
                              .shape = constant->shape,
                              .place = code->Of(constant->location)};
    if (c.ns < policy::kUnrolledCompileNs) continue;
    const std::optional<UnrolledLoop> loop = FindUnrolledLoop(
        graph, [&](std::string_view location) { return !code->Of(location).empty(); });
    if (!loop) continue;
    SourcePlace place = code->Of(loop->location);
    if (place.empty()) continue;
    c.loop = UnrolledLines{.turns = loop->turns,
                           .weight_shape = loop->weight_shape,
                           .place = std::move(place),
                           .body_nodes = loop->body_nodes,
                           .share = loop->share};
    break;
  }
  return absl::OkStatus();
}

// Finds what makes the compilations slow that are a considerable part of the run.
absl::Status FindAvoidable(const Run& run, std::vector<Compiled>& compiles) {
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  const int64_t run_ns = times->longest().value_or(0);
  for (Compiled& c : compiles) {
    if (c.ns >= policy::kCapturedCompileNs &&
        double(c.ns) >= policy::kDearCompilingShare * double(run_ns))
      XP_TRY(FindAvoidable(run, c));
  }
  return absl::OkStatus();
}

absl::StatusOr<Findings> FindSlowCompiles(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const FirstCompilations* firsts, run.Get<FirstCompilations>());
  XP_TRY(const std::optional<CompileTimeSum> sum, CompileTimeOf(run));
  Findings measured;
  if (!firsts->all.empty()) {
    std::vector<Compiled> compiles;
    for (const FirstCompilation& first : firsts->all) compiles.push_back({first});
    XP_TRY(FindAvoidable(run, compiles));
    XP_TRY(const RunTimes* times, run.Get<RunTimes>());
    measured = FromRows(std::move(compiles), Median(steps->steady_ns), times->longest().value_or(0));
  } else if (sum && sum->is_too_slow) {
    measured.push_back(OfMetric(*sum));
  }
  const bool timed = !firsts->all.empty() || sum;
  if (!timed) {
    XP_TRY(measured, FromLine(run));
  }
  XP_TRY(std::vector<CompileAlarms> alarms, LoadCompileAlarms(run, timed));
  Findings findings;
  for (CompileAlarms& of_kind : alarms) findings.push_back(OfAlarms(std::move(of_kind), !timed));
  std::move(measured.begin(), measured.end(), std::back_inserter(findings));
  return findings;
}

}  // namespace

extern const Analyzer slow_compile{
    .name = "slow_compile",
    .summary = "compilations that take too long, and when they have paid off",
    .meaning =
        "One compilation takes very long, or compiles what need not be compiled. A program compiles each graph once, so the finding says after how many steps that has paid off, and which slow operations XLA itself reported. Compilations of usual length are in cold_start.",
    .looks_at = "compilations with times, else CompileTime",
    .find = FindSlowCompiles,
    .say = SaySlowCompile,
    .needs = Needs::kTimelineOrCompileTimes,
    .thresholds = {policy::kSlowCompileNs, policy::kLongCompileNs, policy::kCompileOfRounds, policy::kCompileSteps,
                   policy::kNoticeableCompileNs, policy::kLongAlarmNs, policy::kAmortisedShare,
                   policy::kTracingPartOfCompile, policy::kUnrolledCompileNs,
                   policy::kDearCompilingShare, policy::kCapturedCompileNs,
                   policy::kCapturedArrayBytes, policy::kShareOfReadGraph},
    .is_paid_once = true,
    .spent_on = SpentOn::kCompiling};

}  // namespace xlaprof

#include "analyzers/report/recordings.h"

#include <algorithm>
#include <cstring>

#include "analyzers/quantity.h"
#include "analyzers/run/host_calls.h"
#include "analyzers/run/tables.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

// Returns SQL for the sum of a kind of loss of the process.
std::string Lost(std::string_view code) {
  return fmt::format(
      "coalesce((SELECT sum(i.count) FROM import_issue i "
      "WHERE i.source_id = p.source_id AND i.code = '{}'), 0)",
      code);
}

}  // namespace

absl::StatusOr<std::vector<RecordingCost>> RecordingCosts(const Run& run) {
  XP_TRY(const bool has_recordings, run.store().HasRows("recording"));
  if (!has_recordings) return std::vector<RecordingCost>();
  return run.store().Collect(
      "SELECT coalesce(p.name, ''), p.pid, r.ended, r.drain_cpu_ns, count(t.track_id), "
      "coalesce(sum(t.events), 0), coalesce(sum(t.dropped), 0), " +
          Lost("unwritten_events") + ", " + Lost("unrecorded_events") +
          ", (SELECT max(c.max_end_ns) - min(c.min_ts_ns) FROM event_chunk c JOIN track k ON k.id = "
          "c.track_id WHERE k.process_id = r.process_id), "
          "(SELECT coalesce(sum(length(c.columns)), 0) FROM event_chunk c JOIN track k ON k.id = "
          "c.track_id WHERE k.process_id = r.process_id) + (SELECT coalesce(sum(length(a.columns)), 0) "
          "FROM arg_chunk a JOIN event_chunk c ON c.id = a.event_chunk_id JOIN track k ON k.id = "
          "c.track_id WHERE k.process_id = r.process_id) + (SELECT coalesce(sum(length(c.columns)), 0) "
          "FROM counter_chunk c JOIN track k ON k.id = c.track_id WHERE k.process_id = r.process_id) "
          "FROM recording r JOIN process p ON p.id = r.process_id LEFT JOIN recording_thread t ON "
          "t.recording_id = r.id GROUP BY r.id ORDER BY r.id",
      [](std::string program, OptInt pid, bool ended, OptInt drain_cpu_ns, int64_t threads,
         int64_t events, int64_t dropped, int64_t unwritten, int64_t ringless, OptInt span_ns,
         int64_t bytes) {
        return RecordingCost{.program = std::move(program),
                             .pid = pid,
                             .ended = ended,
                             .threads = threads,
                             .events = events,
                             .dropped = dropped + ringless,
                             .drain_cpu_ns = drain_cpu_ns,
                             .span_ns = span_ns,
                             .bytes = bytes,
                             .unwritten = unwritten,
                             .ringless = ringless};
      });
}

namespace {

std::string StepsText(const ObservedProcessRow& row) {
  switch (row.step_unit.value_or(StepUnit::kUnknown)) {
    case StepUnit::kStepMark:
      return Plural(*row.steps, "step mark");
    case StepUnit::kOptimizerStep:
      return Plural(*row.steps, "step") + " of the optimizer";
    case StepUnit::kStepAnnotation:
      return Plural(*row.steps, "step annotation");
    case StepUnit::kUnknown:
      break;
  }
  return Plural(*row.steps, "step");
}

// Returns what the program was doing when its profile was taken. A profile that waited for steady steps
// may hold a compilation all the same: of a step that differs from those before it.
std::string_view MomentText(const Observed& observed) {
  const bool is_asked = observed.row.profile_moment == ProfileMoment::kAsked;
  if (observed.compiled_in_profile)
    return is_asked ? ", as asked, in which the program compiled" : ", in which the program compiled";
  if (is_asked) return ", as asked";
  const bool is_steady = observed.row.profile_moment == ProfileMoment::kSteady;
  return is_steady && observed.stopped_compiling ? ", when the program had stopped compiling" : "";
}

std::string ProfileText(const Observed& observed) {
  const ObservedProcessRow& row = observed.row;
  if (row.profile_error) return fmt::format(" No profile was taken: {}.", *row.profile_error);
  if (!row.profile_ts_ns || !row.profile_dur_ns)
    return " No profile was taken, because the program ended or was ended before its steps were steady.";
  std::string text = fmt::format(" The profile covers {}", DurationText(*row.profile_dur_ns));
  if (row.profile_first_step && row.profile_end_step &&
      *row.profile_end_step > *row.profile_first_step)
    text += fmt::format(", {} {} to {}",
                        row.step_unit == StepUnit::kStepMark ? "step marks" : "steps",
                        *row.profile_first_step, *row.profile_end_step - 1);
  return text + fmt::format("{}.", MomentText(observed));
}

// Finds out when the process compiled: by its own counts, and by the compilations with times. A count is
// written some time after the compilation, so that it may not tell.
void FindCompiles(const ObservedProgress& progress, const Compiles& compiles, Observed& observed) {
  const ObservedProcessRow& row = observed.row;
  const int64_t begin_ns = row.profile_ts_ns.value_or(0),
                end_ns = begin_ns + row.profile_dur_ns.value_or(0);
  int64_t most = 0, before = 0;
  OptInt at_begin, at_end;
  for (const ObservedProgressRow& at : progress.rows) {
    if (at.process_id != row.process_id) continue;
    most = std::max(most, at.compiles);
    if (at.ts_ns < begin_ns) before = std::max(before, at.compiles);
    if (at.ts_ns >= begin_ns && !at_begin) at_begin = at.compiles;
    if (at.ts_ns >= end_ns && !at_end) at_end = at.compiles;
  }
  bool in_profile = at_begin && at_end && *at_end > *at_begin;
  for (const CompileRow& compile : compiles.rows) {
    if (compile.process_id != row.process_id) continue;
    observed.worked = true;
    in_profile |= compile.ts_ns && *compile.ts_ns < end_ns &&
                  *compile.ts_ns + compile.dur_ns.value_or(0) > begin_ns;
  }
  observed.worked |= most > 0;
  if (!row.profile_ts_ns || !row.profile_dur_ns) return;
  observed.compiled_in_profile = in_profile;
  observed.stopped_compiling = !in_profile && before > 0 && at_end.value_or(most) == before;
}

}  // namespace

absl::StatusOr<std::vector<Observed>> ObservedProcessesOf(const Run& run) {
  std::vector<Observed> all;
  XP_TRY(const ObservedProcesses* processes, run.Get<ObservedProcesses>());
  XP_TRY(const ObservedProgress* progress, run.Get<ObservedProgress>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ObservedProcessRow& row : processes->rows) {
    Observed observed{.row = row};
    XP_TRY(run.store().Each(
        "SELECT pid, rank FROM process WHERE id = ?1",
        [&](OptInt pid, OptInt rank) { observed.pid = pid, observed.rank = rank; },
        row.process_id));
    XP_TRY(const HostSamples* samples, run.Get<HostSamples>(row.process_id.value_or(0)));
    observed.last = samples->last();
    observed.worked =
        row.steps.value_or(0) > 0 || row.profile_ts_ns ||
        std::ranges::find(executions->rows, row.process_id, &ExecutionRow::process_id) !=
            executions->rows.end();
    FindCompiles(*progress, *compiles, observed);
    all.push_back(std::move(observed));
  }
  return all;
}

absl::StatusOr<std::optional<ObservedCommand>> ObservedCommandOf(const Run& run) {
  XP_TRY(const std::optional<std::string> words, run.store().Meta("command"));
  if (!words) return std::nullopt;
  ObservedCommand command{.words = *words};
  XP_TRY(const auto exit_status, run.store().Meta("command_exit_status"));
  XP_TRY(const auto signal, run.store().Meta("command_signal"));
  if (exit_status) command.exit_status = ParseInteger(*exit_status);
  if (signal) command.signal = ParseInteger(*signal);
  return command;
}

std::string EndText(OptInt exit_status, OptInt signal) {
  if (signal)
    return fmt::format("the command was ended by signal {} ({})", *signal, strsignal(int(*signal)));
  return exit_status ? fmt::format("the command ended with status {}", *exit_status)
                     : "the end of the command was not recorded";
}

std::string ObservedText(const ObservedCommand& command) {
  return fmt::format("{}: {}.", command.words, EndText(command.exit_status, command.signal));
}

std::string ObservedText(const Observed& observed) {
  const ObservedProcessRow& row = observed.row;
  std::string text = row.command;
  if (observed.pid) text += fmt::format(" (pid {})", *observed.pid);
  if (row.steps)
    text += fmt::format(": {} in {}.", StepsText(row), DurationText(row.dur_ns));
  else
    text += fmt::format(": it ran for {}, and its steps are not known.", DurationText(row.dur_ns));
  if (!row.ended && observed.last)
    text +=
        fmt::format(" Its end was not recorded, so it was probably killed. Its main thread was last in {}, for at least {}.",
                    FunctionText(observed.last->place), DurationText(observed.last->ns));
  text += ProfileText(observed);
  if (row.own_cpu_ns && row.cpu_ns && *row.cpu_ns > 0)
    text += fmt::format(" Recording took {} of {} of CPU time ({}), the profile included.",
                        DurationText(*row.own_cpu_ns), DurationText(*row.cpu_ns),
                        PercentText(double(*row.own_cpu_ns) / double(*row.cpu_ns)));
  if (row.problem) text += fmt::format(" A part could not be recorded: {}.", *row.problem);
  return text;
}

std::vector<std::string> ObservedTexts(const std::optional<ObservedCommand>& command,
                                       const std::vector<Observed>& processes) {
  std::vector<std::string> texts;
  if (command) texts.push_back(ObservedText(*command));
  // A process that was killed before its first step is told of, with the place where it was.
  const bool has_succeeded = command && command->exit_status == 0;
  const auto is_idle = [&](const Observed& observed) {
    return !observed.worked && !observed.row.problem && (observed.row.ended || has_succeeded);
  };
  std::vector<std::string> idle;
  if (std::ranges::count_if(processes, is_idle) > 1) {
    for (const Observed& observed : processes) {
      if (is_idle(observed)) idle.push_back(observed.pid ? fmt::to_string(*observed.pid) : "?");
    }
  }
  for (const Observed& observed : processes) {
    if (idle.empty() || !is_idle(observed)) texts.push_back(ObservedText(observed));
  }
  if (!idle.empty())
    texts.push_back(fmt::format(
        "{} processes ran without a step, a compilation or an execution: pid {}.",
        CountText(int64_t(idle.size())), ListText(idle)));
  return texts;
}

}  // namespace xlaprof

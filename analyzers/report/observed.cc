#include "analyzers/report/observed.h"

#include <cstring>

#include "analyzers/quantity.h"
#include "analyzers/run/host_functions.h"
#include "analyzers/run/tables.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

std::string StepsText(int64_t steps, StepUnit unit) {
  switch (unit) {
    case StepUnit::kStepMark:
      return Plural(steps, "step mark");
    case StepUnit::kOptimizerStep:
      return Plural(steps, "step") + " of the optimizer";
    case StepUnit::kStepAnnotation:
      return Plural(steps, "step annotation");
    case StepUnit::kUnknown:
      break;
  }
  return Plural(steps, "step");
}

std::string_view MomentText(ProfileMoment moment) {
  switch (moment) {
    case ProfileMoment::kSteady:
      return ", when the program had stopped compiling";
    case ProfileMoment::kPatience:
      return ", while the program still compiled";
    case ProfileMoment::kAsked:
      return ", as asked";
    case ProfileMoment::kUnknown:
      break;
  }
  return "";
}

std::string ProfileText(const ObservedProcessRow& row) {
  if (row.profile_error) return fmt::format(" No profile was taken: {}.", *row.profile_error);
  if (!row.profile_ts_ns || !row.profile_dur_ns)
    return " No profile was taken, because the program ended or was ended before its steps were steady.";
  std::string text = fmt::format(" The profile covers {}", DurationText(*row.profile_dur_ns));
  if (row.profile_first_step && row.profile_end_step &&
      *row.profile_end_step > *row.profile_first_step)
    text += fmt::format(", steps {} to {}", *row.profile_first_step, *row.profile_end_step - 1);
  return text +
         fmt::format("{}.", MomentText(row.profile_moment.value_or(ProfileMoment::kUnknown)));
}

}  // namespace

absl::StatusOr<std::vector<Observed>> ObservedProcessesOf(const Run& run) {
  std::vector<Observed> all;
  XP_TRY(const ObservedProcesses* processes, run.Get<ObservedProcesses>());
  for (const ObservedProcessRow& row : processes->rows) {
    Observed observed{.row = row};
    XP_TRY(run.store().Each(
        "SELECT pid, rank FROM process WHERE id = ?1",
        [&](OptInt pid, OptInt rank) { observed.pid = pid, observed.rank = rank; },
        row.process_id));
    XP_TRY(const HostSamples* samples, run.Get<HostSamples>(row.process_id.value_or(0)));
    observed.last = samples->last();
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
    text +=
        fmt::format(": {} in {}.",
                    StepsText(*row.steps, row.step_unit.value_or(StepUnit::kUnknown)),
                    DurationText(row.dur_ns));
  else
    text += fmt::format(": it ran for {}, and its steps are not known.", DurationText(row.dur_ns));
  if (!row.ended && observed.last)
    text +=
        fmt::format(" Its end was not recorded, so it was probably killed. Its main thread was last in {}, for at least {}.",
                    FunctionText(observed.last->place), DurationText(observed.last->ns));
  text += ProfileText(row);
  if (row.own_cpu_ns && row.cpu_ns && *row.cpu_ns > 0)
    text += fmt::format(" Recording took {} of {} of CPU time ({}), the profile included.",
                        DurationText(*row.own_cpu_ns), DurationText(*row.cpu_ns),
                        PercentText(double(*row.own_cpu_ns) / double(*row.cpu_ns)));
  if (row.problem) text += fmt::format(" A part could not be recorded: {}.", *row.problem);
  return text;
}

}  // namespace xlaprof

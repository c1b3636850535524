#include "cli/slice_options.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

// Returns the process of --process, which is xlaprof's own id, or else the operating system's.
absl::StatusOr<int64_t> ProcessId(const Store& store, int64_t number) {
  XP_TRY(auto by_id, store.One<int64_t>("SELECT id FROM process WHERE id = ?1", number));
  if (by_id) return *by_id;
  XP_TRY(auto by_pid, store.One<int64_t>("SELECT id FROM process WHERE pid = ?1", number));
  if (by_pid) return *by_pid;
  std::string known;
  XP_TRY(store.Each("SELECT id, pid, host, rank FROM process ORDER BY id",
                    [&](int64_t id, OptInt pid, OptText host, OptInt rank) {
                      known +=
                          fmt::format("\n  {}{}{}{}", id, pid ? fmt::format(", pid {}", *pid) : "",
                                      host ? fmt::format(", host {}", *host) : "",
                                      rank ? fmt::format(", rank {}", *rank) : "");
                    }));
  return NotFound("--process {}: no such process. The processes are:{}", number, known);
}

}  // namespace

void AddSliceOptions(CLI::App& command, SliceOptions& options) {
  command.add_option(
      "--steps", options.steps,
      "Shows only steps A to B, both included: A:B, A:, :B or A. A step has the number (step_num) that the program gave it, or else it is counted from 0");
  command
      .add_option(
          "--from", options.from,
          "Ignores what ends before TIME, counted from the start of the capture: 1.5s, 200ms, 30us; a number without a unit is in ns")
      ->type_name("TIME");
  command
      .add_option("--to", options.to,
                  "Ignores what begins after TIME, counted from the start of the capture")
      ->type_name("TIME");
  command.add_option("--process", options.process, "Shows only the process with this id or pid");
}

absl::Status Restrict(const SliceOptions& options, Store& store) {
  Slice slice;
  if (!options.steps.empty()) XP_TRY(ParseSteps(options.steps, slice));
  if (!options.from.empty() || !options.to.empty()) {
    XP_TRY(auto start_ns, CaptureStart(store));
    if (!start_ns) return Invalid("--from and --to: no source of this run has times. Use --steps");
    if (!options.from.empty()) {
      XP_TRY(int64_t from_ns, ParseTime(options.from));
      slice.from_ns = *start_ns + from_ns;
      XP_TRY(auto end_ns, store.One<int64_t>("SELECT max(max_end_ns) FROM event_chunk"));
      if (end_ns && *slice.from_ns >= *end_ns) {
        return Invalid("--from {}: the capture ends {} after its start", options.from,
                       DurationText(*end_ns - *start_ns));
      }
    }
    if (!options.to.empty()) {
      XP_TRY(int64_t to_ns, ParseTime(options.to));
      slice.to_ns = *start_ns + to_ns;
    }
    if (slice.from_ns && slice.to_ns && *slice.from_ns >= *slice.to_ns)
      return Invalid("--from {} is not before --to {}", options.from, options.to);
  }
  if (options.process) {
    XP_TRY(slice.process_id, ProcessId(store, *options.process));
  }
  return store.Restrict(slice);
}

absl::Status ParseSteps(const std::string& text, Slice& slice) {
  auto number = [&](std::string_view part, OptInt& value) {
    if (part.empty()) return true;
    value = ParseInteger(part);
    return value.has_value();
  };
  std::string_view view = text;
  size_t colon = view.find(':');
  std::string_view first = view.substr(0, colon),
                   last = colon == std::string_view::npos ? first : view.substr(colon + 1);
  if (!number(first, slice.first_step) || !number(last, slice.last_step) ||
      (!slice.first_step && !slice.last_step)) {
    return Invalid("--steps {}: not a range of steps. Write A:B, A:, :B or A, such as 3:7", text);
  }
  if (slice.first_step && slice.last_step && *slice.first_step > *slice.last_step) {
    return Invalid("--steps {}: the first step is after the last", text);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ParseTime(const std::string& text) {
  const std::string_view number =
      std::string_view(text).substr(0, text.find_first_not_of("0123456789."));
  const std::string_view unit = std::string_view(text).substr(number.size());
  const OptReal value = ParseReal(number);
  double scale = unit == "s"                    ? 1e9
                 : unit == "ms"                 ? 1e6
                 : unit == "us"                 ? 1e3
                 : unit == "ns" || unit.empty() ? 1
                                                : 0;
  if (!value || scale == 0 || *value * scale > 9e18 ||
      (unit.empty() && text.find('.') != std::string::npos)) {
    return Invalid("{}: not a time. Write 1.5s, 200ms, 30us or a whole number of ns", text);
  }
  const OptInt whole_ns = unit.empty() ? ParseInteger(text) : OptInt();
  return whole_ns ? *whole_ns : std::llround(*value * scale);
}

}  // namespace xlaprof

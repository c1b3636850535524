// The summary at the head of every report, which is also the object "summary" of report --format
// json: where the time of a step goes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/report/coverage.h"
#include "analyzers/run/run.h"
#include "analyzers/run/work_unit.h"
#include "base/status.h"

namespace xlaprof {

// The calls of JAX's block_until_ready that a profile does not show. The array's method is never
// recorded, and the function only by the Python tracer.
enum class HiddenWaits : uint8_t { kNone, kOfArrayMethod, kAll };

// All times are in ns. Per-step figures divide the figures of one source by the steps of the same
// source. A source without a clock gives counts only. A value is empty if no source knows it.
struct Summary {
  std::optional<int64_t> steps;        // all steps that any source saw, of all processes
  // How many steps the processes made, if several did.
  struct ProcessSteps {
    int64_t processes = 0, least = 0, most = 0;
  };
  std::optional<ProcessSteps> process_steps;
  std::optional<int64_t> timed_steps;  // steps with a start and a length
  bool has_step_periods = false;       // at least the ends of steps are known
  std::optional<int64_t> wall_ns;      // window of the sources with a clock
  // The time from the window's start to the end of the first step.
  std::optional<int64_t> time_to_first_step_ns;
  std::optional<int64_t> warm_up_steps;             // leading steps that compile
  int64_t steady_steps = 0;                         // steps after warm-up with a length
  std::optional<int64_t> step_p50_ns, step_p99_ns;  // of the steady steps
  std::optional<int64_t> warm_up_step_p50_ns;
  std::optional<WorkUnit::Program> unit;  // of a run without steps; see WorkUnit
  // Programs that came from a cache were not compiled. They are counted as loads.
  std::optional<int64_t> compile_count, load_count;
  std::optional<int64_t> execution_count, transfer_count, fallback_count;
  // Totals over the window or, without a clock, the metrics' accumulators.
  std::optional<int64_t> tracing_ns, compile_ns, load_ns, execute_ns, transfer_ns, input_ns;
  bool optimized_programs = false;  // there is optimised HLO
  bool torch_compile = false;       // a source reports on functions under torch.compile
  bool lazy_runtime = false;        // our own runtime announced what it does
  bool totals_from_logs = false;    // otherwise from the window or the metrics
  bool compiles_at_start =
      false;  // every compilation was in the steps that also a clean program compiles in
  // False if the sources only show what JAX compiled, because reads of values are not compiled.
  bool shows_reads = true;
  HiddenWaits hidden_waits = HiddenWaits::kNone;
  std::optional<int64_t> device_busy_ns, device_idle_ns;
  struct Device {
    std::string name;                  // DeviceTime's label
    int64_t busy_ns = 0, span_ns = 0;  // union of busy time; first start to last end
    // The time that the device works after the host's last step, and its busy time per step since
    // the start of the first step. Set only if the device works on for long. Such steps only queue
    // work.
    std::optional<int64_t> after_steps_ns, busy_a_step_ns;
  };
  std::vector<Device> devices;
  std::vector<Coverage> coverage;
};

absl::StatusOr<Summary> Summarize(const Run& run);

}  // namespace xlaprof

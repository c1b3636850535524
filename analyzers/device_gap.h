// The figures of device_gap. The sum of the idle time is the finding's cost_ns, and the number of
// its gaps is the finding's count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/around_gaps.h"
#include "analyzers/run/capture.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/host_samples.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/launches.h"

namespace xlaprof {

// A device that idles before the steady part of the run.
struct DeviceStartUpFigures {
  std::string device;
  int64_t idle_ns = 0, warm_up_ns = 0;
};

// The time to which a share of idle time refers.
enum class IdleShareOf : uint8_t {
  kSteadySteps,           // all steady steps
  kStepsWithoutCompiles,  // the steady steps that do not compile
  kExecutions,            // the time from the first to the last execution, in runs without steps
};

// The conclusion that is drawn from one cause of idle time.
enum class DeviceGapVerdict : uint8_t {
  kPattern,          // It recurs, so a change of the program helps.
  kOnce,             // It happened in a few places of the run only.
  kUnseen,           // Nothing was recorded meanwhile, so nobody can say what to change.
  kUnnamed,          // Nothing names the code that the host ran, or it is the device's own work.
  kCapturesGraph,    // The host recorded a CUDA graph, which runs nothing on the device.
  kPricedElsewhere,  // Another finding is about the same cause and has its price.
  kTooShort,         // The capture has no steps and is too short to show recurrence.
  kUnrecorded,       // A kernel waited for work that the file does not show.
  // The settings of the capture explain it:
  kPythonTracer,    // by the calls that the Python tracer recorded,
  kSlowTracing,     // because they slow down tracing,
  kMaySlowTracing,  // because they may slow down tracing, which the source does not show,
  kScopeTraces,     // because they slow down the ops that the scope traces,
  kScopeReads,      // because a stack is written for each value that the scope reads.
};

// The range of the idle shares of all devices of the run.
struct IdleOfDevices {
  int64_t devices = 0;
  double least_share = 0, most_share = 0;
};

// The uploads of a step that the host prepared while nothing was recorded.
struct PreparedUploads {
  double per_step = 0, usual_bytes = 0;
  bool is_batch = false;  // `usual_bytes` is the size of the largest, which may be a batch
  // Ops without lowering run about as often, so most of it is their results.
  bool are_of_fallbacks = false;
  std::optional<InputsOfLine> inputs;  // what is uploaded, if a graph shows it
};

// Samples of the host's stack say what it did in gaps.
struct SampledHost {
  Doing doing = Doing::kUserCode;  // or kInput, kTracing, kRuntime
  SourcePlace place;               // in the user's function, for kUserCode and kInput
  int64_t samples = 0;             // that show this
  int64_t examined = 0;            // all samples in the gaps
  double share() const { return double(samples) / double(examined); }
  bool is_of_function() const { return !place.empty(); }
};

// The idle time of one cause.
struct DeviceGapFigures {
  std::string device;
  std::optional<IdleOfDevices> all_devices;  // unset if there is only one
  bool from_ops = false;                     // the device's times are those of its ops

  GapWait wait = GapWait::kUnknown;
  Doing doing = Doing::kNothing;
  bool host_recorded = false;          // false: kNothing does not mean that the host did nothing
  std::string scope;                   // the user's code with the most of this time; "" if none
  int64_t scopes = 1;                  // scopes, steps or functions that share this cause
  NamedBy named_by = NamedBy::kScope;  // what gave `scope` its name
  bool launches_in_scope = true;       // false: the host was late in a scope that launches nothing

  double main_share = 1;  // the part of these gaps in which the host did this
  double share = 0;
  IdleShareOf share_of = IdleShareOf::kSteadySteps;
  int64_t share_of_ns = 0;  // the length of that time
  int64_t chances = 0;  // steady steps, or executions in runs without steps
  bool chances_are_steps = false;
  bool is_only_step = false;   // one step was traced, so recurrence cannot be judged
  bool has_old_torch = false;  // PyTorch without torch.compile
  bool runs_compiled_functions = false;  // of torch.compile

  DeviceGapVerdict verdict = DeviceGapVerdict::kPattern;
  SlowSettings settings;          // the capture's settings
  std::vector<int64_t> parts_ns;  // the part with this cause, per gap in Finding::evidence
  // The call that took at least half of it, per gap in Finding::evidence; "" if none did.
  std::vector<std::string> calls;
  bool main_call_launches = false;  // work was launched in the first of these calls
  double longest_share = 1;         // the part of the time that the longest gap has
  bool launches_in_gaps = true;     // false: nothing was launched in the longest gap
  // The host's unrecorded time before uploads, if that is most of it and the uploads are large.
  std::optional<PreparedUploads> uploads;
  // The lines between which the host worked, if most of the time is work and nothing was recorded.
  std::optional<WorkBetweenLines> work;
  // Sampled stacks show this in most of these gaps. It is unset if an event names the work.
  std::optional<SampledHost> sampled;
  // Set if the host does nothing but start small executions, one after the other.
  std::optional<SmallExecutions> small_executions;
  // Around the longest gap, if nothing was recorded in it: the event before and the event after,
  // and the user's lines that last started an execution before it and first after it.
  std::string event_before, event_after;
  SourcePlace line_before, line_after;

  bool is_one_gap() const { return longest_share >= 0.5; }
  bool recurs() const { return verdict == DeviceGapVerdict::kPattern; }
  // A smaller part of the samples than `sampled` shows this function of the user. It is unset if that part
  // of the time is short.
  std::optional<SampledHost> sampled_beside;
  FetchesBeforeGaps fetches;  // fetches from the device, before the gaps in Finding::evidence
  // Returns whether most of these gaps follow a fetch, with whose result the host may work in them.
  bool follows_fetch() const { return 2 * fetches.gaps > int64_t(parts_ns.size()); }
};

// Returns whether the device idles while ops without lowering run on the CPU.
bool IsGapOfFallbacks(const Finding& finding);

// Returns the words of a finding that has DeviceGapFigures or DeviceStartUpFigures.
Words SayDeviceGap(const Finding& finding, Framework framework);

}  // namespace xlaprof

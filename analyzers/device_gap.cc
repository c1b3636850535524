// Finds idle time of a device between executions, and says what the host did meanwhile. Gaps are
// summed and weighed against the time in which they lie: a device that idles 30 us before each of a
// million kernels is as slow as one that idles once for 30 s. One finding an activity of the host
// (and user scope). Where kernels are joined with the calls that launch them, it also says whether
// the host was late (host_wait), launching itself took that long (launch), or the work waited in
// the queue (kernel_wait).
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "analyzers/activity/device_idle.h"
#include "analyzers/activity/host_activity.h"
#include "analyzers/activity/launches.h"
#include "analyzers/activity/steps.h"
#include "analyzers/analyzer.h"
#include "analyzers/evidence/capture_settings.h"
#include "analyzers/evidence/scope_place.h"
#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// From this part of the steady time on, idle time of one cause is worth a change of the program:
// XProf calls input "moderate" from 5 % of a step on, and less drowns in the spread of step times.
constexpr double kIdleShare = 0.05;
// What does not come back is an incident (a checkpoint, a warm cache), not a pattern: it must have
// been the main cause of this part of the chances (steps, else executions), and more than once.
constexpr double kRecurringShare = 0.1;
constexpr int64_t kMinGaps = 2;
// A call under the Python tracer costs up to this much more (0.3 to 1.5 us measured); a gap that
// holds so many calls that this explains half of it is the tracer's.
constexpr int64_t kPythonTracerCallNs = 1500;
constexpr size_t kMaxEvidence = 8;

// What a device waited for, where its work is launched call by call, and what the host did.
struct Cause {
  GapWait wait = GapWait::kUnknown;
  Activity activity;
  auto operator<=>(const Cause&) const = default;
};

struct Idle {
  int64_t ns = 0;
  int64_t usual_ns = 0;  // of this, outside of steps that compile
  int64_t main_of = 0;   // gaps of which it is the longest activity
  int64_t in = 0;        // gaps in which it occurs
  int64_t calls = 0;     // of the Python tracer, in the gaps of which it is the longest
  int64_t main_ns = 0;   // its time in those
  int64_t scopes = 1;    // that were put together, see Gather
  std::vector<std::pair<int64_t, Interval>> longest;  // its part, the gap; dearest first

  // Of gaps that are as long, the first stay.
  void KeepLongest() {
    std::stable_sort(longest.begin(), longest.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (longest.size() > kMaxEvidence) longest.resize(kMaxEvidence);
  }
  // Of another scope, which has less.
  void Add(const Idle& other) {
    ns += other.ns, usual_ns += other.usual_ns;
    main_of += other.main_of, main_ns += other.main_ns;
    in += other.in, calls += other.calls, scopes += other.scopes;
    longest.insert(longest.end(), other.longest.begin(), other.longest.end());
    KeepLongest();
  }
};

// Steps after warm-up that compile: what the host does in them, but for the user's own scopes, it
// does because of that (JAX traces again before it compiles, a lazy runtime lowers).
std::vector<Interval> CompilingSteps(const Steps& steps, int64_t process_id) {
  std::vector<Interval> out;
  for (const StepSpan& step : steps.all) {
    if (step.process_id == process_id && step.compiles && !step.warm_up && step.ts_ns &&
        step.dur_ns) {
      out.push_back({*step.ts_ns, *step.ts_ns + *step.dur_ns});
    }
  }
  return Union(std::move(out));
}

struct Share {
  Activity activity;
  int64_t ns = 0, usual_ns = 0;
};

// What filled one gap after the other.
class GapShares {
 public:
  GapShares(const HostTimeline& host, const std::vector<Interval>& compiling)
      : walk_(host), compiling_(compiling) {}

  // Longest first; good until the next call.
  const std::vector<Share>& Of(Interval gap) {
    shares_.clear();
    auto step = std::upper_bound(compiling_.begin(), compiling_.end(), gap.begin_ns,
                                 [](int64_t t, const Interval& i) { return t < i.end_ns; });
    if (step == compiling_.end() || step->begin_ns >= gap.end_ns) {
      for (const ActivityShare& share : walk_.During(gap))
        shares_.push_back({share.activity, share.ns, share.ns});
      return shares_;
    }
    std::map<Activity, Share> sums;
    auto add = [&](Interval part, bool compiles) {
      if (part.length_ns() <= 0) return;
      for (const ActivityShare& share : walk_.During(part)) {
        const bool own_scope = share.activity.doing == Doing::kUserCode && !share.activity.in_step;
        Share& sum =
            sums[compiles && !own_scope ? Activity{.doing = Doing::kCompile} : share.activity];
        sum.ns += share.ns;
        if (!compiles) sum.usual_ns += share.ns;
      }
    };
    int64_t at = gap.begin_ns;
    for (; step != compiling_.end() && step->begin_ns < gap.end_ns; ++step) {
      const int64_t end_ns = std::min(step->end_ns, gap.end_ns);
      add({at, step->begin_ns}, false);
      add({std::max(at, step->begin_ns), end_ns}, true);
      at = end_ns;
    }
    add({at, gap.end_ns}, false);
    for (const auto& [activity, sum] : sums) shares_.push_back({activity, sum.ns, sum.usual_ns});
    std::stable_sort(shares_.begin(), shares_.end(),
                     [](const Share& a, const Share& b) { return a.ns > b.ns; });
    return shares_;
  }

 private:
  HostTimeline::Walk walk_;
  const std::vector<Interval>& compiling_;
  std::vector<Share> shares_;
};

// Idle time by its cause, longest first.
std::vector<std::pair<Cause, Idle>> ByCause(const DeviceIdle& device, const HostTimeline& host,
                                            std::span<const GapWait> waits,
                                            const std::vector<Interval>& compiling) {
  std::map<Cause, Idle> sums;
  GapShares filled(host, compiling);
  std::vector<Share> whole(1);
  Cause last;
  Idle* idle_of_last = nullptr;
  auto idle_of = [&](const Cause& cause) -> Idle& {
    if (idle_of_last == nullptr || cause != last) idle_of_last = &sums[cause], last = cause;
    return *idle_of_last;
  };
  for (size_t g = 0; g < device.gaps.size(); ++g) {
    const Interval& gap = device.gaps[g];
    const GapWait wait = waits[g];
    // What the host does while it launches, or has launched already, delays nothing.
    const bool host_matters = wait == GapWait::kUnknown || wait == GapWait::kHostWait;
    whole[0].ns = whole[0].usual_ns = gap.length_ns();
    const std::vector<Share>& shares = host_matters ? filled.Of(gap) : whole;
    for (size_t i = 0; i < shares.size(); ++i) {
      Idle& idle = idle_of({wait, shares[i].activity});
      idle.ns += shares[i].ns;
      idle.usual_ns += shares[i].usual_ns;
      ++idle.in;
      if (i > 0) continue;
      ++idle.main_of;
      idle.main_ns += shares[i].ns;
      idle.calls += host.PythonCalls(gap);
      // Those that were longest so far are kept; the others would fill the memory.
      idle.longest.emplace_back(shares[i].ns, gap);
      if (idle.longest.size() >= kMaxEvidence * 64) idle.KeepLongest();
    }
  }
  std::vector<std::pair<Cause, Idle>> out(sums.begin(), sums.end());
  for (auto& [cause, idle] : out) idle.KeepLongest();
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  return out;
}

// Puts those together that are too small to be told and differ only in the user's scope: a hundred
// scopes with a half percent each are half of the time.
std::vector<std::pair<Cause, Idle>> Gather(
    std::vector<std::pair<Cause, Idle>> causes,
    const std::function<bool(const Cause&, const Idle&)>& enough) {
  std::map<std::pair<GapWait, Doing>, std::pair<Cause, Idle>> rest;
  std::vector<std::pair<Cause, Idle>> out;
  for (auto& [cause, idle] : causes) {
    if (enough(cause, idle)) {
      out.emplace_back(cause, std::move(idle));
      continue;
    }
    auto [sum, is_first] = rest.try_emplace({cause.wait, cause.activity.doing}, cause, idle);
    if (!is_first) sum->second.second.Add(idle);
  }
  for (auto& [kind, sum] : rest) out.push_back(std::move(sum));
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  return out;
}

// The line that cuts or reads inside a scope, as a log or dump told it.
absl::Status FillLine(const Store& store, std::string_view scope, Subject& subject) {
  std::string where = "(x.scope = ?1 OR substr(x.scope, -length(?1) - 1) = '/' || ?1)";
  int64_t most = 0;
  auto keep = [&](OptText file, OptInt line, OptText function, int64_t n) {
    if (n <= most) return;
    most = n, subject.file = file, subject.line = line, subject.function = function;
  };
  for (const char* table : {"execution", "transfer"}) {
    XP_TRY(store.Each(
        fmt::format(
            "SELECT s.file, s.line, s.function, count(*) FROM {} x JOIN site s ON s.id = x.site_id "
            "WHERE {} GROUP BY s.id ORDER BY 4 DESC, s.id LIMIT 1",
            table, where),
        keep, scope));
    if (most > 0) return absl::OkStatus();
  }
  return absl::OkStatus();
}

std::string Title(const DeviceIdle& device, const Idle& idle, double share, bool usual,
                  int64_t gaps, const std::string& meanwhile) {
  return fmt::format("{} idle {} ({:.1f} % {}) in {} while {}", device.time.label,
                     DurationText(idle.ns), 100 * share,
                     usual             ? "of the steps that do not compile"
                     : device.by_steps ? "of the steady time"
                                       : "of the time between its executions",
                     Plural(gaps, "gap"), meanwhile);
}

// `scopes`: how many there were; `scope` is the one of most time.
std::string Meanwhile(const Activity& activity, const std::string& scope, int64_t scopes,
                      bool has_events) {
  std::string in = scopes > 1 ? fmt::format(" in {} scopes", scopes) : "";
  if (!scope.empty()) in += fmt::format("{} in '{}'", scopes > 1 ? ", most" : "", scope);
  if (scopes > 1 && activity.doing == Doing::kUserCode) return "was" + in;
  switch (activity.doing) {
    case Doing::kNothing:
      return has_events ? "did nothing that was recorded" : "was not recorded";
    case Doing::kUserCode:
      return activity.in_step ? fmt::format("ran code of step '{}' outside of any scope", scope)
                              : fmt::format("was in scope '{}'", scope);
    case Doing::kRuntime:
      return "was in the runtime" + in;
    case Doing::kTracing:
      return "traced and prepared graphs" + in;
    case Doing::kExecute:
      return "asked for executions" + in;
    case Doing::kInput:
      return "waited for data" + in;
    case Doing::kTransfer:
      return "copied between host and device" + in;
    case Doing::kCompile:
      return "compiled" + in;
  }
  return "";
}

std::string Meanwhile(const Cause& cause, const std::string& scope, int64_t scopes,
                      bool has_events) {
  const std::string wait =
      cause.wait == GapWait::kUnknown ? "" : fmt::format(" ({})", GapWaitText(cause.wait));
  if (cause.wait == GapWait::kLaunch)
    return "the call that launches the next kernel was under way" + wait;
  if (cause.wait == GapWait::kKernelWait)
    return "the next kernel was launched already and waited" + wait;
  return "the host " + Meanwhile(cause.activity, scope, scopes, has_events) + wait;
}

std::string Advice(const Activity& activity, bool has_events) {
  switch (activity.doing) {
    case Doing::kNothing:
      return has_events ? "Put the host's work between the steps into a scope (xp.Trace, "
                          "jax.profiler.TraceAnnotation) "
                          "to see what it is."
                        : "Record the host too (host_tracer_level 2) to see what it did.";
    case Doing::kUserCode:
      return activity.in_step ? "Add scopes (xp.Trace) around the parts of the step to see which "
                                "one keeps the device "
                                "waiting; move host work off the step's thread."
                              : "Move this work off the step's thread (a worker thread or a later "
                                "step), or do it on the "
                                "device; start it on a copy of last step's result, so that the "
                                "device has work meanwhile.";
    case Doing::kRuntime:
      return "The runtime was waiting or preparing; look at the gaps on the timeline.";
    case Doing::kTracing:
      return "Tracing cannot keep up with the device: compile the step once "
             "(torch_xla.compile, jax.jit), use scan "
             "for repeated layers, or give the device more work a step.";
    case Doing::kExecute:
      return "Launching takes longer than running: merge small executions into one a step.";
    case Doing::kInput:
      return "See input_bound: load ahead with more workers or a deeper prefetch.";
    case Doing::kTransfer:
      return "Copy less often or less at a time, and asynchronously; keep on the device what is "
             "read only now and then.";
    case Doing::kCompile:
      return "See recompilation and slow_compile, which have the price.";
  }
  return "";
}

// `launches`: whether anything is launched in the scope.
std::string Advice(const Cause& cause, bool has_events, bool launches) {
  switch (cause.wait) {
    case GapWait::kLaunch:
      return "Launching takes longer than the kernels: fuse them (torch.compile), replay them as "
             "one "
             "(CUDA graphs), or give each more work.";
    case GapWait::kKernelWait:
      return "The host is ahead; kernels wait for each other. Many short ones: fuse them "
             "(torch.compile, CUDA graphs). Few long gaps: look at the other streams, copies and "
             "events that they wait for.";
    case GapWait::kHostWait:
      // In these the host is slow of itself; else it only launches later than the device works.
      if (cause.activity.doing == Doing::kInput || cause.activity.doing == Doing::kTransfer ||
          cause.activity.doing == Doing::kCompile)
        return Advice(cause.activity, has_events);
      if (!launches)
        return "Nothing is launched in this scope: move its work off the step's thread (the "
               "workers of a DataLoader, a thread of its own), or do it on the device.";
      return cause.activity.doing == Doing::kUserCode && !cause.activity.in_step
                 ? "The host launches later than the device works: compile this part "
                   "(torch.compile), replay it (CUDA graphs), or take what is not needed each step "
                   "out of it."
                 : "The host launches later than the device works: compile the step "
                   "(torch.compile) or replay it (CUDA graphs); put record_function scopes around "
                   "its parts to see which one is late.";
    case GapWait::kUnknown:
      return Advice(cause.activity, has_events);
  }
  return "";
}

ReasonType ReasonOf(const Cause& cause) {
  switch (cause.wait) {
    case GapWait::kHostWait:
      return ReasonType::kHostWait;
    case GapWait::kLaunch:
      return ReasonType::kLaunch;
    case GapWait::kKernelWait:
      return ReasonType::kKernelWait;
    case GapWait::kUnknown:
      break;
  }
  switch (cause.activity.doing) {
    case Doing::kNothing:
      return ReasonType::kNothingRecorded;
    case Doing::kUserCode:
      return ReasonType::kUserScope;
    case Doing::kRuntime:
      return ReasonType::kRuntime;
    case Doing::kTracing:
      return ReasonType::kTracing;
    case Doing::kExecute:
      return ReasonType::kExecute;
    case Doing::kInput:
      return ReasonType::kInput;
    case Doing::kTransfer:
      return ReasonType::kTransfer;
    case Doing::kCompile:
      return ReasonType::kCompile;
  }
  return ReasonType::kUnknown;
}

absl::StatusOr<Findings> Run(const Store& store) {
  Findings findings;
  XP_TRY(Steps steps, LoadSteps(store));
  XP_TRY(std::vector<DeviceIdle> devices, LoadDeviceIdle(store, steps));
  if (devices.empty()) return findings;
  XP_TRY(CaptureSettings settings, LoadCaptureSettings(store));
  auto [least, most] = std::minmax_element(
      devices.begin(), devices.end(),
      [](const DeviceIdle& a, const DeviceIdle& b) { return a.idle_share() < b.idle_share(); });
  // The device that idles most stands for all: those of one program wait for the same host.
  const DeviceIdle& device = *std::max_element(
      devices.begin(), devices.end(),
      [](const DeviceIdle& a, const DeviceIdle& b) { return a.idle_ns < b.idle_ns; });
  const std::string others =
      devices.size() > 1
          ? fmt::format(" The {} devices idle {:.1f} to {:.1f} %; {} idles most.", devices.size(),
                        100 * least->idle_share(), 100 * most->idle_share(), device.time.label)
          : "";

  const DeviceIdle& late = *std::max_element(devices.begin(), devices.end(),
                                             [](const DeviceIdle& a, const DeviceIdle& b) {
                                               return a.warm_up_idle_ns < b.warm_up_idle_ns;
                                             });
  if (late.warm_up_idle_ns > 0 &&
      double(late.warm_up_idle_ns) >= kIdleShare * double(late.time.span().length_ns())) {
    findings.push_back(
        {.title = fmt::format("{} idle {} of {} before the steady part began", late.time.label,
                              DurationText(late.warm_up_idle_ns),
                              DurationText(late.warm_up.length_ns())),
         .cost_note = "start-up is paid once; compilation has its own findings",
         .reason = Reason{.type = ReasonType::kStartUp, .state = State::kWarmUp},
         .advice =
             "Nothing, unless runs are short: a persistent compilation cache shortens the start.",
         .evidence = {{.table = "event",
                       .ts_ns = late.warm_up.begin_ns,
                       .dur_ns = late.warm_up.length_ns(),
                       .text = "start-up"}}});
  }
  if (device.gaps.empty() || device.steady.length_ns() <= 0) return findings;

  XP_TRY(auto host, HostTimeline::Of(store, device.time.process_id));
  const std::vector<Interval> compiling = CompilingSteps(steps, device.time.process_id);
  const int64_t usual_steps =
      std::count_if(steps.all.begin(), steps.all.end(), [&](const StepSpan& step) {
        return step.process_id == device.time.process_id && step.steady() && !step.compiles;
      });
  // Where (nearly) all steps compile, what lies between them is no picture of a usual step.
  const int64_t not_compiling_ns =
      compiling.empty() || usual_steps < kMinGaps
          ? device.steady.length_ns()
          : device.steady.length_ns() - Overlap(compiling, device.steady);
  XP_TRY(std::vector<GapWait> waits, GapWaits(store, device.time, device.gaps));
  // Where some steps compile for seconds, the others still count.
  auto is_usual = [&](const Cause& cause) {
    return not_compiling_ns < device.steady.length_ns() && cause.activity.doing != Doing::kCompile;
  };
  auto share_of = [&](const Cause& cause, const Idle& idle) {
    return is_usual(cause) ? double(idle.usual_ns) / double(not_compiling_ns)
                           : double(idle.ns) / double(device.steady.length_ns());
  };
  auto enough = [&](const Cause& cause, const Idle& idle) {
    return share_of(cause, idle) >= kIdleShare;
  };
  for (const auto& [cause, idle] : Gather(ByCause(device, *host, waits, compiling), enough)) {
    const Activity& activity = cause.activity;
    if (!enough(cause, idle)) continue;
    const bool usual = is_usual(cause);
    const double share = share_of(cause, idle);
    const std::string scope(ScopeText(store, activity));
    // A little in each of many gaps is no less a pattern than most of a few.
    const int64_t gaps = 2 * idle.main_ns >= idle.ns ? idle.main_of : idle.in;
    const bool recurs =
        gaps >= kMinGaps && double(gaps) >= kRecurringShare * double(device.chances);

    Finding finding{.title = Title(device, idle, share, usual, gaps,
                                   Meanwhile(cause, scope, idle.scopes, host->has_events())),
                    .count = gaps,
                    .cost_ns = idle.ns};
    finding.cost_note =
        fmt::format("idle time of {} between executions, {}{}.{}", device.time.label,
                    device.by_steps ? fmt::format("in {}", Plural(device.chances, "steady step"))
                                    : fmt::format("among {}", Plural(device.chances, "execution")),
                    device.time.from == "op" ? ", from its ops" : "", others);
    if (device.by_steps && device.chances > 0)
      finding.per_step = double(gaps) / double(device.chances);
    finding.reason = Reason{.type = ReasonOf(cause)};
    bool launches = true;
    if (cause.wait == GapWait::kHostWait && activity.doing == Doing::kUserCode &&
        !activity.in_step && idle.scopes == 1) {
      XP_TRY(launches, LaunchesIn(store, device.time.process_id, activity.scope));
    }
    finding.advice = Advice(cause, host->has_events(), launches);
    if (!scope.empty() && idle.scopes == 1) {
      finding.subject.scope = scope;
      XP_TRY(bool placed, FillScopePlace(store, activity.scope, finding.subject));
      if (!placed) XP_TRY(FillLine(store, scope, finding.subject));
    }
    // How much of it the capture itself may have caused.
    const int64_t bound_ns =
        gaps * settings.TracingBoundNs(scope) + settings.FallbackBoundNs(scope);
    const bool slow_tracing =
        (settings.slow_tracing() && activity.doing == Doing::kTracing) ||
        (activity.doing == Doing::kUserCode && bound_ns > 0 && idle.ns <= bound_ns);
    const bool slow_python =
        settings.python_tracer && idle.calls * kPythonTracerCallNs * 2 >= idle.main_ns;
    const bool elsewhere = activity.doing == Doing::kCompile || activity.doing == Doing::kInput;
    if (slow_tracing || slow_python) {
      finding.reason->type = ReasonType::kCaptureSettings;
      finding.reason->text = fmt::format(
          "The capture's own settings slow this down: {}{}. Without them it may vanish.",
          slow_python && !slow_tracing ? "the Python tracer" : settings.Text(),
          activity.doing == Doing::kUserCode && slow_tracing
              ? fmt::format("; '{}' {}", scope,
                            settings.FallbackBoundNs(scope) > 0 ? "reads values" : "traces ops")
              : "");
      finding.advice = "Record again without these settings before you act on it.";
    } else if (elsewhere) {
      finding.reason->text = "Another finding has the price.";
    } else if (recurs) {
      finding.severity = Severity::kWarning;
    } else {
      finding.reason->text = fmt::format("It is the main cause of {} only.", Plural(gaps, "gap"));
    }
    for (const auto& [ns, gap] : idle.longest) {
      finding.evidence.push_back(
          {.table = "event",
           .ts_ns = gap.begin_ns,
           .dur_ns = gap.length_ns(),
           .text = fmt::format("gap of {}, {} of it {}", DurationText(gap.length_ns()),
                               DurationText(ns),
                               cause.wait == GapWait::kUnknown || cause.wait == GapWait::kHostWait
                                   ? DoingText(activity.doing)
                                   : GapWaitText(cause.wait))});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer device_gap{
    .name = "device_gap",
    .summary = "the device idles between executions, and what the host did meanwhile",
    .looks_at = "device events, steps and the host's events",
    .run = Run,
    .needs = Needs::kDevices,
    .is_from_timeline = true};

}  // namespace xlaprof

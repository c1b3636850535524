// Reads of values before the step mark: .item(), print, `if tensor`, .cpu(). Each stops the host
// until the device has computed the value, and what was computed for it is computed again at the
// step mark.
#include <algorithm>

#include "analyzers/activity/device_idle.h"
#include "analyzers/activity/host_activity.h"
#include "analyzers/activity/steps.h"
#include "analyzers/analyzer.h"
#include "analyzers/evidence/device_reads.h"
#include "analyzers/evidence/early_cut.h"
#include "analyzers/evidence/step_count.h"
#include "analyzers/quantity.h"
#include "core/base/whole.h"

namespace xlaprof {
namespace {

// Logging every tenth step is the usual advice; a read that is rarer costs little and is only
// mentioned.
constexpr double kOftenPerStep = 0.1;
constexpr int64_t kOftenCount = 3;     // without steps: three times is a pattern
constexpr double kLeastOfStep = 0.01;  // of a step's time: what blocks for less is only mentioned
constexpr double kNumberBytes = 8;     // f64, s64: what a fetch of one number takes at most
constexpr size_t kEvidenceRows = 24;   // ids quoted in the evidence of a finding

Severity SeverityOf(int64_t count, std::optional<double> per_step) {
  bool often = per_step ? *per_step >= kOftenPerStep && count >= 2 : count >= kOftenCount;
  return often ? Severity::kWarning : Severity::kInfo;
}

std::string Advice(const EarlyCut& cut, bool other_ops) {
  std::string out;
  if (cut.value == EarlyCut::Value::kTensor) {
    out =
        "Read the tensor after the step mark (torch_xla.sync()), less often, or keep the "
        "computation on the device. ";
  } else {
    out =
        "Keep the value on the device: collect it with .detach() and read it every N steps, after "
        "the step mark, or hand the read to "
        "xm.add_step_closure. For `if tensor:` use torch.where. ";
  }
  if (other_ops)
    out +=
        "If this line calls an op without lowering, that op causes the read: see the fallback "
        "finding. ";
  out.pop_back();
  return out;
}

Finding FromCut(const EarlyCut& cut, bool other_ops) {
  Finding finding{.subject = cut.subject};
  int64_t count = int64_t(cut.executions.size());
  finding.count = count;
  finding.per_step = PerStep(count, cut.steps);
  finding.severity = SeverityOf(count, finding.per_step);
  const bool is_bool = cut.shape && cut.shape->element_type() == "pred";
  std::string what = cut.value == EarlyCut::Value::kScalar
                         ? is_bool ? "a Python bool is read" : "a Python number is read"
                     : cut.value == EarlyCut::Value::kTensor ? "a tensor is read"
                                                             : "a value is read";
  finding.title =
      fmt::format("{}{} before the step mark, {}{}", what,
                  cut.shape ? fmt::format(" ({})", cut.shape->text()) : "", TimesText(count),
                  finding.per_step ? fmt::format(" ({})", PerStepText(*finding.per_step)) : "");
  finding.cost_ns = cut.wait_ns;
  if (!cut.wait_ns) {
    finding.cost_note = "unmeasured: no profile covers these reads";
  } else if (cut.waits_measured < count) {
    finding.cost_note = fmt::format("time that the host was blocked, measured for {} of {} reads",
                                    CountText(cut.waits_measured), CountText(count));
  } else {
    finding.cost_note = "time that the host was blocked";
  }
  Reason reason{.type = ReasonType::kValueAccess};
  reason.text =
      "the read evaluates a part of the graph early and waits for it; the graph is not cut, so the "
      "same nodes run again at the step mark";
  if (cut.nodes)
    reason.text = fmt::format(
        "each read evaluates a graph of {} nodes early and waits for it; what the step mark still "
        "needs of them runs again",
        CountText(*cut.nodes));
  finding.reason = reason;
  finding.advice = Advice(cut, other_ops);
  std::vector<int64_t> rows(
      cut.executions.begin(),
      cut.executions.begin() + int64_t(std::min(cut.executions.size(), kEvidenceRows)));
  finding.evidence.push_back({.table = "execution", .rows = std::move(rows)});
  return finding;
}

// Without a log or a profile: the counters of a metrics report.
absl::Status FromMetrics(const Store& store, const EarlyCuts& cuts, std::optional<int64_t> steps,
                         Findings& findings) {
  int64_t reads = 0;
  OptInt cost_ns;
  std::string evidence;
  if (cuts.scalar_reads) {
    reads = *cuts.scalar_reads;
    evidence = fmt::format("counter aten::_local_scalar_dense = {}", reads);
  }
  OptInt transfers, executions;
  OptText transfers_name;
  double mean_bytes = 0;  // 0: not known
  XP_TRY(
      store.Each("SELECT name, samples, accumulator FROM metric WHERE name IN "
                 "('TransferFromDeviceTime', 'TransferFromServerTime') AND samples IS NOT NULL "
                 "ORDER BY id DESC LIMIT 1",
                 [&](std::string name, int64_t samples, std::optional<double> total_ns) {
                   transfers = samples, transfers_name = name;
                   if (total_ns) cost_ns = Whole(*total_ns);
                 }));
  // Each fetch is a sample of InboundData too: a paste that ends before the transfers may still
  // hold it.
  XP_TRY(
      store.Each("SELECT samples, accumulator FROM metric WHERE name = 'InboundData' AND samples > "
                 "0 ORDER BY id DESC LIMIT 1",
                 [&](int64_t samples, std::optional<double> bytes) {
                   if (!transfers) transfers = samples, transfers_name = "InboundData";
                   if (bytes) mean_bytes = *bytes / double(samples);
                 }));
  XP_TRY(
      store.Each("SELECT samples FROM metric WHERE name IN ('ExecuteTime', "
                 "'ExecuteReplicatedTime') ORDER BY id DESC LIMIT 1",
                 [&](OptInt samples) { executions = samples; }));
  XP_TRY(store.Each(
      "SELECT samples, text FROM profiler_line WHERE rule = 'transfer_from_frequent' ORDER BY "
      "ordinal DESC LIMIT 1",
      [&](OptInt samples, std::string text) {
        if (!transfers)
          transfers = samples, transfers_name = "TransferFromDeviceTime", evidence = text;
      }));
  // Lines of one program that tell the same count at several steps: what was fetched was so before.
  bool rises = true;
  XP_TRY(store.Each(
      "SELECT min(samples) < max(samples) OR count(DISTINCT steps) < 2 FROM profiler_line WHERE "
      "rule = 'transfer_from_frequent' AND samples IS NOT NULL AND steps IS NOT NULL",
      [&](OptInt does) { rises = does.value_or(1) != 0; }));
  int64_t by_ops = 0;
  for (const FallbackOp& op : cuts.ops) by_ops += op.count.value_or(0);
  int64_t other = transfers ? std::max<int64_t>(0, *transfers - reads - by_ops) : 0;
  bool ops_uncounted =
      std::any_of(cuts.ops.begin(), cuts.ops.end(), [](const FallbackOp& op) { return !op.count; });
  if (transfers)
    evidence += fmt::format("{}{} has {} samples", evidence.empty() ? "" : "; ", *transfers_name,
                            *transfers);
  auto add = [&](int64_t count, std::string title, std::string advice, const Subject* where) {
    Finding finding;
    if (where != nullptr) finding.subject = *where;
    finding.count = count;
    if (rises) finding.per_step = PerStep(count, steps);
    // Without step marks the executions bound the steps from above.
    std::optional<double> rate = finding.per_step;
    if (!rate && executions && *executions > 0) rate = double(count) / double(*executions);
    finding.severity = rises ? SeverityOf(count, rate) : Severity::kInfo;
    finding.title = fmt::format("{}, {}", title, TimesText(count));
    if (!rises) {
      finding.title += ", and not again in the steps that the log tells of";
    } else if (finding.per_step) {
      finding.title += fmt::format(" ({})", PerStepText(*finding.per_step));
    } else if (rate) {
      finding.title += " in " + Plural(*executions, "execution");
    }
    if (cost_ns && by_ops == 0 && !ops_uncounted && (reads == 0 || other == 0)) {
      finding.cost_ns = cost_ns;
      finding.cost_note = fmt::format("accumulator of {}: waiting for the device included",
                                      transfers_name.value_or("TransferFromDeviceTime"));
    } else if (!cost_ns) {
      finding.cost_note = "unmeasured: no source has the time of these reads";
    } else {
      finding.cost_note = "unmeasured: transfers of several kinds share one metric";
    }
    finding.reason =
        Reason{.type = ReasonType::kValueAccess,
               .text = where != nullptr ? "a read waits for all that was queued before it"
                                        : "counters carry no line"};
    finding.advice = std::move(advice);
    if (where == nullptr) {
      finding.advice +=
          " To see the line, run with PT_XLA_DEBUG_LEVEL=2 and PT_XLA_DEBUG_FILE=log.txt.";
    }
    finding.evidence.push_back({.table = "metric", .text = evidence});
    findings.push_back(std::move(finding));
  };
  for (const auto& [where, count] : cuts.scalar_read_sites) {
    add(count, "a Python number is read from the device",
        "Read it every N steps, after the step mark; for `if tensor:` use torch.where.", &where);
  }
  if (reads > 0 && cuts.scalar_read_sites.empty()) {
    add(reads, "a Python number is read from the device",
        "Look for .item(), float(tensor), bool(tensor), `if tensor:`; read every N steps, after "
        "the step mark.",
        nullptr);
  }
  if (other >= kOftenCount) {
    std::string advice =
        "Look for .item(), print(tensor), .cpu(), .numpy(), saving inside the step; read every N "
        "steps, after the step mark.";
    if (ops_uncounted)
      advice = "Part of them may be fetched by the ops without lowering. " + advice;
    const bool numbers = mean_bytes > 0 && mean_bytes <= kNumberBytes;
    if (numbers && !ops_uncounted)
      advice =
          "Look for .item(), float(tensor), bool(tensor), `if tensor:`, print(loss); read every N "
          "steps, after the step mark.";
    const char* what = mean_bytes == 0 ? "a value" : numbers ? "a number" : "a tensor";
    add(other, fmt::format("{} is fetched from the device", what), std::move(advice), nullptr);
  }
  return absl::OkStatus();
}

}  // namespace

// A log of compilations alone (PT_XLA_DEBUG_LEVEL=1): reads show where they compiled, and how often
// they came is not told.
static absl::Status FromCompiles(const Store& store, Findings& findings) {
  return store.Each(
      "SELECT count(*), min(c.id), s.function, s.file, s.line FROM compile c LEFT JOIN site s ON "
      "s.id = c.site_id "
      "WHERE c.cause = 'value_access' GROUP BY c.site_id ORDER BY 1 DESC, 2",
      [&](int64_t count, int64_t id, OptText function, OptText file, OptInt line) {
        Finding finding;
        finding.severity = count >= kOftenCount ? Severity::kWarning : Severity::kInfo;
        finding.subject = {.file = std::move(file), .line = line, .function = std::move(function)};
        finding.title = fmt::format("a value is read before the step mark; {} compiled for it",
                                    Plural(count, "graph was", "graphs were"));
        finding.cost_note = "unmeasured: a log of compilations does not tell how often it is read";
        finding.reason =
            Reason{.type = ReasonType::kValueAccess,
                   .text = "the read evaluates a part of the graph early and waits for it"};
        finding.advice =
            "Read the value after the step mark (torch_xla.sync()) and every N steps; run with "
            "PT_XLA_DEBUG_LEVEL=2 to see each read.";
        finding.evidence.push_back(
            {.table = "compile", .rows = {id}, .text = fmt::format("{} compilations", count)});
        findings.push_back(std::move(finding));
      });
}

// A program that runs op by op, in a trace of PyTorch's profiler: the read is an operation there.
// Of the device that idles most in the steady steps; empty where none is known.
static absl::StatusOr<OptInt> MostIdle(const Store& store, const Steps& steps) {
  XP_TRY(const std::vector<DeviceIdle> devices, LoadDeviceIdle(store, steps));
  OptInt most_ns;
  for (const DeviceIdle& device : devices) most_ns = std::max(most_ns.value_or(0), device.idle_ns);
  return most_ns;
}

static absl::Status FromOperations(const Store& store, Findings& findings) {
  XP_TRY(DeviceReadsInSteps reads, FindDeviceReads(store));
  if (reads.places.empty()) return absl::OkStatus();
  XP_TRY(const Steps steps, LoadSteps(store));
  reads.steps =
      std::max<int64_t>(1, reads.steps - std::ranges::count_if(steps.all, &StepSpan::cut));
  XP_TRY(const OptInt idle_ns, MostIdle(store, steps));
  double blocked_ns = 0;
  for (const DeviceReads& place : reads.places) blocked_ns += double(place.blocked_ns);
  // While the host waits for work that the device does, nothing is lost but what it idles then.
  const double lost =
      std::min(1.0, double(idle_ns.value_or(INT64_MAX)) / std::max(1.0, blocked_ns));
  const double least_ns =
      kLeastOfStep * double(Median(steps.steady_ns).value_or(0)) * double(reads.steps);
  for (DeviceReads& place : reads.places) {
    const bool counts = place.op == "aten::nonzero";
    const int64_t cost_ns = Whole(lost * double(place.blocked_ns));
    Finding finding{.subject = std::move(place.subject),
                    .count = place.count,
                    .per_step = PerStep(place.count, reads.steps),
                    .cost_ns = cost_ns,
                    .cost_note = "time that the step's thread was blocked in copies and waits"};
    if (lost < 1) {
      finding.cost_note = fmt::format(
          "its part of the {} that the device idles in the steady steps, at most; the step's "
          "thread "
          "was blocked in copies and waits for {}",
          DurationText(*idle_ns), DurationText(place.blocked_ns));
    }
    if (place.scope != 0) {
      finding.subject.scope =
          ScopeText(store, Activity{.in_step = place.in_step, .scope = place.scope});
    }
    finding.severity =
        double(cost_ns) < least_ns ? Severity::kInfo : SeverityOf(place.count, finding.per_step);
    finding.title =
        fmt::format("{} waits for the device to {}, {}{}", place.op,
                    counts ? "count its elements" : "read a number", TimesText(place.count),
                    finding.per_step ? fmt::format(" ({})", PerStepText(*finding.per_step)) : "");
    finding.reason = Reason{.type = ReasonType::kValueAccess,
                            .text =
                                "the host waits for all that was launched before, and the "
                                "device then for the host"};
    finding.advice =
        counts ? "Use torch.where, or multiply by the mask: a boolean index, and nonzero(), need "
                 "the number of elements on the host."
               : "Keep the value on the device: collect it with .detach() and read it every N "
                 "steps; for `if tensor:` use torch.where; hand tensors, not numbers, to the next "
                 "operation.";
    for (const DeviceReads::Time& time : place.longest) {
      finding.evidence.push_back({.table = "event",
                                  .ts_ns = time.ts_ns,
                                  .dur_ns = time.dur_ns,
                                  .text = place.op + " of " + DurationText(time.dur_ns)});
    }
    findings.push_back(std::move(finding));
  }
  return absl::OkStatus();
}

static absl::StatusOr<Findings> Run(const Store& store) {
  XP_TRY(EarlyCuts cuts, FindEarlyCuts(store));
  XP_TRY(std::optional<int64_t> steps, StepCount(store));
  Findings findings;
  bool unplaced_ops = std::any_of(cuts.ops.begin(), cuts.ops.end(),
                                  [](const FallbackOp& op) { return op.cut < 0; });
  for (const EarlyCut& cut : cuts.cuts) {
    if (cut.op.empty())
      findings.push_back(FromCut(cut, unplaced_ops && cut.value != EarlyCut::Value::kScalar));
  }
  if (cuts.cuts.empty()) {
    XP_TRY(auto executions, store.One<int64_t>("SELECT count(*) FROM execution"));
    if (executions.value_or(0) == 0) XP_TRY(FromCompiles(store, findings));
    XP_TRY(FromMetrics(store, cuts, steps, findings));
    if (findings.empty()) XP_TRY(FromOperations(store, findings));
  }
  return findings;
}

extern const Analyzer sync_point{
    .name = "sync_point",
    .summary = "reads that evaluate the graph before the step mark and make the host wait",
    .looks_at = "executions before a step mark, their lines, fallback counters, transfers from the device; reading operations of PyTorch's profiler",
    .run = Run};
}  // namespace xlaprof

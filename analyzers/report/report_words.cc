#include "analyzers/report/report_words.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "analyzers/policy.h"
#include "analyzers/quantity.h"
#include "analyzers/run/call_stacks.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

bool IsFromTimeline(const Finding& finding) { return finding.analyzer->is_from_timeline; }

// Returns whether the cost is paid once, so that a share of each step means nothing.
bool IsPaidOnce(const Finding& finding) {
  return finding.analyzer->is_paid_once || (finding.count == 1 && !IsFromTimeline(finding));
}

bool WindowIsWholeRun(const Summary& summary) {
  return summary.timed_steps.value_or(0) > 0 && summary.timed_steps == summary.steps;
}

std::string Relative(const Report& report, int64_t ns) {
  ns -= report.start_ns.value_or(0);
  return ns == 0 ? "0 s" : DurationText(ns);
}

}  // namespace

SourceNames::SourceNames(const Report& report) {
  if (report.sources.empty()) return;
  folder_ = std::filesystem::path(report.sources.front().path).parent_path().string() + "/";
  for (const SourceRow& source : report.sources) {
    while (!source.path.starts_with(folder_)) {
      if (folder_.size() < 2) {
        folder_.clear();
        return;
      }
      size_t slash = folder_.find_last_of('/', folder_.size() - 2);
      folder_.resize(slash == std::string::npos ? 0 : slash + 1);
    }
  }
}

std::string SourceNames::Short(const std::string& path) const {
  return path.starts_with(folder_) ? path.substr(folder_.size()) : path;
}

// Returns "60 steps", or "60 steps in each of 4 processes". `summary.steps` is known.
static std::string StepCountText(const Summary& summary) {
  if (!summary.process_steps) return Plural(*summary.steps, "step");
  const auto& [processes, least, most] = *summary.process_steps;
  return fmt::format("{}{} in each of {} processes",
                     least < most ? fmt::format("{} to ", CountText(least)) : "",
                     Plural(most, "step"), processes);
}

std::string HeadText(const Report& report, const SourceNames& names) {
  std::map<std::string, int> formats;
  int64_t files = 0, bytes = 0;
  const SourceRow* only = nullptr;
  for (const SourceRow& source : report.sources) {
    if (!source.imported) continue;
    ++files, bytes += source.bytes.value_or(0), only = &source;
    ++formats[source.format.value_or("?")];
  }
  std::string kinds;
  for (const auto& [format, count] : formats) {
    kinds += fmt::format("{}{}{}", kinds.empty() ? "" : ", ",
                         count > 1 ? fmt::format("{} ", count) : "", format);
  }
  std::string folder = names.folder();
  if (folder.size() > 1) folder.pop_back();
  if (bytes > 0) kinds += (files == 1 ? ", " : "; ") + BytesText(double(bytes));
  std::string out = files == 1 ? fmt::format("{} ({})", only->path, kinds)
                               : fmt::format("{}{}{} ({})", folder, folder.empty() ? "" : ": ",
                                             Plural(files, "file"), kinds);
  if (!report.run_label.empty() && report.runs.size() > 1)
    out += fmt::format(", run {}", report.run_label);
  if (report.summary.steps) out += ", " + StepCountText(report.summary);
  if (report.summary.wall_ns)
    out += fmt::format(", window of {}", DurationText(*report.summary.wall_ns));
  return out;
}

std::string SliceText(const Report& report) {
  const Slice& slice = report.slice;
  std::string out;
  auto add = [&](std::string text) { out += (out.empty() ? "Only " : ", ") + text; };
  if (slice.process_id) add(fmt::format("process {}", *slice.process_id));
  if (slice.first_step && slice.first_step == slice.last_step) {
    add(fmt::format("step {}", *slice.first_step));
  } else if (slice.first_step || slice.last_step) {
    auto end = [](const OptInt& step, const char* open) {
      return step ? fmt::to_string(*step) : open;
    };
    add(fmt::format("steps {} to {}", end(slice.first_step, "the first"),
                    end(slice.last_step, "the last")));
  } else {
    if (slice.from_ns) add(fmt::format("from {}", Relative(report, *slice.from_ns)));
    if (slice.to_ns) add(fmt::format("to {}", Relative(report, *slice.to_ns)));
  }
  return out;
}

std::string ProcessesText(const Report& report) {
  std::vector<const ProcessRow*> processes;
  for (const ProcessRow& process : report.processes) {
    bool selected = std::any_of(report.runs.begin(), report.runs.end(), [&](const RunRow& run) {
      return run.selected && process.run_id == run.id;
    });
    if ((selected || !process.run_id) && !report.silent_processes.contains(process.id))
      processes.push_back(&process);
  }
  if (processes.size() < 2) return "";
  std::string out =
      fmt::format("{} processes; choose one with --process:", CountText(int64_t(processes.size())));
  for (size_t i = 0; i < std::min<size_t>(processes.size(), 16); ++i) {
    const ProcessRow& process = *processes[i];
    out += fmt::format("{} {}", i == 0 ? "" : ";", process.id);
    if (process.rank) out += fmt::format(" rank {}", *process.rank);
    if (process.host) out += fmt::format(" on {}", *process.host);
    if (process.pid) out += fmt::format(" pid {}", *process.pid);
  }
  return processes.size() > 16 ? out + "; ..." : out;
}

// Returns how many events were dropped and why: "5 more dropped because a ring was full".
static std::string DroppedText(const RecordingCost& recording) {
  const std::pair<int64_t, std::string_view> causes[] = {
      {recording.dropped - recording.unwritten - recording.ringless, "a ring was full"},
      {recording.unwritten, "the disk could not be written"},
      {recording.ringless, "their threads had no ring"}};
  std::string whys;
  for (const auto& [count, why] : causes) {
    if (count == recording.dropped)
      return fmt::format("{} more dropped because {}", CountText(count), why);
    if (count > 0)
      whys += fmt::format("{}{} because {}", whys.empty() ? "" : ", ", CountText(count), why);
  }
  return fmt::format("{} more dropped: {}", CountText(recording.dropped), whys);
}

std::string RecordingText(const RecordingCost& recording) {
  std::string out = recording.program.empty() ? "a program" : recording.program;
  if (recording.pid) out += fmt::format(" (pid {})", *recording.pid);
  out += fmt::format(": {} of {}, {}", Plural(recording.events, "event"),
                     Plural(recording.threads, "thread"),
                     recording.dropped == 0 ? std::string("none dropped") : DroppedText(recording));
  if (recording.drain_cpu_ns) {
    out += fmt::format("; writing them took {} of CPU", DurationText(*recording.drain_cpu_ns));
    // The writer thread also works before the first event and after the last. In a short recording,
    // its CPU time can exceed the recorded span.
    if (recording.span_ns.value_or(0) > *recording.drain_cpu_ns) {
      out += fmt::format(" ({} of a core)",
                         PercentText(double(*recording.drain_cpu_ns) / double(*recording.span_ns)));
    }
    out += fmt::format(" and {}", BytesText(double(recording.bytes)));
  }
  if (!recording.ended) {
    out +=
        ". It is still running or was killed; if it was killed, `xlaprof recover` reads the rest";
  }
  return out;
}

bool IsFromTheStart(const Report& report) {
  return !report.slice.first_step && !report.slice.from_ns;
}

std::string AfterStepsText(const Summary::Device& device) {
  if (!device.after_steps_ns || !device.busy_a_step_ns) return "";
  return fmt::format(
      "{} works for {} after the last step: the host's steps only queue work, and the device is busy for {} per step",
      device.name, DurationText(*device.after_steps_ns), DurationText(*device.busy_a_step_ns));
}

std::string UnitText(const Summary& summary) {
  if (!summary.unit) return "";
  const WorkUnit::Program& unit = *summary.unit;
  return fmt::format(
      "No step is marked, so the unit is one execution of `{}`: {}, median {}, {} of the time of all executions",
      unit.name, Plural(unit.executions, "execution"), DurationText(unit.median_ns),
      PercentText(unit.share));
}

std::string CountsText(const Summary& summary) {
  std::string out;
  auto add = [&](const std::optional<int64_t>& count, const char* one, const char* many,
                 bool per_step) {
    if (!count) return;
    out += (out.empty() ? "" : ", ") + Plural(*count, one, many);
    if (!per_step || *count == 0 || summary.steps.value_or(0) < 2) return;
    out += fmt::format(" ({})", PerStepText(double(*count) / double(*summary.steps)));
  };
  if (summary.steps) out += StepCountText(summary);
  add(summary.compile_count, "compilation", "compilations", false);
  add(summary.load_count, "program loaded from a cache", "programs loaded from a cache", false);
  add(summary.execution_count, "execution", "executions", true);
  add(summary.transfer_count, "transfer", "transfers", true);
  add(summary.fallback_count, "op on the CPU", "ops on the CPU", true);
  return out;
}

std::vector<StepShare> SteadyShares(const Report& report) {
  const SteadyStep& steady = report.steady;
  std::vector<StepShare> shares;
  auto add = [&](std::string name, int64_t ns) {
    if (steady.step_ns <= 0 || double(ns) < policy::kListedPartOfStep * double(steady.step_ns))
      return;
    shares.push_back({std::move(name), ns, double(ns) / double(steady.step_ns)});
  };
  for (const SteadyStep::Part& part : steady.host)
    add(std::string(TextsOf(part.doing).name), part.ns);
  const bool several = report.summary.devices.size() > 1;
  if (steady.device_busy_ns) add(several ? "devices busy" : "device busy", *steady.device_busy_ns);
  if (steady.device_idle_ns) add(several ? "devices idle" : "device idle", *steady.device_idle_ns);
  return shares;
}

std::string SteadySharesTitle(const Report& report) {
  const SteadyStep& steady = report.steady;
  const bool several = report.summary.devices.size() > 1;
  // Annotations of steps may leave out the time from one step to the next. The mean of more steps may
  // exceed their 99th percentile without that.
  const bool has_time_between =
      report.summary.steady_steps < policy::kStepsOfPercentile &&
      steady.step_ns > report.summary.step_p99_ns.value_or(steady.step_ns);
  return fmt::format(
      "{}, {}{}{}",
      steady.steps == 1 ? "the steady step"
                        : fmt::format("mean of {} steady steps", CountText(steady.steps)),
      DurationText(steady.step_ns), has_time_between ? " with the time between them" : "",
      !steady.device_busy_ns ? ""
      : several              ? "; what the devices do overlaps the rest"
                             : "; what the device does overlaps the rest");
}

std::string TotalSharesTitle(const Summary& summary) {
  if (summary.wall_ns)
    return fmt::format("of the {} in the window (activities overlap)",
                       DurationText(*summary.wall_ns));
  return summary.totals_from_logs ? "sums of the logs" : "sums of the metrics";
}

std::string StepSpreadText(const Summary& summary) {
  if (summary.steady_steps == 1 || !summary.step_p99_ns) return "one step";
  if (summary.steady_steps < policy::kStepsOfPercentile) {
    return fmt::format("median of {}; the longest takes {}", CountText(summary.steady_steps),
                       DurationText(*summary.step_p99_ns));
  }
  return fmt::format("median; 99 % take at most {}", DurationText(*summary.step_p99_ns));
}

std::vector<StepShare> TotalShares(const Summary& summary) {
  std::vector<StepShare> shares;
  auto add = [&](std::string name, std::optional<int64_t> total_ns, int64_t devices,
                 bool is_in_each_step = true) {
    if (total_ns.value_or(0) == 0) return;  // zero or unknown
    StepShare share{.name = devices > 1 ? "mean " + name : name,
                    .ns = *total_ns / std::max<int64_t>(1, devices)};
    if (summary.wall_ns.value_or(0) > 0) {
      share.part = double(share.ns) / double(*summary.wall_ns);
    } else if (summary.steps.value_or(0) > 1 && is_in_each_step) {
      share.per_step_ns = share.ns / *summary.steps;
    }
    shares.push_back(std::move(share));
  };
  const int64_t devices = int64_t(summary.devices.size());
  const bool is_compiling_in_each_step = !summary.compiles_at_start;
  add("tracing", summary.tracing_ns, 1, is_compiling_in_each_step);
  add("compile", summary.compile_ns, 1, is_compiling_in_each_step);
  add("load programs", summary.load_ns, 1, is_compiling_in_each_step);
  if (summary.device_busy_ns) {
    add("device busy", summary.device_busy_ns, devices);
  } else {
    add("execute", summary.execute_ns, devices);
  }
  add("transfer", summary.transfer_ns, 1);
  add("input", summary.input_ns, 1);
  add("device idle", summary.device_idle_ns, devices);
  return shares;
}

std::string TotalsText(const Summary& summary) {
  std::string out;
  for (const StepShare& share : TotalShares(summary))
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", share.name, DurationText(share.ns));
  if (out.empty()) return out;
  return fmt::format("{}: {}", TotalSharesTitle(summary), out);
}

std::string TopTitle(const Report& report) {
  const DeviceTop& top = report.top_ops.devices.front();
  const int64_t devices = int64_t(report.summary.devices.size());
  return fmt::format(
      "What {} does{}: it is busy for {} of {}", top.label,
      devices > 1 ? fmt::format(" (the busiest of {} devices)", CountText(devices)) : std::string(),
      PercentText(top.busy_share), DurationText(top.span_ns));
}

std::string TopOpText(const TopOp& op) {
  std::string out = TimesText(op.count);
  if (!op.category.empty() && op.category != op.name) out += ", " + op.category;
  if (!op.location.empty()) {
    out += ", at " + SourcePlace::Parse(op.location).ShortText();
  } else if (!op.scope.empty()) {
    out += ", in " + op.scope;
  }
  return out;
}

std::string PlaceText(const Finding& finding, bool full_path) {
  const Subject& subject = finding.subject;
  std::string out;
  if (subject.file) {
    out = full_path ? subject.place().text() : subject.place().ShortText();
    if (subject.function && full_path)
      out += subject.starts_function
                 ? fmt::format(", inside {}, which begins there", *subject.function)
                 : fmt::format(", in {}", *subject.function);
  } else if (subject.function) {
    out = fmt::format("in {}", *subject.function);
  }
  auto add = [&](const char* what, const std::optional<std::string>& name) {
    if (name && !name->empty()) out += fmt::format("{}{}{}", out.empty() ? "" : ", ", what, *name);
  };
  add("scope ", subject.scope);
  if (full_path) {
    add("op ", subject.op);
    if (out.empty()) add("graph ", subject.graph_hash);
  }
  return out;
}

std::string LibraryText(const Finding& finding) {
  const CallFrame* frame = LibraryFrameOf(finding.stack.frames);
  // The finding is at the library's own line if no user's line is known.
  if (frame == nullptr || frame->place.IsLineOf(finding.subject.place())) return "";
  return fmt::format("this line calls a library; the work happens{} at {}{}{}",
                     finding.stack.is_only ? "" : " mostly", TextInPackage(frame->place),
                     frame->place.function.empty() ? "" : ", in ", frame->place.function);
}

std::vector<std::string> CallerTexts(const Finding& finding) {
  std::vector<std::string> texts;
  const SourcePlace line = finding.subject.place();
  bool passed_line = false;  // earlier frames are calls that the line made
  for (const CallFrame& frame : finding.stack.frames) {
    if (passed_line && frame.is_user)
      texts.push_back(fmt::format("called from {}{}{}", frame.place.text(),
                                  frame.place.function.empty() ? "" : ", in ",
                                  frame.place.function));
    passed_line |= frame.place.IsLineOf(line);
  }
  return texts;
}

std::string ReasonText(const Finding& finding) {
  const Reason& reason = *finding.reason;
  if (!reason.state && finding.words.why.empty() && !reason.before && !reason.after)
    return "";  // the title says it
  std::string out(TextOf(reason.type));
  if (reason.state) {
    out += fmt::format(", {}", *reason.state);
    if (reason.step)
      out += fmt::format(" {} step {}", *reason.state == State::kSettled ? "since" : "at",
                         CountText(*reason.step));
  }
  if (!finding.words.why.empty()) out += fmt::format(": {}", finding.words.why);
  return out;
}

std::string NodeText(const Reason& reason) {
  std::string out = reason.node.value_or("");
  const std::string location = reason.location ? reason.location->text() : "";
  if (!out.empty() && !location.empty()) out += reason.location->is_near ? ", " : " at ";
  return out + location;
}

std::span<const Finding> ConsequencesOf(const Report& report, const Finding& finding) {
  const size_t first = size_t(&finding - report.findings.data()) + 1;
  size_t end = first;
  while (end < report.findings.size() && report.findings[end].depth > finding.depth) ++end;
  return std::span(report.findings).subspan(first, end - first);
}

std::vector<ConsequenceText> ConsequenceTexts(const Report& report, const Finding& finding) {
  std::vector<ConsequenceText> texts;
  const std::span<const Finding> all = ConsequencesOf(report, finding);
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const Finding& other) {
      return other.depth != first->depth || other.kind() != first->kind() ||
             other.words.title != first->words.title;
    });
    std::string text = fmt::format("{}: {}", first->kind(), first->words.title);
    if (last - first > 1) text += fmt::format(" ({} such findings)", last - first);
    texts.push_back({.depth = first->depth - finding.depth - 1, .text = std::move(text)});
    first = last;
  }
  return texts;
}

// Returns the cost of a finding without its consequences.
static std::string OwnCostText(const Report& report, const Finding& finding) {
  const Summary& summary = report.summary;
  if (!finding.cost_ns) return IsAboutCapture(finding) ? "" : finding.words.cost_note;
  std::string out = DurationText(*finding.cost_ns);
  // Only time inside the window may be divided by the window.
  if (IsFromTimeline(finding) || WindowIsWholeRun(summary)) {
    // The number of steps in which the finding was counted, for example of the steady steps.
    const bool is_counted = finding.count && finding.per_step.value_or(0) > 0;
    const double steps = is_counted ? double(*finding.count) / *finding.per_step
                                    : double(summary.timed_steps.value_or(0));
    double a_step_ns = steps > 1 && !IsPaidOnce(finding) ? double(*finding.cost_ns) / steps : 0;
    // A cost that is longer than a step does not lie in these steps alone.
    if (!is_counted && a_step_ns > double(summary.step_p50_ns.value_or(INT64_MAX))) a_step_ns = 0;
    if (a_step_ns > 0) out += fmt::format(", {} a step", DurationText(Whole(a_step_ns)));
    if (summary.unit && !IsPaidOnce(finding)) {
      out += fmt::format(", {} per execution of `{}`",
                         DurationText(*finding.cost_ns / summary.unit->executions),
                         summary.unit->name);
    }
    const bool has_share = finding.words.tells_share;
    if (!has_share && a_step_ns > 0 && a_step_ns < double(summary.step_p50_ns.value_or(0))) {
      out += fmt::format(", {} of a steady step",
                         PercentText(a_step_ns / double(*summary.step_p50_ns)));
    } else if (!has_share && summary.wall_ns.value_or(0) >= *finding.cost_ns &&
               *finding.cost_ns > 0) {
      out += fmt::format(", {} of the window",
                         PercentText(double(*finding.cost_ns) / double(*summary.wall_ns)));
    }
  }
  if (!finding.words.cost_note.empty()) out += fmt::format(": {}", finding.words.cost_note);
  return out;
}

std::string CostText(const Report& report, const Finding& finding) {
  std::string text = OwnCostText(report, finding);
  if (!finding.total_cost_ns || *finding.total_cost_ns <= finding.cost_ns.value_or(0)) return text;
  return fmt::format("{} including its consequences{}{}", DurationText(*finding.total_cost_ns),
                     text.empty() ? "" : "; without them: ", text);
}

std::string SavingText(const Finding& finding) {
  std::string text;
  if (finding.consequent_saving_ns > 0)
    text = fmt::format("about {} including its consequences",
                       DurationText(*finding.total_saving_ns()));
  if (!finding.saving_ns) return text;
  return fmt::format("{}about {}{}{}", text.empty() ? "" : text + "; without them: ",
                     DurationText(*finding.saving_ns),
                     finding.words.saving_note.empty() ? "" : ": ", finding.words.saving_note);
}

std::string EvidenceText(const Report& report, const Evidence& evidence) {
  std::string out = evidence.text;
  auto add = [&](std::string text) { out += (out.empty() ? "" : "; ") + text; };
  if (!evidence.rows.empty()) {
    std::string rows = fmt::format("{} {}", evidence.table, evidence.rows.front());
    for (size_t i = 1; i < std::min<size_t>(evidence.rows.size(), 5); ++i)
      rows += fmt::format(", {}", evidence.rows[i]);
    if (evidence.rows.size() > 5)
      rows += fmt::format(" and {} more", CountText(int64_t(evidence.rows.size()) - 5));
    add(rows);
  }
  if (evidence.ts_ns) {
    add(fmt::format("at {}", Relative(report, *evidence.ts_ns)));
    if (evidence.dur_ns) out += fmt::format(" for {}", DurationText(*evidence.dur_ns));
  }
  return out;
}

bool HoldsImported(const Report& report, const SourceRow& source) {
  return std::ranges::any_of(report.sources, [&](const SourceRow& other) {
    return other.imported && other.path.starts_with(source.path + "!");
  });
}

std::string IssueText(const ReportIssue& issue, const SourceNames& names) {
  std::string where = names.Short(issue.path);
  if (issue.line) {
    where += fmt::format(":{}", *issue.line);
  } else if (issue.offset) {
    where += fmt::format(", byte {}{}", CountText(*issue.offset),
                         issue.is_packed ? " of its decompressed content" : "");
  }
  return fmt::format("{}{}{}{}: {}", where, where.empty() ? "" : ": ", issue.code,
                     issue.count > 1 ? ", " + TimesText(issue.count) : "", issue.advice);
}

std::string WindowText(const Report& report, int64_t from_ns, int64_t to_ns) {
  return fmt::format("from {} to {}", Relative(report, from_ns), Relative(report, to_ns));
}

bool IsAboutCapture(const Finding& finding) { return finding.analyzer->is_about_capture; }

const SettingRow* SettingOf(const Report& report, const Finding& finding) {
  if (!IsAboutCapture(finding) || !finding.reason || !finding.reason->node) return nullptr;
  for (const SettingRow& setting : report.settings) {
    if (TextOf(setting.name) == *finding.reason->node) return &setting;
  }
  return nullptr;
}

}  // namespace xlaprof

#include "profiler/import/log/metrics_rows.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/metric_names.h"
#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch_xla/report_lines.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// Returns whether analyzers or the joiner compare a metric or counter from report to report. `name`
// is today's name.
bool Followed(std::string_view name) {
  static const absl::flat_hash_set<std::string_view> kFollowed = {
      metric_names::kCompileTime,
      metric_names::kEagerOpCompileTime,
      metric_names::kExecuteTime,
      metric_names::kExecuteReplicatedTime,
      metric_names::kEagerOpExecuteTime,
      metric_names::kLazyTracing,
      metric_names::kTransferFromDeviceTime,
      metric_names::kTransferToDeviceTime,
      metric_names::kIrValueTensorToXlaData,
      metric_names::kInboundData,
      metric_names::kOutboundData,
      "TensorsGraphSize",
      metric_names::kCachedCompile,
      metric_names::kUncachedCompile,
      "ExecuteComputation",
      "ExecuteReplicated",
      metric_names::kCreateCompileHandles,
      metric_names::kMarkStep,
      "DynamoSyncInputExecuteTime",
      "PersistentCacheHit",
      "PersistentCacheMiss"};
  return kFollowed.contains(name) || name.starts_with("aten::");
}

// Returns whether a counter counts an op that ran on the CPU. Its name is an operator's name with
// its namespace, except xla::, which marks a lowering.
bool IsFallback(std::string_view name) {
  size_t colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0 || colons + 2 == name.size()) return false;
  std::string_view space = name.substr(0, colons);
  return space != "xla" && std::all_of(space.begin(), space.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Returns today's name of a metric or counter that was renamed.
std::string_view TodaysName(std::string_view name) {
  static const absl::flat_hash_map<std::string_view, std::string_view> kRenamed = {
      {metric_names::kTransferToServerTime, metric_names::kTransferToDeviceTime},
      {metric_names::kTransferFromServerTime, metric_names::kTransferFromDeviceTime},
      {"TransferToServerTransformTime", "TransferToDeviceTransformTime"},
      {"SyncTensorsGraphSize", "TensorsGraphSize"},
      {"CachedSyncTensors", metric_names::kCachedCompile},
      {"UncachedSyncTensors", metric_names::kUncachedCompile}};
  auto renamed = kRenamed.find(name);
  return renamed == kRenamed.end() ? name : renamed->second;
}

// Returns the client's name of a metric of the XRT server. The server counted the same things for
// all its clients since it was started. If only its part of a report was pasted, it takes the place
// of the client's metrics. Next to a client's own metrics it is a separate count and keeps its own
// names.
std::string_view ClientsName(std::string_view name) {
  static const absl::flat_hash_map<std::string_view, std::string_view> kOfServer = {
      {"XrtCompile", metric_names::kCompileTime},
      {"XrtExecute", metric_names::kExecuteTime},
      {"XrtReadLiteral", metric_names::kTransferFromDeviceTime},
      {"XrtAllocateFromTensor", metric_names::kTransferToDeviceTime}};
  auto renamed = kOfServer.find(name);
  return renamed == kOfServer.end() ? name : renamed->second;
}

bool IsOfServerAlone(const MetricsText& report) {
  return std::none_of(report.entries.begin(), report.entries.end(), [](const MetricEntry& entry) {
    std::string_view name = TodaysName(entry.name);
    return name == metric_names::kMarkStep || name == metric_names::kCachedCompile ||
           name == metric_names::kUncachedCompile ||
           (!entry.is_counter && !entry.name.starts_with("Xrt") && Followed(name));
  });
}

// Returns whether a new run begins with report `now`. It does if the number of saves falls: that
// number survives a clear of the counters, and rises in each thread that saves (then MarkStep,
// which the threads share, rises too). For reports without that number, a run begins where MarkStep
// falls. Without MarkStep, it begins where counters fall and none rises, while some metric's
// samples fall too, because clearing counters leaves metrics unchanged. If neither report has
// counters (an XRT server's), metrics fall and none rises.
bool IsRestart(const MetricsText& before, const MetricsText& now) {
  OptInt mark_before = before.Counter(metric_names::kMarkStep),
         mark = now.Counter(metric_names::kMarkStep);
  if (before.save_number && now.save_number) {
    return *now.save_number < *before.save_number && !(mark && mark_before && *mark > *mark_before);
  }
  bool marks = mark && mark_before;
  if (marks && *mark >= *mark_before) return false;
  absl::flat_hash_map<std::string_view, int64_t> counters, samples;
  for (const MetricEntry& entry : before.entries) {
    (entry.is_counter ? counters : samples)[entry.name] =
        entry.is_counter ? *entry.value : *entry.samples;
  }
  bool rises = false, falls = false, samples_rise = false, samples_fall = false;
  for (const MetricEntry& entry : now.entries) {
    const auto& old = entry.is_counter ? counters : samples;
    auto found = old.find(entry.name);
    if (found == old.end()) continue;
    int64_t value = entry.is_counter ? *entry.value : *entry.samples;
    // DestroyXlaTensor and the like only grow; no count of torch_xla shrinks by itself.
    rises |= value > found->second;
    samples_rise |= !entry.is_counter && value > found->second;
    (entry.is_counter ? falls : samples_fall) |= value < found->second;
  }
  auto is_counter = [](const MetricEntry& entry) { return entry.is_counter; };
  const bool no_counters =
      counters.empty() && std::ranges::none_of(now.entries, is_counter) && !samples_rise;
  return samples_fall && (marks || (falls && !rises) || no_counters);
}

// Returns whether `now` continues `before`. It does not if a metric of a process has fewer samples,
// or another sum of the same number of samples. Then the metrics were cleared in between, or
// another process wrote this report. The last entry of a torn report may have lost digits.
bool GoesOn(const MetricsText& before, const MetricsText& now) {
  auto is_cut = [](const MetricsText& report, const MetricEntry& entry) {
    return report.torn && &entry == &report.entries.back();
  };
  // Most reports have the same entries at the same places.
  absl::flat_hash_map<std::string_view, const MetricEntry*> moved;
  auto find_old = [&](const MetricEntry& entry) -> const MetricEntry* {
    const size_t place = size_t(&entry - now.entries.data());
    if (place < before.entries.size() && before.entries[place].name == entry.name)
      return &before.entries[place];
    if (moved.empty())
      for (const MetricEntry& old : before.entries)
        if (!old.is_counter) moved.try_emplace(old.name, &old);
    const auto found = moved.find(entry.name);
    return found == moved.end() ? nullptr : found->second;
  };
  return std::ranges::none_of(now.entries, [&](const MetricEntry& entry) {
    if (entry.is_counter || is_cut(now, entry)) return false;
    const MetricEntry* old = find_old(entry);
    if (old == nullptr || old->is_counter || is_cut(before, *old)) return false;
    const bool sums = !entry.accumulator.empty() && !old->accumulator.empty();
    return *entry.samples < *old->samples ||
           (*entry.samples == *old->samples && sums && entry.accumulator != old->accumulator);
  });
}

// Returns whether the counters were cleared between two reports. A file of saves belongs to one
// process, in which no counter falls by itself. Other reports may be of several processes, each of
// which counts a little more or less, so there all common counters must fall.
bool CountersCleared(const MetricsText& before, const MetricsText& now) {
  const bool one_process = before.save_number && now.save_number;
  absl::flat_hash_map<std::string_view, int64_t> counters;
  for (const MetricEntry& entry : before.entries)
    if (entry.is_counter) counters.try_emplace(entry.name, *entry.value);
  absl::flat_hash_set<std::string_view> seen;
  bool any = false, all = true;
  for (const MetricEntry& entry : now.entries) {
    const auto found = entry.is_counter ? counters.find(entry.name) : counters.end();
    if (found == counters.end() || !seen.insert(entry.name).second) continue;
    const bool falls = *entry.value < found->second;
    any |= falls && (IsFallback(entry.name) || !one_process);
    all &= falls;
  }
  if (!one_process) return any && all;
  return any || (!now.torn && std::ranges::any_of(counters, [&](const auto& counter) {
           return IsFallback(counter.first) && !seen.contains(counter.first);
         }));
}

}  // namespace

absl::Status MetricsWriter::Take(MetricsText report) {
  if (runs_ != nullptr && reports_ > 0 && IsRestart(previous_, report)) {
    XP_TRY(EndRun());
    // The lines between the two reports belong to the run of the second one.
    runs_->Begin(previous_.line + 1);
    run_ = runs_->last();
  }
  // Readers want one whole report, the last one. If it was cut, the report before it is written
  // whole, too.
  if (reports_ > 0) XP_TRY(Write(previous_, reports_ == 1 || report.torn, report.torn));
  const bool is_apart = reports_ > 0 && !GoesOn(previous_, report);
  if (is_apart) {
    XP_TRY(context_.Issue(
        issue_codes::kSeparateReports, Severity::kWarning,
        "Reports do not continue the one before them: the metrics were cleared in between (met.clear_all()), or another process or run wrote them. Each of these reports counts separately, and totals are those of the last one.",
        report.offset, report.line));
  }
  CountFallbacks(report);
  ++reports_;
  previous_ = std::move(report);
  previous_is_apart_ = is_apart;
  return absl::OkStatus();
}

absl::Status MetricsWriter::EndRun() {
  if (reports_ == 0) return absl::OkStatus();
  XP_TRY(Write(previous_, true, true));
  XP_TRY(const LogProcesses::Process* process, processes_.Nearest(run_, origin_));
  std::vector<std::string> ops;
  for (const auto& [op, total] : fallbacks_) ops.push_back(op);
  std::sort(ops.begin(), ops.end());
  for (const std::string& op : ops) {
    const Total& total = fallbacks_[op];
    if (total.before_clear + total.value <= 0) continue;
    XP_TRY(context_.Add(
        FallbackRow{.process_id = process->id, .op = op, .count = total.before_clear + total.value},
        total.offset, total.line));
  }
  reports_ = written_ = 0;
  previous_is_apart_ = false;
  last_text_.clear();
  fallbacks_.clear();
  return absl::OkStatus();
}

void MetricsWriter::CountFallbacks(const MetricsText& report) {
  absl::flat_hash_map<std::string_view, const MetricEntry*> now;
  for (const MetricEntry& entry : report.entries)
    if (entry.is_counter && IsFallback(entry.name)) now.try_emplace(entry.name, &entry);
  const bool none_falls = std::ranges::all_of(fallbacks_, [&](const auto& fallback) {
    const auto found = now.find(fallback.first);
    return found != now.end() && *found->second->value >= fallback.second.value;
  });
  if (!none_falls && CountersCleared(previous_, report)) {
    for (auto& [op, total] : fallbacks_) total.before_clear += std::exchange(total.value, 0);
  }
  for (const auto& [op, entry] : now) {
    Total& total = fallbacks_[std::string(op)];
    if (*entry->value < total.value) continue;  // it is of a process that counted less
    total = {total.before_clear, *entry->value, entry->offset, entry->line};
  }
}

absl::Status MetricsWriter::Write(const MetricsText& report, bool whole, bool last) {
  // Reports of a run that get all entries that changed; later ones get only followed entries.
  constexpr int kDetailed = 200;
  XP_TRY(const LogProcesses::Process* process, processes_.Nearest(run_, origin_));
  XP_TRY(int64_t report_id,
         context_.Add(MetricsReportRow{.source_id = context_.source_id,
                                       .process_id = process->id,
                                       .ordinal = written_,
                                       .save_number = report.save_number,
                                       .mark_step = report.Counter(metric_names::kMarkStep)},
                      report.offset, report.line));
  bool detailed = whole || written_ < kDetailed;
  ++written_;
  if (previous_is_apart_)
    last_text_.clear();  // an entry that equals the report before is still
                         // its own
  const bool server_alone = IsOfServerAlone(report);
  bool shows_server = false;
  absl::flat_hash_set<std::string_view> seen;
  for (const MetricEntry& entry : report.entries) {
    if (!entry.is_counter && *entry.samples == 0)
      continue;  // XRT servers print unused metrics, with nan for values
    std::string_view name = TodaysName(entry.name);
    if (server_alone && !entry.is_counter) {
      const std::string_view printed = std::exchange(name, ClientsName(name));
      shows_server |= printed != name;
    }
    if (!detailed && !Followed(name)) continue;
    if (entry.is_counter && !seen.insert(name).second)
      continue;  // the short report names some twice
    std::string& before = last_text_[name];
    std::string now = entry.is_counter ? fmt::to_string(*entry.value)
                                       : fmt::format("{} {}", *entry.samples, entry.accumulator);
    if (!whole && before == now) continue;
    before = std::move(now);
    XP_TRY(entry.is_counter
               ? internal::ToStatus(context_.store.Add(CounterRow{
                     .report_id = report_id, .name = ToUtf8(name), .value = *entry.value}))
               : WriteMetric(report_id, name, entry, last));
  }
  if (shows_server) {
    XP_TRY(context_.Issue(
        "server_report", Severity::kInfo,
        "The report has only the part of the XRT server: XrtCompile, XrtExecute and similar metrics count all clients since the server was started.",
        report.offset, report.line));
  }
  if (report.torn) {
    XP_TRY(context_.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        "A report is incomplete: it was cut when it was copied, or its run was killed or still runs. Its complete entries are kept.",
        report.offset, report.line));
  }
  return absl::OkStatus();
}

absl::Status MetricsWriter::WriteMetric(int64_t report_id, std::string_view name,
                                        const MetricEntry& entry, bool percentiles) {
  // The entry's samples count even if this fails. "47m60s8" is a paste that ends inside the number.
  std::optional<MetricNumber> accumulator = ParseMetricNumber(entry.accumulator);
  if (!accumulator && !entry.accumulator.empty()) {
    XP_TRY(context_.Issue(
        "unreadable_number", Severity::kWarning,
        "A metric's Accumulator is not a number with a known unit, or is more than 36 years. Its number of values is kept.",
        entry.offset, entry.line));
  }
  auto number = [](std::string_view text) -> OptReal {
    std::optional<MetricNumber> value = ParseMetricNumber(text);
    return value ? OptReal(value->value) : std::nullopt;
  };
  XP_TRY(int64_t id, context_.store.Add(MetricRow{
                         .report_id = report_id,
                         .name = ToUtf8(name),
                         .unit = accumulator ? std::optional(accumulator->unit) : std::nullopt,
                         .samples = entry.samples,
                         .accumulator = accumulator ? OptReal(accumulator->value) : OptReal(),
                         .value_rate = number(entry.value_rate),
                         .rate = number(entry.rate),
                         .text = ToUtf8(entry.accumulator)}));
  if (!percentiles) return absl::OkStatus();
  absl::flat_hash_set<double> seen;
  for (std::string_view rest = entry.percentiles; !rest.empty();) {
    size_t end = std::min(rest.find(';'), rest.size());
    std::string_view item = Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    size_t equals = item.find("%=");
    if (equals == std::string_view::npos) continue;
    const OptReal p = ParseReal(item.substr(0, equals));
    if (!p || *p < 0 || *p > 100) continue;
    OptReal value = number(item.substr(equals + 2));
    if (!value || !seen.insert(*p).second) continue;
    XP_TRY(context_.store.Add(MetricPercentileRow{.metric_id = id, .p = *p, .value = *value}));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof

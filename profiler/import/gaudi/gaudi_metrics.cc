// Reads the metrics of PyTorch on Gaudi: PT_HPU_METRICS_FILE=metrics.json, as JSON or as text
// (PT_HPU_METRICS_FILE_FORMAT=text).
//
// A file belongs to one process. It is a list of dumps, each of one metric. At the end of the
// process all metrics are dumped; with metric_change among PT_HPU_METRICS_DUMP_TRIGGERS, releases
// that have this trigger also dump a metric each time that it changes. TotalTime of
// graph_compilation is in microseconds, times of memory_defragmentation are in milliseconds.
// recipe_cache is there with PT_HPU_ENABLE_CACHE_METRICS=1. The format is taken from Gaudi's
// published bridge and its documentation; no file from a device was at hand.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/metric_names.h"
#include "base/numbers.h"
#include "profiler/import/gaudi/gaudi_dumps.h"
#include "profiler/import/importer.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// A series of dumps becomes reports at this many equal times, so that the order of the reports is
// that of time. It is known at each time, because each change was dumped.
constexpr int64_t kWindows = 20;
// Memory that was compacted less often is no pattern.
constexpr int64_t kDefragmentations = 3;
constexpr double kNsPerUs = 1000;

int SniffGaudi(std::string_view head) {
  return IsGaudiJson(head) ? 96 : IsGaudiText(head) ? 90 : 0;
}

// Returns the rank in "metrics-rank3.json": Gaudi puts it before the last suffix.
OptInt RankOf(std::string_view path) {
  constexpr std::string_view kRank = "-rank";
  const size_t name = path.rfind('/') + 1;
  const size_t at = path.rfind(kRank);
  if (at == std::string_view::npos || at < name) return {};
  std::string_view rest = path.substr(at + kRank.size());
  const std::optional<int64_t> rank = TakeInteger(&rest);
  return rank && *rank >= 0 && (rest.empty() || rest.starts_with('.')) ? OptInt(*rank) : OptInt();
}

// All metrics as they were at one time.
struct GaudiState {
  OptInt at_ns;
  OptInt compiles, compile_us, hits, misses, defragmentations, defragmented, longest_ms;
  std::map<std::string, int64_t> ops;  // calls on the CPU
  GaudiTrigger trigger = GaudiTrigger::kOther;
  int64_t offset = 0, line = 0;

  void Take(const GaudiDump& dump) {
    auto set = [&](OptInt& value, const char* name) {
      if (const OptInt count = dump.Count(name)) value = count;
    };
    if (dump.metric == "graph_compilation") {
      set(compiles, "TotalNumber");
      set(compile_us, "TotalTime");
    } else if (dump.metric == "recipe_cache") {
      set(hits, "TotalHit");
      set(misses, "TotalMiss");
    } else if (dump.metric == "memory_defragmentation") {
      set(defragmentations, "TotalNumber");
      set(defragmented, "TotalSuccessful");
      set(longest_ms, "MaxTime");
    } else if (dump.metric == "cpu_fallback") {
      for (const auto& [op, calls] : dump.ops) ops[op] = calls;
    }
    at_ns = dump.at_ns;
    trigger = dump.trigger;
    offset = dump.offset;
    line = dump.line;
  }
};

class GaudiReading {
 public:
  GaudiReading(const Input& input, ImportContext& context) : input_(input), context_(context) {}

  absl::Status Run() {
    XP_TRY(const GaudiFileEnd end, EachGaudiDump(input_.bytes, [&](GaudiDump dump) {
             Take(dump);
             return absl::OkStatus();
           }));
    if (moments_.empty()) {
      return Invalid("{}: no dump of Gaudi's metrics was found. Try --as with another format",
                     input_.path);
    }
    XP_TRY(process_id_, context_.NewProcess({}, {}, RankOf(input_.path)));
    XP_TRY(WriteReports());
    XP_TRY(WriteFallbacks());
    XP_TRY(WriteIssues(end));
    return absl::OkStatus();
  }

 private:
  // Takes a dump. Metrics that were dumped together are one moment.
  void Take(const GaudiDump& dump) {
    const bool is_change = dump.trigger == GaudiTrigger::kMetricChange;
    const bool is_together = !is_change && !moments_.empty() &&
                             moments_.back().trigger == dump.trigger &&
                             !together_.contains(dump.metric);
    if (!is_together) {
      together_.clear();
      if (moments_.empty()) {
        moments_.emplace_back();
      } else {
        // Calls of ops are kept once, because each moment would hold all of them again.
        auto ops = std::move(moments_.back().ops);
        GaudiState next = moments_.back();
        next.ops = std::move(ops);
        moments_.push_back(std::move(next));
      }
    }
    together_.insert(dump.metric);
    GaudiState& state = moments_.back();
    const OptInt before = state.compiles;
    state.Take(dump);
    if (before && state.compiles && *state.compiles < *before) ++resets_;
    has_changes_ |= is_change;
  }

  // Returns the moments that become reports: all of them, or those at equal times of a series.
  std::vector<const GaudiState*> Reported() const {
    std::vector<const GaudiState*> all;
    for (const GaudiState& moment : moments_) all.push_back(&moment);
    if (!has_changes_) return all;
    const OptInt first_ns = moments_.front().at_ns, last_ns = moments_.back().at_ns;
    const bool is_timed =
        std::ranges::all_of(moments_,
                            [](const GaudiState& moment) { return moment.at_ns.has_value(); }) &&
        std::ranges::is_sorted(moments_, {}, [](const GaudiState& m) { return *m.at_ns; }) &&
        *last_ns > *first_ns;
    // Without a dump at the end, nobody knows how long the process ran after its last change.
    if (!is_timed || moments_.back().trigger == GaudiTrigger::kMetricChange) return {all.back()};
    std::vector<const GaudiState*> reported;
    size_t next = 0;
    for (int64_t window = 1; window <= kWindows; ++window) {
      const int64_t until_ns = *last_ns - (*last_ns - *first_ns) / kWindows * (kWindows - window);
      while (next < moments_.size() && *moments_[next].at_ns <= until_ns) ++next;
      reported.push_back(&moments_[std::max<size_t>(next, 1) - 1]);
    }
    reported.back() = all.back();
    return reported;
  }

  absl::Status WriteReports() {
    int64_t ordinal = 0;
    const std::vector<const GaudiState*> reported = Reported();
    for (const GaudiState* state : reported) {
      XP_TRY(int64_t report_id, context_.Add(MetricsReportRow{.source_id = context_.source_id,
                                                              .process_id = process_id_,
                                                              .ordinal = ordinal++},
                                             state->offset, state->line));
      XP_TRY(WriteCompiles(report_id, *state));
      auto count = [&](const char* name, OptInt value) -> absl::Status {
        if (!value) return absl::OkStatus();
        return internal::ToStatus(
            context_.store.Add(CounterRow{.report_id = report_id, .name = name, .value = *value}));
      };
      // A hit is an execution of a graph that was not compiled, as torch_xla counts it.
      XP_TRY(count(metric_names::kCachedCompile, state->hits));
      XP_TRY(count("RecipeCacheMiss", state->misses));
      XP_TRY(count("MemoryDefragmentation", state->defragmentations));
      if (state != reported.back()) continue;
      for (const auto& [op, calls] : state->ops) XP_TRY(count(op.c_str(), calls));
    }
    return absl::OkStatus();
  }

  absl::Status WriteCompiles(int64_t report_id, const GaudiState& state) {
    if (state.compiles.value_or(0) == 0) return absl::OkStatus();
    MetricRow metric{
        .report_id = report_id, .name = metric_names::kCompileTime, .samples = state.compiles};
    if (state.compile_us) {
      metric.unit = MetricUnit::kNs;
      metric.accumulator = double(*state.compile_us) * kNsPerUs;
      metric.text = fmt::format("{} us", *state.compile_us);
    }
    return context_.Add(metric, state.offset, state.line).status();
  }

  absl::Status WriteFallbacks() {
    const GaudiState& last = moments_.back();
    for (const auto& [op, calls] : last.ops) {
      if (calls <= 0) continue;
      XP_TRY(context_.Add(FallbackRow{.process_id = process_id_, .op = op, .count = calls},
                          last.offset, last.line));
    }
    return absl::OkStatus();
  }

  absl::Status WriteIssues(const GaudiFileEnd& end) {
    const GaudiState& last = moments_.back();
    if (end.cut) {
      XP_TRY(context_.Issue(
          issue_codes::kCutFile, Severity::kWarning,
          "The file ends inside a dump: its process was killed or still runs, or the file was cut when it was copied. The complete dumps were read.",
          int64_t(input_.bytes.size())));
    }
    if (!end.cut && has_changes_ && last.trigger == GaudiTrigger::kMetricChange) {
      XP_TRY(context_.Issue(
          "no_end", Severity::kInfo,
          "The process did not write its last dump: it was killed or still runs. How long it ran after the last change is not known, so neither is whether it stopped compiling.",
          last.offset, last.line));
    }
    if (end.not_a_dump > 0) {
      XP_TRY(context_.Issue("not_a_dump", Severity::kWarning,
                            "Parts of the file are no dumps of a metric. They were left out.",
                            end.first_odd, {}, end.not_a_dump));
    }
    if (resets_ > 0) {
      XP_TRY(context_.Issue(
          issue_codes::kSeparateReports, Severity::kWarning,
          "Dumps do not continue the one before them: the program reset the metric in between (metric.reset()). Totals are those of the last dump.",
          last.offset, last.line, resets_));
    }
    if (last.defragmentations.value_or(0) >= kDefragmentations) {
      XP_TRY(context_.Issue(
          "memory_defragmentation", Severity::kInfo,
          fmt::format(
              "The device's memory was compacted {} times ({} with success, at most {} ms each), because no free piece was large enough. Use less memory at a time, for example a smaller batch, or sizes that repeat.",
              *last.defragmentations, last.defragmented.value_or(0), last.longest_ms.value_or(0)),
          last.offset, last.line, *last.defragmentations));
    }
    return absl::OkStatus();
  }

  const Input& input_;
  ImportContext& context_;
  std::vector<GaudiState> moments_;  // only the last one has the calls of ops
  std::set<std::string> together_;   // metrics of the last moment
  bool has_changes_ = false;
  int64_t resets_ = 0, process_id_ = 0;
};

absl::Status ReadGaudi(const Input& input, ImportContext& context) {
  return GaudiReading(input, context).Run();
}

}  // namespace

extern const Importer gaudi_metrics{
    .name = "gaudi_metrics",
    .summary = "metrics of PyTorch on Gaudi: compilations, recipe cache, ops on the CPU, memory",
    .example = "metrics-rank0.json",
    .sniff = SniffGaudi,
    .read = ReadGaudi,
    .framework = Framework::kGaudi,
    .kind = SourceKind::kReports};

}  // namespace xlaprof

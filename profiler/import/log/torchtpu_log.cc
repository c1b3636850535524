// Reads what TorchTPU's cache of compiled programs prints. With TF_CPP_VMODULE=compilation_cache=2
// there are lines such as these among much else (each is one line, folded here):
//
//   I0000 00:00:1795563250.763680   13018 compilation_cache.cc:671] [TtPerf] Compilation cache
//       MISS #1 for key: CompilationCacheKey{shapeless_key=a667, dimensions_key=c540,
//       compile_options_key=e610, id_key=}
//   ... compilation_cache.cc:998] [TtPerf] Scheduled compilation for key: CompilationCacheKey{...}
//   ... compilation_cache.cc:1091] Compile duration for key CompilationCacheKey{...}: 197 ms
//   ... compilation_cache.cc:464] Compilation cache STATIC HIT for key: CompilationCacheKey{...}
//
// and one for each program at exit:
//
//   ... compilation_cache.cc:285] CompilationCacheKey{...}{compilation_duration=166.438416ms, ...}
//
// Without that variable there are only totals at exit, on lines of their own:
//
//   ... compilation_cache.cc:203] CompilationCache final stats: num_cache_reqs=90
//   num_cache_hits=84 {93.3%}
//   num_compilations=6
//
// With level 1 the lines MISS and HIT are missing, so executions are not known. Each lookup is one
// execution. The key identifies the program: programs with an equal shapeless_key differ only in
// sizes, or in options of the compiler. Compilations end in another order than they are asked for.
#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/metric_names.h"
#include "base/numbers.h"
#include "profiler/import/log/dialect.h"
#include "profiler/import/text/rounds.h"

namespace xlaprof {
namespace {

constexpr std::string_view kKey = "CompilationCacheKey{";
constexpr std::string_view kTotals = "CompilationCache final stats: num_cache_reqs=";
constexpr std::string_view kTorchtpuMarks[] = {kKey, kTotals};
constexpr std::string_view kMiss = "Compilation cache MISS #";
constexpr std::string_view kHits[] = {"Compilation cache STATIC HIT for key",
                                      "Compilation cache DYNAMIC HIT for key",
                                      "Compilation cache UNBOUNDED DYNAMIC HIT for key"};
constexpr std::string_view kScheduled = "Scheduled compilation for key";
constexpr std::string_view kDuration = "Compile duration for key ";
constexpr std::string_view kAtExit = "{compilation_duration=";

int SniffTorchtpuLog(std::string_view window) {
  const size_t at = window.find(kKey);
  const bool has_key = at != kNone && window.find("shapeless_key=", at) != kNone;
  return has_key ? 94 : window.find(kTotals) != kNone ? 85 : 0;
}

// Returns the count that begins at a place of a line, if it is one.
OptInt CountAt(std::string_view line, size_t at) {
  std::string_view rest = line.substr(at);
  const OptInt count = TakeInteger(&rest);
  return count && *count >= 0 ? count : OptInt();
}

// The parts of a key, as hexadecimal numbers.
struct CacheKey {
  std::string shapeless, dimensions, rest;
  std::string text() const { return shapeless + dimensions + rest; }
};

// Returns the number with all of its 16 digits.
std::string Padded(std::string_view digits) {
  constexpr size_t kDigits = 16;
  const std::string zeros(digits.size() < kDigits ? kDigits - digits.size() : 0, '0');
  return zeros + std::string(digits);
}

// Reads the first key of a line. Returns nothing if it is cut.
std::optional<CacheKey> KeyIn(std::string_view line) {
  const size_t begin = line.find(kKey);
  const size_t end = line.find('}', begin == kNone ? line.size() : begin);
  if (begin == kNone || end == kNone) return {};
  std::string_view rest = line.substr(begin + kKey.size(), end - begin - kKey.size());
  CacheKey key;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view field = Trim(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    const size_t sign = std::min(field.find('='), field.size());
    const std::string_view name = field.substr(0, sign),
                           value = field.substr(std::min(field.size(), sign + 1));
    if (value.find_first_not_of("0123456789abcdef") != kNone) return {};
    if (name == "shapeless_key") {
      key.shapeless = Padded(value);
    } else if (name == "dimensions_key") {
      key.dimensions = Padded(value);
    } else if (!value.empty()) {
      key.rest += Padded(value);
    }
  }
  if (key.shapeless.empty() || key.dimensions.empty()) return {};
  return key;
}

// Returns the time in a line's prefix, "I0000 00:00:1795563250.763680", since 1970. Once the logger is
// set up, it prints the local time without a year instead, which does not count.
OptInt EpochNsOf(std::string_view line) {
  constexpr std::string_view kUnset = "0000 00:00:";
  const size_t at = line.substr(0, line.find(kKey)).find(kUnset);
  if (at == kNone) return {};
  std::string_view rest = line.substr(at + kUnset.size());
  const OptInt seconds = TakeInteger(&rest);
  constexpr int64_t kMostSeconds = INT64_MAX / 2'000'000'000;
  if (!seconds || *seconds < 0 || *seconds > kMostSeconds || !rest.starts_with('.')) return {};
  rest.remove_prefix(1);
  const OptInt micros = ParseCount(rest.substr(0, 6));
  if (!micros) return {};
  return (*seconds * 1'000'000 + *micros) * 1000;
}

OptInt NsOfDuration(std::string_view text) {
  absl::Duration duration;
  if (!absl::ParseDuration({text.data(), text.size()}, &duration) ||
      duration < absl::ZeroDuration())
    return {};
  const int64_t ns = absl::ToInt64Nanoseconds(duration);
  return ns == INT64_MAX ? OptInt() : OptInt(ns);
}

// A lookup, or with level 1 a compilation.
struct Lookup {
  bool is_compile = false, is_execution = false;
  size_t program = 0;             // in `programs`
  int origin = 0;                 // in `origins`
  OptInt epoch_ns;                // of the lookup
  OptInt dur_ns, begin_epoch_ns;  // of the compilation
  int64_t offset = 0, line = 0;
};

// What a process counted until its exit.
struct Totals {
  int origin = 0;
  OptInt lookups, hits, compilations;  // each lookup is one execution
  int64_t offset = 0, line = 0;
};

class TorchtpuLogReader : public DialectReader {
 public:
  explicit TorchtpuLogReader(LogReading& reading) : reading_(reading) {}

  void Take() override {
    const std::string_view line = reading_.texts.text();
    if (line.find(kKey) == kNone) return TakeTotals(line);
    const bool is_miss = line.find(kMiss) != kNone;
    const bool is_hit =
        std::ranges::any_of(kHits, [&](std::string_view hit) { return line.find(hit) != kNone; });
    const bool is_scheduled = line.find(kScheduled) != kNone;
    const size_t exit = line.find(kAtExit), duration = line.find(kDuration);
    if (!is_miss && !is_hit && !is_scheduled && exit == kNone && duration == kNone) return;
    const std::optional<CacheKey> key = KeyIn(line);
    if (!key) {
      ++cut_keys_;
      return;
    }
    const size_t program = ProgramOf(*key);
    if (is_miss || is_hit) {
      has_lookups_ = true;
      Add(line, program, /*is_compile=*/is_miss, /*is_execution=*/true);
    } else if (is_scheduled) {
      Add(line, program, /*is_compile=*/true, /*is_execution=*/false);
    } else if (duration != kNone) {
      TakeDuration(line, program);
    } else {
      const std::string_view text = line.substr(exit + kAtExit.size());
      at_exit_[program] = NsOfDuration(text.substr(0, text.find_first_of(",}")));
    }
  }

  void End() override {
    if (!lookups_.empty()) totals_.clear();
    std::erase_if(totals_, [](const Totals& totals) {
      return !totals.lookups || !totals.hits || !totals.compilations;
    });
    // Each compilation that a MISS asked for is scheduled later.
    if (has_lookups_)
      std::erase_if(lookups_, [](const Lookup& lookup) { return !lookup.is_execution; });
    std::map<size_t, std::vector<Lookup*>> compiles;
    for (Lookup& lookup : lookups_) {
      if (lookup.is_compile) compiles[lookup.program].push_back(&lookup);
    }
    for (auto& [program, of_program] : compiles) {
      const auto durations = durations_.find(program);
      if (durations != durations_.end()) {
        const size_t count = std::min(of_program.size(), durations->second.size());
        for (size_t i = 0; i < count; ++i)
          std::tie(of_program[i]->dur_ns, of_program[i]->begin_epoch_ns) = durations->second[i];
      }
      // The statistics are finer than whole milliseconds, but hold only the last compilation.
      const auto exact = at_exit_.find(program);
      if (exact != at_exit_.end() && exact->second && of_program.size() == 1)
        of_program.front()->dur_ns = exact->second;
    }
  }

  bool Found() const override { return !lookups_.empty() || !totals_.empty(); }

  absl::Status Refuse() const override {
    return Invalid(
        "{}: no line tells of a lookup in TorchTPU's cache of programs, or of a compilation. xlaprof looked for 'Compilation cache MISS', 'Compilation cache STATIC HIT', 'Scheduled compilation for key' and 'CompilationCache final stats'. Run with TF_CPP_VMODULE=compilation_cache=2, or name the format with --as",
        reading_.input.path);
  }

  absl::Status WriteIssues() override {
    if (cut_keys_ == 0) return absl::OkStatus();
    return reading_.context.Issue(
        "cut_key", Severity::kWarning,
        "A line about TorchTPU's cache has no whole key, because it was cut or processes wrote at once. It was left out.",
        {}, {}, cut_keys_);
  }

  absl::Status FindRuns() override {
    OptInt first;
    for (const Lookup& lookup : lookups_) {
      if (lookup.epoch_ns) first = std::min(first.value_or(INT64_MAX), *lookup.epoch_ns);
    }
    if (!first) return absl::OkStatus();
    XP_TRY(const int64_t offset_ns, reading_.context.AlignClock(*first));
    epoch_to_store_ns_ = offset_ns - *first;
    return absl::OkStatus();
  }

  std::vector<LogPlace> Facts() const override {
    std::vector<LogPlace> places;
    for (const Lookup& lookup : lookups_) places.push_back({lookup.line});
    for (const Totals& totals : totals_) places.push_back({totals.line});
    return places;
  }

  absl::Status Write(size_t fact, int run) override {
    return lookups_.empty() ? WriteTotals(totals_[fact], run) : WriteLookup(lookups_[fact], run);
  }

  absl::Status Finish() override {
    for (const auto& [process_id, known] : of_process_) XP_TRY(WriteSteps(process_id, known));
    return absl::OkStatus();
  }

 private:
  // What was written of one process.
  struct OfProcess {
    std::map<size_t, int64_t> graphs;               // rows, by program
    std::map<std::string, std::string> dimensions;  // of the last program, by shapeless key
    std::vector<size_t> program_of_execution;
    std::vector<int64_t> executions;  // rows
    std::vector<OptInt> times;        // of the executions
  };

  size_t ProgramOf(const CacheKey& key) {
    const auto [known, is_new] = program_of_key_.try_emplace(key.text(), programs_.size());
    if (is_new) programs_.push_back(key);
    return known->second;
  }

  // Returns the place in `origins_` of the process that wrote the line.
  int OriginOf(std::string_view line) {
    const LogOrigin origin = OriginOfPrefix(line.substr(0, line.find("0000 00:00:")));
    if (origins_.empty() || origins_.back() != origin) origins_.push_back(origin);
    return int(origins_.size()) - 1;
  }

  void Add(std::string_view line, size_t program, bool is_compile, bool is_execution) {
    lookups_.push_back({.is_compile = is_compile,
                        .is_execution = is_execution,
                        .program = program,
                        .origin = OriginOf(line),
                        .epoch_ns = EpochNsOf(line),
                        .offset = reading_.texts.offset(),
                        .line = reading_.texts.number()});
  }

  // Reads a line of the totals. They are whole once both numbers are there.
  void TakeTotals(std::string_view line) {
    if (const size_t at = line.find(kTotals); at != kNone) {
      totals_.push_back({.origin = OriginOf(line),
                         .lookups = CountAt(line, at + kTotals.size()),
                         .offset = reading_.texts.offset(),
                         .line = reading_.texts.number()});
      return;
    }
    constexpr int64_t kTotalsLines = 2;
    if (totals_.empty() || reading_.texts.number() > totals_.back().line + kTotalsLines) return;
    const auto take = [&](std::string_view name, OptInt& count) {
      if (const size_t at = line.find(name); at != kNone) count = CountAt(line, at + name.size());
    };
    take("num_cache_hits=", totals_.back().hits);
    take("num_compilations=", totals_.back().compilations);
  }

  // Reads "Compile duration for key CompilationCacheKey{...}: 197 ms".
  void TakeDuration(std::string_view line, size_t program) {
    const size_t end = line.find("}: ");
    if (end == kNone) return;
    std::string text(Trim(line.substr(end + 3)));
    std::erase(text, ' ');
    const OptInt ns = NsOfDuration(text);
    if (!ns) return;
    OptInt begin_epoch_ns = EpochNsOf(line);
    if (begin_epoch_ns) *begin_epoch_ns -= *ns;
    durations_[program].emplace_back(ns, begin_epoch_ns);
  }

  OptInt StoreNs(OptInt epoch_ns) const {
    if (!epoch_ns) return {};
    return *epoch_ns + epoch_to_store_ns_;
  }

  absl::StatusOr<int64_t> GraphOf(int64_t process_id, const Lookup& lookup, OfProcess& known) {
    const auto [graph, is_new] = known.graphs.try_emplace(lookup.program);
    if (is_new) {
      const CacheKey& key = programs_[lookup.program];
      const GraphRow row{.process_id = process_id,
                         .hash = key.text(),
                         .name = fmt::format("graph {}", key.shapeless)};
      XP_TRY(graph->second, reading_.context.Add(row, lookup.offset, lookup.line));
    }
    return graph->second;
  }

  absl::Status WriteLookup(const Lookup& lookup, int run) {
    XP_TRY(LogProcesses::Process * process,
           reading_.processes.Nearest(run, origins_[size_t(lookup.origin)]));
    ImportContext& context = reading_.context;
    OfProcess& known = of_process_[process->id];
    XP_TRY(const int64_t graph_id, GraphOf(process->id, lookup, known));
    if (lookup.is_compile) {
      CompileRow row{
          .process_id = process->id,
          .ordinal = process->next_ordinal++,
          .graph_id = graph_id,
          .ts_ns = StoreNs(lookup.begin_epoch_ns ? lookup.begin_epoch_ns : lookup.epoch_ns),
          .dur_ns = lookup.dur_ns,
          .inferred = false};
      if (row.dur_ns) row.dur_from = TimeSource::kLog;
      XP_TRY(const int64_t id, context.Add(row, lookup.offset, lookup.line));
      XP_TRY(WriteReason(id, lookup.program, known));
    }
    if (!lookup.is_execution) return absl::OkStatus();
    XP_TRY(const int64_t id, context.Add(ExecutionRow{.process_id = process->id,
                                                      .ordinal = process->next_ordinal++,
                                                      .graph_id = graph_id,
                                                      .enqueue_ts_ns = StoreNs(lookup.epoch_ns)},
                                         lookup.offset, lookup.line));
    known.program_of_execution.push_back(lookup.program);
    known.executions.push_back(id);
    known.times.push_back(lookup.epoch_ns);
    return absl::OkStatus();
  }

  absl::Status WriteTotals(const Totals& totals, int run) {
    XP_TRY(LogProcesses::Process * process,
           reading_.processes.Nearest(run, origins_[size_t(totals.origin)]));
    ImportContext& context = reading_.context;
    XP_TRY(const int64_t report_id,
           context.Add(MetricsReportRow{.source_id = context.source_id, .process_id = process->id},
                       totals.offset, totals.line));
    const auto add = [&](const char* name, OptInt count) -> absl::Status {
      if (count.value_or(0) == 0) return absl::OkStatus();
      return context
          .Add(MetricRow{.report_id = report_id, .name = name, .samples = count}, totals.offset,
               totals.line)
          .status();
    };
    XP_TRY(add(metric_names::kCompileTime, totals.compilations));
    XP_TRY(add(metric_names::kExecuteTime, totals.lookups));
    return internal::ToStatus(context.store.Add(CounterRow{
        .report_id = report_id, .name = metric_names::kCachedCompile, .value = *totals.hits}));
  }

  // Writes that only sizes differ, if an earlier program of the process has the same shapeless key.
  absl::Status WriteReason(int64_t compile_id, size_t program, OfProcess& known) {
    const CacheKey& key = programs_[program];
    const auto [earlier, is_first] = known.dimensions.try_emplace(key.shapeless, key.dimensions);
    const std::string before = std::exchange(earlier->second, key.dimensions);
    if (is_first || before == key.dimensions) return absl::OkStatus();
    return internal::ToStatus(reading_.context.store.Add(CompileReasonRow{
        .compile_id = compile_id,
        .stated_by = StatedBy::kCacheKey,
        .type = ReasonType::kShapeChange,
        .text = fmt::format(
            "shapeless_key {} is that of an earlier program, dimensions_key {} is another",
            key.shapeless, key.dimensions)}));
  }

  // Writes the steps that the repetition of the graphs shows.
  absl::Status WriteSteps(int64_t process_id, const OfProcess& known) {
    std::vector<std::string_view> names;
    for (size_t program : known.program_of_execution) names.push_back(programs_[program].shapeless);
    Store& store = reading_.context.store;
    const std::vector<Round> rounds = RoundsOf(names);
    for (size_t r = 0; r < rounds.size(); ++r) {
      StepRow step{.process_id = process_id,
                   .ordinal = int64_t(r),
                   .ts_ns = StoreNs(known.times[rounds[r].begin])};
      const OptInt end_ns = StoreNs(known.times[std::min(rounds[r].end, known.times.size() - 1)]);
      if (step.ts_ns && end_ns) step.dur_ns = std::max<int64_t>(0, *end_ns - *step.ts_ns);
      XP_TRY(const int64_t step_id, store.Add(step));
      XP_TRY(store.Run(
          "UPDATE execution SET step_id = ?4 WHERE id BETWEEN ?1 AND ?2 AND process_id = ?3",
          known.executions[rounds[r].begin], known.executions[rounds[r].end - 1], process_id,
          step_id));
    }
    return absl::OkStatus();
  }

  LogReading& reading_;
  std::vector<CacheKey> programs_;
  absl::flat_hash_map<std::string, size_t> program_of_key_;
  std::vector<LogOrigin> origins_;
  std::vector<Lookup> lookups_;
  std::vector<Totals> totals_;  // of logs without lookups
  bool has_lookups_ = false;
  int64_t cut_keys_ = 0;
  // By program: lengths and begins of its compilations, and the length that is printed at exit.
  std::map<size_t, std::vector<std::pair<OptInt, OptInt>>> durations_;
  std::map<size_t, OptInt> at_exit_;
  int64_t epoch_to_store_ns_ = 0;
  std::map<int64_t, OfProcess> of_process_;
};

}  // namespace

extern const Dialect torchtpu_log{
    .name = "torchtpu_log",
    .summary =
        "TorchTPU: what its cache counted; with TF_CPP_VMODULE=compilation_cache=2, lookups of programs, and how long they compiled",
    .example = "stderr.txt",
    .sniff = SniffTorchtpuLog,
    .marks = kTorchtpuMarks,
    .read = MakeReader<TorchtpuLogReader>,
    .framework = Framework::kTorchtpu,
    .kind = SourceKind::kLog,
    .ends_with_numbers = true};

}  // namespace xlaprof

// Reads logs of JAX with jax_log_compiles or jax_explain_cache_misses. jax_log_line.cc and
// jax_explanation.cc describe the messages, jax_log_facts.cc which of them belong together.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>

#include "profiler/import/jax/jax_log_facts.h"
#include "profiler/import/log/dialect.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kJaxMarks[] = {"Finished XLA compilation of ",
                                          "Finished jaxpr to MLIR module conversion ",
                                          "Finished tracing ",
                                          "TRACING CACHE MISS at ",
                                          "PERSISTENT COMPILATION CACHE MISS for ",
                                          "Persistent compilation cache hit for ",
                                          "Compiling "};

int SniffJaxLog(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (has("TRACING CACHE MISS at ") || has("Finished XLA compilation of ") ||
      has("Finished jaxpr to MLIR module conversion "))
    return 88;
  if (has("Finished tracing + transforming ")) return 86;
  // Until 2023 this was `Compiling f (140…) for args (…)`, and on devices `… for 8 devices with
  // args (…)`.
  if (has("Compiling ") && (has(" with global shapes and types ") || has(" for args (Shaped")))
    return 84;
  if (has("Compiling ") && (has(" for args (") || has(" devices with args ("))) return 70;
  return has("PERSISTENT COMPILATION CACHE MISS for '") ||
                 has("Persistent compilation cache hit for '")
             ? 70
             : 0;
}

// Returns NULL for a text that was not printed.
OptText Text(std::string_view value) { return TextOrNull(ToUtf8(value)); }

class JaxWriter {
 public:
  JaxWriter(const JaxLog& log, LogReading& reading)
      : log_(log), context_(reading.context), processes_(reading.processes) {}

  absl::Status Write(const JaxCompile& compile, int run) {
    XP_TRY(LogProcesses::Process * process, ProcessOf(run, compile.origin));
    const JaxExplanation* said =
        compile.explanation < 0 ? nullptr : &log_.explanations[size_t(compile.explanation)];
    CompileRow row{
        .process_id = process->id,
        .ordinal = process->next_ordinal++,
        .dur_ns = compile.dur_ns,
        .trace_ns = compile.trace_ns,
        .cause = said != nullptr && said->is_operation() ? CutKind::kOperation : CutKind::kCall,
        .function = Text(compile.function),
        .persistent_hit = compile.persistent_hit,
        .inferred = compile.inferred};
    if (compile.dur_ns) row.dur_from = TimeSource::kLog;
    XP_TRY(row.graph_id, GraphOf(process->id, compile));
    if (said != nullptr && !said->call.file.empty()) {
      XP_TRY(row.site_id,
             context_.store.AddSite(said->call.function, said->call.file, said->call.line));
      XP_TRY(row.stack_id, context_.store.AddStack({&said->call, 1}));
    }
    XP_TRY(int64_t id, context_.Add(row, compile.offset, compile.line));
    ids_[&compile - log_.compiles.data()] = id;
    if (log_.proves_no_cache) {
      XP_TRY(context_.Add(CacheLookupRow{.process_id = process->id,
                                         .ordinal = next_lookup_++,
                                         .compile_id = id,
                                         .cache = ProgramCache::kJaxPersistent,
                                         .result = CacheResult::kBypass,
                                         .is_stored = false,
                                         .not_stored = NotStored::kDisabled},
                          compile.offset, compile.line));
    }
    return said == nullptr ? absl::OkStatus() : WriteReasons(id, *said);
  }

  // Writes a look-up of the persistent cache. The compilation that asked has been written before.
  absl::Status Write(const JaxLookup& lookup, int run) {
    XP_TRY(const LogProcesses::Process* process, ProcessOf(run, lookup.origin));
    CacheLookupRow row{.process_id = process->id,
                       .ordinal = next_lookup_++,
                       .cache = ProgramCache::kJaxPersistent,
                       .result = lookup.is_hit ? CacheResult::kHit : CacheResult::kMiss,
                       .program = Text(lookup.program),
                       .key = Text(lookup.key),
                       .is_stored = lookup.is_stored,
                       .not_stored = lookup.why,
                       .least_ns = lookup.least_ns};
    if (const auto id = ids_.find(lookup.compile); id != ids_.end()) row.compile_id = id->second;
    return context_.Add(row, lookup.place.offset, lookup.place.line).status();
  }

 private:
  // Several processes may have the same origin, if one followed the other.
  absl::StatusOr<LogProcesses::Process*> ProcessOf(int run, int origin) {
    const std::vector<LogOrigin>& origins = log_.origins;
    const LogOrigin& from = origins[size_t(origin)];
    const auto before = std::count(origins.begin(), origins.begin() + origin, from);
    return processes_.Of(run, from, int(before));
  }

  // Returns the graph of a compilation, which consists of the types of its inputs as parameters.
  absl::StatusOr<OptInt> GraphOf(int64_t process_id, const JaxCompile& compile) {
    if (!compile.input_count) return OptInt();
    std::string key = fmt::format("{} {}", compile.function, *compile.input_count);
    for (const JaxInput& input : compile.inputs)
      key += fmt::format("|{}|{}", input.shape, input.attributes);
    auto [found, added] = graphs_.try_emplace({process_id, std::move(key)});
    if (!added) return OptInt(found->second);
    GraphRow graph{.process_id = process_id,
                   .name = Text(compile.function),
                   .input_count = compile.input_count};
    if (!compile.inputs.empty()) {
      graph.printed_as = PrintedForm::kSignature;
      graph.node_count = int64_t(compile.inputs.size());
    }
    XP_TRY(found->second, context_.Add(graph, compile.offset, compile.line));
    for (size_t i = 0; i < compile.inputs.size(); ++i) {
      GraphNodeRow node{.graph_id = found->second,
                        .idx = int64_t(i),
                        .op = "parameter",
                        .shape = ToUtf8(compile.inputs[i].shape)};
      if (!compile.inputs[i].attributes.empty())
        node.attributes = ToUtf8(compile.inputs[i].attributes);
      XP_TRY(context_.store.Add(node));
    }
    return OptInt(found->second);
  }

  absl::Status WriteReasons(int64_t compile_id, const JaxExplanation& said) {
    int64_t idx = 0;
    if (said.caches_cleared) {
      return internal::ToStatus(
          context_.store.Add(CompileReasonRow{.compile_id = compile_id,
                                              .idx = idx,
                                              .stated_by = StatedBy::kJaxExplanation,
                                              .type = ReasonType::kCacheEviction,
                                              .text = ToUtf8(said.words)}));
    }
    // All primitives are defined on one line of JAX's, so its hint says nothing about them.
    if (said.redefined && !said.is_operation()) {
      return internal::ToStatus(context_.store.Add(CompileReasonRow{
          .compile_id = compile_id,
          .idx = idx,
          .stated_by = StatedBy::kJaxExplanation,
          .type = ReasonType::kRedefinedFunction,
          .input = Text(said.defined_at),
          .after = said.definition_makes_it() ? Text(said.defined_at) : std::nullopt,
          .text = ToUtf8(said.words)}));
    }
    for (const JaxDifference& difference : said.differences) {
      XP_TRY(context_.store.Add(CompileReasonRow{.compile_id = compile_id,
                                                 .idx = idx++,
                                                 .stated_by = StatedBy::kJaxExplanation,
                                                 .type = difference.type,
                                                 .input = Text(difference.input),
                                                 .before = Text(difference.before),
                                                 .after = Text(difference.after),
                                                 .of_class = Text(difference.of_class),
                                                 .text = ToUtf8(difference.text)}));
    }
    return absl::OkStatus();
  }

  const JaxLog& log_;
  ImportContext& context_;
  LogProcesses& processes_;
  std::map<std::pair<int64_t, std::string>, int64_t> graphs_;  // by process, function and types
  absl::flat_hash_map<int64_t, int64_t> ids_;                  // of rows, by index of the compile
  int64_t next_lookup_ = 0;
};

absl::Status AddJaxIssues(const JaxLog& log, ImportContext& context) {
  if (log.repeated > 0) {
    XP_TRY(context.Issue("repeated_message", Severity::kInfo,
                         "Two log handlers print each message. Each message is counted once.", {},
                         {}, log.repeated));
  }
  if (log.traced_inside > 0) {
    XP_TRY(context.Issue(
        "traced_inside", Severity::kInfo,
        "Functions that were traced as part of another one are not separate compilations and are left out.",
        {}, {}, log.traced_inside));
  }
  if (log.cut) {
    XP_TRY(context.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        "The log ends inside a message, an explanation or a compilation: it was cut, or the run was killed or still runs. Everything before that is kept.",
        log.cut->offset, log.cut->line));
  }
  if (log.types_cut > 0) {
    XP_TRY(context.Issue(
        "cut_types", Severity::kWarning,
        "A list of input types ends before its closing bracket, because the log collector cuts long lines. These inputs are unknown. Use the log that the program itself writes.",
        log.first_types_cut->offset, log.first_types_cut->line, log.types_cut));
  }
  if (log.unfinished > 0) {
    XP_TRY(context.Issue(
        "unfinished_compile", Severity::kInfo,
        "The log does not show the end of a compilation: the log was cut, or the compilation failed. The compilation is counted without a duration.",
        {}, {}, log.unfinished));
  }
  return absl::OkStatus();
}

class JaxLogReader : public DialectReader {
 public:
  explicit JaxLogReader(LogReading& reading)
      : reading_(reading), parser_(reading.input.bytes, reading.texts), writer_(log_, reading) {}

  void Take() override { parser_.Take(); }
  void End() override {
    log_ = std::move(parser_).Finish();
    OrderFacts();
  }
  bool Found() const override { return !log_.compiles.empty(); }

  absl::Status Refuse() const override {
    const std::string& path = reading_.input.path;
    if (log_.messages > 0 || log_.cut) {
      return Invalid(
          "{}: JAX's messages in these {} lines are cut, and none describes a complete compilation. Use the log that the program itself writes, run with JAX_LOG_COMPILES=1 JAX_EXPLAIN_CACHE_MISSES=1, or name the format with --as",
          path, reading_.texts.number());
    }
    return Invalid(
        "{}: none of its {} lines shows a compilation by JAX. xlaprof looked for 'Compiling ... with global shapes and types', 'Finished XLA compilation of' and 'TRACING CACHE MISS'. Run with JAX_LOG_COMPILES=1 JAX_EXPLAIN_CACHE_MISSES=1, or name the format with --as",
        path, reading_.texts.number());
  }

  absl::Status WriteIssues() override {
    return Found() ? AddJaxIssues(log_, reading_.context) : absl::OkStatus();
  }
  std::vector<LogPlace> Facts() const override {
    std::vector<LogPlace> places;
    for (const Fact& fact : facts_)
      places.push_back(
          {fact.is_lookup ? log_.lookups[fact.index].place.line : log_.compiles[fact.index].line});
    return places;
  }
  absl::Status Write(size_t number, int run) override {
    const Fact& fact = facts_[number];
    return fact.is_lookup ? writer_.Write(log_.lookups[fact.index], run)
                          : writer_.Write(log_.compiles[fact.index], run);
  }

 private:
  struct Fact {
    bool is_lookup = false;
    size_t index = 0;  // of JaxLog::lookups or JaxLog::compiles
  };

  // Puts compilations and look-ups into one order. A look-up comes after the compilation that asked.
  void OrderFacts() {
    size_t next = 0;
    int64_t line = 0;  // a compilation may begin above one that began before it
    for (size_t i = 0; i < log_.compiles.size(); ++i) {
      line = std::max(line, log_.compiles[i].line);
      for (; next < log_.lookups.size() && log_.lookups[next].place.line < line; ++next)
        facts_.push_back({true, next});
      facts_.push_back({false, i});
    }
    for (; next < log_.lookups.size(); ++next) facts_.push_back({true, next});
  }

  LogReading& reading_;
  JaxLogParser parser_;
  JaxLog log_;
  std::vector<Fact> facts_;
  JaxWriter writer_;
};

}  // namespace

extern const Dialect jax_log{
    .name = "jax_log",
    .summary = "JAX with jax_log_compiles or jax_explain_cache_misses: what compiled, and why",
    .example = "jax.log",
    .sniff = SniffJaxLog,
    .marks = kJaxMarks,
    .read = MakeReader<JaxLogReader>,
    .framework = Framework::kJax,
    .kind = SourceKind::kLog};

}  // namespace xlaprof

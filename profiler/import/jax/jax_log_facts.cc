#include "profiler/import/jax/jax_log_facts.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "profiler/import/graph/jit_call_site.h"

namespace xlaprof {
namespace {

// A call that finds no program prints, in this order: why it is traced (an explanation; until 0.7
// behind the next line), how long tracing took, `Compiling` with the types of the inputs, how long
// lowering took, whether the persistent cache had the program, how long XLA took. Functions that
// are traced as part of another print the first two only. Threads print into each other: messages
// belong together by the function's name.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : lines_(bytes), end_(bytes.data() + bytes.size()) {}

  JaxLog Run(const std::function<void(size_t)>& progress) {
    constexpr int64_t kProgressLines = 1 << 14;
    while (lines_.Next()) {
      Take(lines_.text());
      if (lines_.number() % kProgressLines == 0) progress(size_t(lines_.offset()));
    }
    int left_open = -1;
    if (explaining_ && !explaining_->reader.IsWhole()) {
      log_.cut = {explaining_->offset, explaining_->line};
      left_open = int(log_.explanations.size());
    }
    EndExplanation();
    for (auto& [origin, state] : states_) {
      if (!saw_compiles_) continue;
      for (const auto& [function, pending] : state.pending)
        log_.traced_inside += pending.said >= 0 && pending.said != left_open;
    }
    if (!saw_compiles_) CompilesFromExplanations();
    if (log_.compiles.empty()) log_.compiles = std::move(looked_up_);
    for (const JaxCompile& compile : log_.compiles)
      log_.unfinished += !compile.dur_ns && saw_ends_ && !compile.inferred;
    log_.lines = lines_.number();
    return std::move(log_);
  }

 private:
  // What was printed of a function before its `Compiling`.
  struct Pending {
    OptInt trace_ns;
    int said = -1;
    int64_t offset = 0, line = 0;
  };
  struct State {
    std::map<std::string, Pending, std::less<>> pending;
    std::deque<size_t> open;  // compiles whose end has not come
    std::string last_message, last_prefix;
  };
  struct Explaining {
    JaxExplanationReader reader;
    int origin = 0;
    int64_t offset = 0, line = 0;
  };

  int OriginOf(std::string_view prefix) {
    LogOrigin origin = OriginOfPrefix(prefix);
    auto found = std::find(log_.origins.begin(), log_.origins.end(), origin);
    if (found != log_.origins.end()) return int(found - log_.origins.begin());
    log_.origins.push_back(std::move(origin));
    return int(log_.origins.size()) - 1;
  }

  // Digits do not count: times and thread ids change from line to line.
  static std::string Pattern(std::string_view prefix) {
    std::string pattern(prefix);
    for (char& c : pattern) c = c >= '0' && c <= '9' ? '0' : c;
    return pattern;
  }

  // Two handlers (Python's root logger and absl's) print each message behind prefixes of their own.
  bool IsRepeated(State& state, std::string_view message, std::string_view prefix) {
    std::string pattern = Pattern(prefix);
    if (state.last_message == message && state.last_prefix != pattern) return true;
    state.last_message = message;
    state.last_prefix = std::move(pattern);
    return false;
  }

  // The file ends behind `text` without ending its line.
  bool IsLast(std::string_view text) const {
    return !lines_.ended() && !lines_.is_decoded() && text.data() + text.size() == end_;
  }

  // Whether the last line is one of ours and stops before its words show that it is whole. A line
  // of an explanation never shows it: of `train.py:61` may be left `train.py:6`.
  bool IsTorn(std::string_view text, const std::optional<JaxLogLine>& line) const {
    if (line) return line->inputs_cut || line->kind == JaxLogLine::kExplanation;
    if (BeginsJaxLogLine(text)) return true;
    if (!explaining_ || skipping_) return false;
    return !explaining_->reader.IsWhole() || JaxExplanationReader(explaining_->reader).Take(text);
  }

  void Take(std::string_view text) {
    std::optional<JaxLogLine> line = ParseJaxLogLine(text);
    if (IsLast(text) && IsTorn(text, line)) {
      log_.cut = {lines_.offset(), lines_.number()};
      if (!line || line->kind == JaxLogLine::kExplanation) return;
    }
    if (!line) {
      if (skipping_ || !explaining_) return;
      if (!explaining_->reader.Take(text)) EndExplanation();
      return;
    }
    EndExplanation();
    const int origin = OriginOf(text.substr(0, line->begin));
    State& state = states_[origin];
    if (IsRepeated(state, text.substr(line->begin), text.substr(0, line->begin))) {
      ++log_.repeated;
      skipping_ = line->kind == JaxLogLine::kExplanation;
      return;
    }
    skipping_ = false;
    ++log_.messages;
    switch (line->kind) {
      case JaxLogLine::kExplanation: {
        constexpr size_t kLabel = std::string_view("TRACING CACHE MISS at ").size();
        explaining_ = Explaining{JaxExplanationReader(text.substr(line->begin + kLabel)), origin,
                                 lines_.offset(), lines_.number()};
        break;
      }
      case JaxLogLine::kTraced: {
        Pending& pending = PendingOf(state, line->function);
        pending.trace_ns = line->dur_ns;
        break;
      }
      case JaxLogLine::kCompiling:
        if (line->inputs_cut && !log_.cut && log_.types_cut++ == 0)
          log_.first_types_cut = {lines_.offset(), lines_.number()};
        Begin(state, origin, *line);
        break;
      case JaxLogLine::kLowered: {
        JaxCompile& compile = Find(state, origin, *line);
        if (line->dur_ns) compile.trace_ns = compile.trace_ns.value_or(0) + *line->dur_ns;
        break;
      }
      case JaxLogLine::kPersistentHit:
      case JaxLogLine::kPersistentMiss:
        if (!state.open.empty()) {
          log_.compiles[state.open.back()].persistent_hit =
              line->kind == JaxLogLine::kPersistentHit;
        } else if (line->key.empty() || keys_.emplace(origin, line->key).second) {
          // The cache knows modules, which are named for their functions. The same program again is
          // another run's: a process looks for it once.
          looked_up_.push_back({.origin = origin,
                                .offset = lines_.offset(),
                                .line = lines_.number(),
                                .function = std::string(FunctionOfModule(line->function)),
                                .inputs = {},
                                .input_count = {},
                                .trace_ns = {},
                                .dur_ns = {},
                                .persistent_hit = line->kind == JaxLogLine::kPersistentHit,
                                .inferred = true});
        }
        break;
      case JaxLogLine::kCompiled: {
        saw_ends_ = true;
        JaxCompile& compile = Find(state, origin, *line);
        compile.dur_ns = line->dur_ns;
        std::erase(state.open, size_t(&compile - log_.compiles.data()));
        break;
      }
    }
  }

  Pending& PendingOf(State& state, std::string_view function) {
    Pending& pending = state.pending[std::string(function)];
    if (pending.line == 0) pending.offset = lines_.offset(), pending.line = lines_.number();
    return pending;
  }

  JaxCompile& Begin(State& state, int origin, const JaxLogLine& line) {
    saw_compiles_ = true;
    JaxCompile compile{.origin = origin,
                       .offset = lines_.offset(),
                       .line = lines_.number(),
                       .function = std::string(line.function),
                       .inputs = ParseJaxInputs(line.inputs),
                       .input_count = line.input_count};
    if (!line.inputs.empty()) compile.input_count = int64_t(compile.inputs.size());
    if (auto pending = state.pending.find(line.function); pending != state.pending.end()) {
      compile.trace_ns = pending->second.trace_ns;
      compile.explanation = pending->second.said;
      compile.offset = pending->second.offset, compile.line = pending->second.line;
      state.pending.erase(pending);
    }
    constexpr size_t kMaxOpen = 256;  // a log of starts only must not be searched again and again
    if (state.open.size() >= kMaxOpen) state.open.pop_front();
    state.open.push_back(log_.compiles.size());
    log_.compiles.push_back(std::move(compile));
    return log_.compiles.back();
  }

  // The open compile of that function; a new one where the log lost its beginning.
  JaxCompile& Find(State& state, int origin, const JaxLogLine& line) {
    for (size_t index : state.open) {
      JaxCompile& compile = log_.compiles[index];
      if (compile.function == line.function) return compile;
    }
    return Begin(state, origin, line);
  }

  void EndExplanation() {
    if (!explaining_) return;
    JaxExplanation said = std::move(explaining_->reader).Finish();
    // Another function object with the place of one that was seen is that function, defined anew;
    // JAX itself compares the place of the call.
    if (said.never_seen && !said.defined_at.empty() && !said.is_operation() &&
        !defined_[explaining_->origin].insert(said.function + said.defined_at).second)
      said.redefined = true;
    // __qualname__ in older versions, __name__ elsewhere.
    std::string name = said.function.substr(said.function.rfind('.') + 1);
    Pending& pending = PendingOf(states_[explaining_->origin], name);
    pending.offset = explaining_->offset, pending.line = explaining_->line;
    if (said.trace_ns && !pending.trace_ns) pending.trace_ns = said.trace_ns;
    pending.said = int(log_.explanations.size());
    said_at_.push_back({explaining_->origin, explaining_->offset, explaining_->line});
    log_.explanations.push_back(std::move(said));
    explaining_.reset();
  }

  // With jax_explain_cache_misses alone, each miss is taken for a compile.
  void CompilesFromExplanations() {
    for (size_t i = 0; i < log_.explanations.size(); ++i) {
      const JaxExplanation& said = log_.explanations[i];
      log_.compiles.push_back({.origin = said_at_[i].origin,
                               .offset = said_at_[i].offset,
                               .line = said_at_[i].line,
                               .function = said.function.substr(said.function.rfind('.') + 1),
                               .inputs = {},
                               .input_count = {},
                               .trace_ns = said.trace_ns,
                               .dur_ns = {},
                               .persistent_hit = {},
                               .explanation = int(i),
                               .inferred = true});
    }
  }

  struct Place {
    int origin = 0;
    int64_t offset = 0, line = 0;
  };
  LogTexts lines_;
  const char* end_;  // of the file
  JaxLog log_;
  std::map<int, State> states_;                   // by origin
  std::map<int, std::set<std::string>> defined_;  // functions with their places, by origin
  std::optional<Explaining> explaining_;
  bool skipping_ = false;  // inside an explanation that was printed before
  bool saw_compiles_ = false, saw_ends_ = false;
  std::vector<Place> said_at_;  // of each explanation
  // What the persistent cache was asked for outside of a compilation: where the log has nothing
  // else (jax_debug_log_modules of the compiler alone), each is one.
  std::vector<JaxCompile> looked_up_;
  std::set<std::pair<int, std::string>> keys_;  // of these, by origin
};

}  // namespace

JaxLog ParseJaxLog(std::string_view bytes, const std::function<void(size_t)>& progress) {
  return Reader(bytes).Run(progress);
}

}  // namespace xlaprof

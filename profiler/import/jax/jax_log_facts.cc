#include "profiler/import/jax/jax_log_facts.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "base/source_place.h"
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/jax/jax_log_label.h"
#include "profiler/import/text/line_prefixes.h"
#include "profiler/import/text/python_frames.h"

namespace xlaprof {

// A call that finds no program prints these in order: why it is traced (an explanation; until 0.7
// after the next line), how long tracing took, `Compiling` with the types of the inputs, how long
// lowering took, whether the persistent cache had the program, how long XLA took. Functions that
// are traced as part of another print only the first two. Threads print into each other, so
// messages belong together by the function's name. Processes print into each other even inside of
// an explanation, so its lines belong together by their label.
class JaxLogParser::Impl {
 public:
  Impl(std::string_view bytes, const LogTexts& texts)
      : lines_(texts),
        labels_(bytes),
        end_(bytes.data() + bytes.size()),
        begins_with_repeats_(BeginsWithRepeats(bytes)) {}

  void Take() { Take(lines_.text()); }

  JaxLog Finish() {
    std::set<int> left_open;
    for (auto& [label, speaker] : speakers_) {
      const std::optional<Explaining>& open = speaker.explaining;
      const bool is_cut = open && !open->reader.IsWhole();
      if (is_cut) {
        if (!log_.cut) log_.cut = {open->offset, open->line};
        left_open.insert(int(log_.explanations.size()));
      }
      EndExplanation(speaker, /*by_others=*/false, is_cut);
    }
    if (!log_.cut && saw_ends_) log_.cut = goes_on_;
    for (auto& [process, state] : states_) {
      if (!saw_compiles_) continue;
      for (const auto& [function, pending] : state.pending)
        log_.traced_inside += pending.said >= 0 && !left_open.contains(pending.said);
    }
    FindClearedCaches();
    log_.proves_no_cache = cache_.size() == 0 && saw_ends_ && explains_look_ups_;
    log_.lookups = std::move(cache_).Finish();
    if (!saw_compiles_) CompilesFromExplanations();
    if (log_.compiles.empty()) {
      for (size_t i = 0; i < looked_up_.size(); ++i)
        log_.lookups[looked_up_[i].lookup].compile = int(i);
      for (LookedUp& one : looked_up_) log_.compiles.push_back(std::move(one.compile));
    }
    for (const JaxCompile& compile : log_.compiles)
      log_.unfinished += !compile.dur_ns && saw_ends_ && !compile.inferred;
    return std::move(log_);
  }

 private:
  // Messages about a function that came before its `Compiling`.
  struct Pending {
    OptInt trace_ns;
    int said = -1;
    int64_t offset = 0, line = 0;
  };
  struct State {
    std::map<std::string, Pending, std::less<>> pending;
    std::deque<size_t> open;       // compiles whose end has not come
    std::vector<size_t> compiles;  // all compiles of its process
    // By call that traced a new function, the number of compiles that had come before.
    std::map<std::string, size_t> new_at;
    RepeatedRecords repeats;
  };
  struct Explaining {
    JaxExplanationReader reader;
    std::string prefix;
    int origin = 0;
    int64_t offset = 0, line = 0;
  };
  struct Speaker {
    std::optional<Explaining> explaining;
  };

  // Returns the process that writes lines with this label or, if there is none, this prefix.
  int ProcessOf(std::string_view label, std::string_view prefix) {
    const LogOrigin origin = label.empty() ? OriginOfPrefix(prefix) : labels_.OriginOf(label);
    for (size_t i = log_.origins.size(); i-- > 0;) {
      if (log_.origins[i] == origin) return int(i);
    }
    log_.origins.push_back(origin);
    return int(log_.origins.size()) - 1;
  }

  // Returns whether an explanation shows that another process continues this log. A process prints
  // JAX's hint if a call traces a new function for the second time, even if caches were cleared in
  // between. If the hint is missing, another process is writing, or the hint was cut out of the
  // log. Another process compiles the functions before that call again.
  bool IsOfAnotherProcess(const State& state, const JaxExplanation& said) const {
    if (!said.never_seen || said.redefined || said.call.file.empty() || !saw_compiles_)
      return false;
    const auto at = state.new_at.find(said.call_text);
    return at != state.new_at.end() && (at->second == 0 || Repeated(state, at->second) > 0);
  }

  // Returns `count` if the last `count` compiles of a process are of the same functions as its
  // first ones, and else 0.
  size_t Repeated(const State& state, size_t count) const {
    const std::vector<size_t>& all = state.compiles;
    if (2 * count > all.size()) return 0;
    auto function = [&](size_t i) -> const std::string& { return log_.compiles[all[i]].function; };
    for (size_t i = 0; i < count; ++i) {
      if (function(i) != function(all.size() - count + i)) return 0;
    }
    return count;
  }

  // Begins another process after `process`, and gives it the compiles that were printed before it
  // was known. They are as many as had come first before that call, if they are of the same
  // functions.
  int NextProcess(int process, const std::string& call) {
    const int next = int(log_.origins.size());
    const LogOrigin origin = log_.origins[size_t(process)];
    log_.origins.push_back(origin);
    State &from = StateOf(process), &to = StateOf(next);
    to.repeats = from.repeats;
    const std::vector<size_t>& all = from.compiles;
    const size_t count = Repeated(from, from.new_at.at(call));
    const size_t first = all.size() - count;
    const int64_t now = lines_.number();
    const int64_t line = count > 0 ? log_.compiles[all[first]].line : now;
    for (size_t i = first; i < all.size(); ++i) {
      to.compiles.push_back(all[i]);
      log_.compiles[all[i]].origin = next;
      if (std::erase(from.open, all[i]) > 0) to.open.push_back(all[i]);
    }
    from.compiles.resize(first);
    cache_.Move(process, next, line);
    // Until 0.7 the end of tracing is printed before its cause.
    for (auto pending = from.pending.begin(); pending != from.pending.end();) {
      const bool moves = pending->second.line >= line || now - pending->second.line <= 1;
      if (moves) to.pending.insert(*pending);
      pending = moves ? from.pending.erase(pending) : std::next(pending);
    }
    return next;
  }

  // Returns whether the file ends after `text` without ending its line.
  bool IsLast(std::string_view text) const {
    return !lines_.ended() && !lines_.is_decoded() && text.data() + text.size() == end_;
  }

  // Returns whether JAX prints another message after one of this kind, about the same program.
  static bool GoesOn(JaxLogLine::Kind kind) {
    return kind == JaxLogLine::kCompiling || kind == JaxLogLine::kPersistentMiss ||
           kind == JaxLogLine::kPersistentHit || kind == JaxLogLine::kWritten ||
           kind == JaxLogLine::kNotWritten;
  }

  // Returns whether the last line is one of JAX's and stops before its words show that it is whole.
  // A line of an explanation never shows that: `train.py:6` may be left of `train.py:61`.
  bool IsTorn(const Speaker& speaker, std::string_view text,
              const std::optional<JaxLogLine>& line) const {
    if (line) {
      return line->inputs_cut || line->kind == JaxLogLine::kExplanation ||
             (line->kind == JaxLogLine::kCompiling && compiling_ends_with_point_ &&
              !text.ends_with('.'));
    }
    // A program may itself print the first letters of such words.
    constexpr size_t kSureBytes = 10;
    if (BeginsJaxLogLine(text) || EndsInJaxLogWords(text, kSureBytes)) return true;
    if (const auto rest = prefixes_.RestAfter(text);
        rest && (rest->empty() || EndsInJaxLogWords(*rest, rest->size())))
      return true;
    if (!speaker.explaining) return false;
    const JaxExplanationReader& reader = speaker.explaining->reader;
    return !reader.IsWhole() || JaxExplanationReader(reader).Take(text);
  }

  void Take(std::string_view whole) {
    const auto [label, text] = labels_.Of(whole);
    Speaker& speaker = SpeakerOf(label);
    std::optional<JaxLogLine> line = ParseJaxLogLine(text);
    if (line || !Trim(text).empty()) goes_on_.reset();
    if (line && GoesOn(line->kind)) goes_on_ = {lines_.offset(), lines_.number()};
    if (IsLast(text) && IsTorn(speaker, text, line)) {
      log_.cut = {lines_.offset(), lines_.number()};
      if (!line || line->kind == JaxLogLine::kExplanation) return;
    }
    if (!line) {
      if (!speaker.explaining) return;
      if (!speaker.explaining->reader.Take(text)) EndExplanation(speaker, /*by_others=*/true);
      return;
    }
    EndExplanation(speaker);
    const std::string_view prefix = text.substr(0, line->begin), message = text.substr(line->begin);
    // Python's warnings have a prefix of their own.
    const bool is_warning = line->why == NotStored::kWriteFailed && last_origin_ >= 0;
    const int origin = is_warning ? last_origin_ : ProcessOf(label, prefix);
    last_origin_ = origin;
    prefixes_.Note(prefix);
    if (line->kind == JaxLogLine::kCompiling) compiling_ends_with_point_ = text.ends_with('.');
    State& state = StateOf(origin);
    if (line->kind == JaxLogLine::kExplanation) {
      // Whether it is repeated is known at its end.
      speaker.explaining =
          Explaining{JaxExplanationReader(message.substr(kExplanationMark.size())),
                     std::string(prefix), origin, lines_.offset(), lines_.number()};
      return;
    }
    if (state.repeats.IsRepeated(prefix, message, line->is_exact)) {
      ++log_.repeated;
      return;
    }
    ++log_.messages;
    switch (line->kind) {
      case JaxLogLine::kExplanation:
        break;
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
        LookUp(state, origin, *line);
        break;
      case JaxLogLine::kWritten:
      case JaxLogLine::kNotWritten:
        cache_.Complete(*line, origin);
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

  Speaker& SpeakerOf(std::string_view label) {
    const auto found = speakers_.find(label);
    return found != speakers_.end() ? found->second : speakers_[std::string(label)];
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
    AddJaxShardings(line.mapping, &compile.inputs);
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
    state.compiles.push_back(log_.compiles.size());
    log_.compiles.push_back(std::move(compile));
    return log_.compiles.back();
  }

  // Takes what the persistent cache answered. It knows programs by the names of their modules.
  void LookUp(State& state, int origin, const JaxLogLine& line) {
    const bool is_hit = line.kind == JaxLogLine::kPersistentHit;
    const TextPosition place{lines_.offset(), lines_.number()};
    if (!state.open.empty()) {
      const auto asks = std::find_if(state.open.rbegin(), state.open.rend(), [&](size_t index) {
        return IsModuleOf(line.function, log_.compiles[index].function);
      });
      const size_t compile = asks == state.open.rend() ? state.open.back() : *asks;
      log_.compiles[compile].persistent_hit = is_hit;
      cache_.Add(line, origin, int(compile), place);
    } else if (line.key.empty() || keys_.emplace(origin, line.key).second) {
      // If the same program comes again, it belongs to another run, because a process looks for it
      // once.
      looked_up_.push_back({.lookup = cache_.size(),
                            .compile = {.origin = origin,
                                        .offset = place.offset,
                                        .line = place.line,
                                        .function = std::string(FunctionOfModule(line.function)),
                                        .inputs = {},
                                        .input_count = {},
                                        .trace_ns = {},
                                        .dur_ns = {},
                                        .persistent_hit = is_hit,
                                        .inferred = true}});
      cache_.Add(line, origin, /*compile=*/-1, place);
    }
  }

  State& StateOf(int process) {
    return states_.try_emplace(process, State{.repeats = RepeatedRecords(begins_with_repeats_)})
        .first->second;
  }

  // Returns the open compile of that function, or a new one if its beginning is not in the log.
  JaxCompile& Find(State& state, int origin, const JaxLogLine& line) {
    for (size_t index : state.open) {
      JaxCompile& compile = log_.compiles[index];
      if (compile.function == line.function) return compile;
    }
    return Begin(state, origin, line);
  }

  // With `by_others`, a line that is not JAX's ends the explanation, and JAX's hint may come after
  // that line.
  void EndExplanation(Speaker& speaker, bool by_others = false, bool is_cut = false) {
    if (!speaker.explaining) return;
    Explaining explaining = *std::move(speaker.explaining);
    speaker.explaining.reset();
    JaxExplanation said = std::move(explaining.reader).Finish();
    int& process = explaining.origin;
    const std::string message =
        fmt::format("{}{}\n{}", kExplanationMark, said.call_text, said.words);
    if (StateOf(process).repeats.IsRepeated(explaining.prefix, message, /*is_exact=*/false,
                                            is_cut)) {
      ++log_.repeated;
      return;
    }
    ++log_.messages;
    // Until 0.5, JAX says how long tracing took, and does not say what the persistent cache answered.
    explains_look_ups_ |= !said.trace_ns && !is_cut;
    if (!by_others && IsOfAnotherProcess(StateOf(process), said))
      process = NextProcess(process, said.call_text);
    State& state = StateOf(process);
    if (said.never_seen) state.new_at.try_emplace(said.call_text, state.compiles.size());
    // A new function object at the place of an earlier one is that function, defined again. JAX
    // itself compares the place of the call.
    if (said.never_seen && !said.defined_at.empty() && !said.is_operation()) {
      const auto [known, is_first] =
          defined_[process].try_emplace(said.function + said.defined_at, said.object_id);
      said.redefined |= !is_first;
      said.same_object = !is_first && !said.object_id.empty() && known->second == said.object_id;
      known->second = said.object_id;
    }
    // Older versions print __qualname__, all other messages __name__.
    std::string name = said.function.substr(said.function.rfind('.') + 1);
    Pending& pending = PendingOf(state, name);
    pending.offset = explaining.offset, pending.line = explaining.line;
    if (said.trace_ns && !pending.trace_ns) pending.trace_ns = said.trace_ns;
    pending.said = int(log_.explanations.size());
    said_at_.push_back({process, explaining.offset, explaining.line});
    log_.explanations.push_back(std::move(said));
  }

  // Finds out whether JAX's caches were cleared: functions that it had seen are new to it. Python may
  // make a new lambda or inner function where an old one was, so one of a library must be among them,
  // or two others.
  void FindClearedCaches() {
    std::map<int, std::set<std::string>> again;  // by process: functions that came again
    std::set<int> cleared;
    for (size_t i = 0; i < log_.explanations.size(); ++i) {
      const JaxExplanation& said = log_.explanations[i];
      if (!said.same_object || said.definition_makes_it()) continue;
      std::set<std::string>& functions = again[said_at_[i].origin];
      functions.insert(said.function + said.defined_at);
      if (functions.size() >= 2 || !IsUserFile(SourcePlace::Parse(said.defined_at).file))
        cleared.insert(said_at_[i].origin);
    }
    for (size_t i = 0; i < log_.explanations.size(); ++i) {
      JaxExplanation& said = log_.explanations[i];
      said.caches_cleared = said.same_object && cleared.contains(said_at_[i].origin);
    }
  }

  // Makes a compile of each miss, for logs of jax_explain_cache_misses alone.
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

  struct SaidAt {
    int origin = 0;
    int64_t offset = 0, line = 0;
  };
  static constexpr std::string_view kExplanationMark = "TRACING CACHE MISS at ";
  const LogTexts& lines_;
  JaxLogLabels labels_;
  const char* end_;  // end of the file
  const bool begins_with_repeats_;
  JaxLog log_;
  JaxCacheLog cache_;
  int last_origin_ = -1;            // the process of the last message
  bool explains_look_ups_ = false;  // this version explains misses of the persistent cache, too
  std::map<int, State> states_;     // by process
  // By process: the last object with the name and place of each function.
  std::map<int, std::map<std::string, std::string>> defined_;
  std::map<std::string, Speaker, std::less<>> speakers_;  // by label
  bool saw_compiles_ = false, saw_ends_ = false;
  LinePrefixes prefixes_;                   // of all messages
  bool compiling_ends_with_point_ = false;  // `Compiling` with its types, as this version prints it
  // Place of the last line, if it is a message after which JAX prints another one.
  std::optional<TextPosition> goes_on_;
  std::vector<SaidAt> said_at_;  // place of each explanation
  // Look-ups in the persistent cache outside of a compilation. If the log has nothing else
  // (jax_debug_log_modules of the compiler alone), each is a compilation.
  struct LookedUp {
    size_t lookup = 0;  // its number in `cache_`
    JaxCompile compile;
  };
  std::vector<LookedUp> looked_up_;
  std::set<std::pair<int, std::string>> keys_;  // keys of these, by origin
};

JaxLogParser::JaxLogParser(std::string_view bytes, const LogTexts& texts)
    : impl_(std::make_unique<Impl>(bytes, texts)) {}
JaxLogParser::~JaxLogParser() = default;
void JaxLogParser::Take() { impl_->Take(); }
JaxLog JaxLogParser::Finish() && { return impl_->Finish(); }

}  // namespace xlaprof

#include "analyzers/recompilation.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "analyzers/quantity.h"
#include "analyzers/recompile/function_part.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/words/compilation.h"
#include "analyzers/words/ranks.h"
#include "analyzers/words/recompile_change.h"

namespace xlaprof {
namespace {

// Returns the site's name for readers: `train_step`, "train step", "the graph cut at train.py:7".
std::string Name(const RecompileSite& site) {
  if (!site.function.empty()) return FunctionText(site.function);
  const bool is_read = site.cut == CutKind::kValueAccess;
  if (is_read && !site.place.empty()) return fmt::format("the read at {}", site.place.ShortText());
  if (!site.step_name.empty() && !is_read)
    return site.step_name.ends_with("step") ? site.step_name : site.step_name + " step";
  if (!site.place.empty())
    return fmt::format("{} at {}",
                       site.cut == CutKind::kEagerOperation ? "the operation" : "the graph cut",
                       site.place.ShortText());
  return is_read ? "a read before the step mark" : "the step";
}

// Returns whether the site's name for readers is its place.
bool NamesItsPlace(const RecompileSite& site) {
  if (!site.function.empty() || site.place.empty()) return false;
  return site.cut == CutKind::kValueAccess || site.step_name.empty();
}

// Returns the usual name of the source that shows a cause; "" for kNothing.
std::string_view Name(SeenIn seen_in, Framework framework) {
  switch (seen_in) {
    case SeenIn::kNothing:
      return "";
    case SeenIn::kHlo:
      return "the HLO dump";
    case SeenIn::kStablehlo:
      return framework == Framework::kTorchtpu ? "TorchTPU's StableHLO" : "the StableHLO dump";
    case SeenIn::kIrDump:
      return framework == Framework::kCpp ? "the graph" : "the IR dump";
    case SeenIn::kOperations:
      return "TorchTPU's list of operations";
    case SeenIn::kOptimizedHlo:
      return "the optimised HLO";
    case SeenIn::kSignature:
      return "the log's list of inputs";
    case SeenIn::kJaxExplanation:
      return "JAX's own explanation";
    case SeenIn::kCacheKey:
      return "the program's key in the log";
    case SeenIn::kGuard:
      return "PyTorch's own reason";
  }
  return "";
}

std::string_view Name(TimeSource source) {
  switch (source) {
    case TimeSource::kMetrics:
      return "the metrics";
    case TimeSource::kMetricsShare:
      return "equal shares of the metrics' deltas";
    case TimeSource::kProfile:
      return "the profile";
    case TimeSource::kLog:
      return "the log's times";
    case TimeSource::kRecorded:
      return "the recording";
    case TimeSource::kUnknown:
      break;
  }
  return "the capture";
}

std::string_view Name(StepsFrom from) {
  switch (from) {
    case StepsFrom::kNothing:
      break;
    case StepsFrom::kSteps:
      return "steps";
    case StepsFrom::kStepEndingExecutions:
      return "step-ending executions";
    case StepsFrom::kExecutions:
      return "executions";
  }
  return "";
}

std::string Title(const RecompileFigures& figures, int64_t compiles, const std::string& change,
                  const std::optional<OnlyRanks>& ranks) {
  const int64_t loaded = figures.cost.loaded;
  std::string title =
      figures.may_be_one_step
          ? fmt::format("{} only in sizes from {} compiled before",
                        compiles == 1 ? "a program differs"
                                      : fmt::format("{} programs differ", CountText(compiles)),
                        compiles == 1 ? "one" : "others")
      : figures.is_only_loaded
          ? fmt::format("{} was traced again {}, and its programs came from a cache: {}",
                        Name(figures.site), TimesText(compiles), change)
      : loaded > 0
          ? fmt::format("{} recompiled {}, and was loaded from a cache {}: {}", Name(figures.site),
                        TimesText(compiles), TimesText(loaded), change)
          : fmt::format("{} recompiled {}: {}", Name(figures.site), TimesText(compiles), change);
  if (figures.processes > 1 && !ranks)
    title += fmt::format(" (in each of {} processes)", figures.processes);
  return title + RanksText(ranks);
}

// Returns the text of a note.
struct NoteText {
  SeenIn seen_in;
  Framework framework;
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const note::OnePartitioned&) const {
    return "devices exchange data in only one of the two programs, and its shapes are those of one device's part";
  }
  std::string operator()(const note::ViewReads& view) const {
    // The lazy runtime knows the line that took the view.
    if (framework == Framework::kCpp)
      return fmt::format("the view is of a value that is recorded at {}", view.place.text());
    return fmt::format(
        "a view is recorded where it is used, and it reads a value that is recorded nearby, at {}",
        view.place.text());
  }
  std::string operator()(const note::SameInputTypes&) const {
    return "the log shows inputs of the same types as before, so the cause may be a static argument, a function that is defined again, another configuration, a cleared cache, or another run in the same log";
  }
  std::string operator()(const note::AlikeButForThis&) const {
    return "the graphs otherwise print alike";
  }
  std::string operator()(const note::SameProgram&) const {
    return "a program with the same operations and shapes was compiled before, so the cause may be a function that is jitted again at each call, another structure of arguments, a static argument, a weak type, another sharding, a jax.config setting, a cleared cache, or several processes in one folder";
  }
  std::string operator()(const note::CompiledTwiceInARow&) const {
    return "the same graph was compiled just before, so it was not evicted to make room; the cause may be processes that share one log, another device, or a cache that the program cleared";
  }
  std::string operator()(const note::OtherSizeOfInputs&) const {
    return "the log shows as many inputs and results as before, but another total size of the inputs";
  }
  std::string operator()(const note::OtherNumberOfResults&) const {
    return "the log shows as many inputs as before, but another number of results";
  }
  std::string operator()(const note::SameCounts&) const {
    return "the log shows as many inputs and results as before, of the same size as far as it prints them, so the cause may be a number, an index or an op that is baked into the graph, or a small shape";
  }
  std::string operator()(const note::PrintAlike& alike) const {
    std::string text = fmt::format(
        "{} prints the same nodes under another hash, with as many inputs, results and donated bytes as far as is known",
        Name(seen_in, framework));
    for (const note::PrintAlike::Node& node : alike.candidates) {
      text += &node == &alike.candidates.front()
                  ? "; the difference, which it does not print, may be in: "
                  : "; ";
      text += fmt::format("{} {}", node.op, node.shape);
      if (!node.place.empty())
        text += fmt::format(" {} {}", node.near ? "near" : "at", node.place.text());
    }
    return text;
  }
  std::string operator()(const note::GrowsWithoutStepMark& grows) const {
    return fmt::format(
        "no step is marked, so each graph holds the steps before it too: {} nodes in the first, {} in the last",
        grows.first_nodes, grows.last_nodes);
  }
  std::string operator()(const note::OthersSince& since) const {
    if (since.others >= since.kept)
      return framework == Framework::kCpp
                 ? fmt::format(
                       "at least as many other graphs were compiled since as the runtime keeps ({})",
                       since.kept)
                 : fmt::format(
                       "at least as many other graphs were compiled since as torch_xla keeps ({})",
                       since.kept);
    return fmt::format(
        "only {} compiled since, fewer than the {} that torch_xla keeps by default: a smaller XLA_COMPILATION_CACHE_SIZE, a cache that the program cleared, another device, or processes that share one log",
        Plural(since.others, "other graph was", "other graphs were"), since.kept);
  }
  std::string operator()(const note::OtherInputs&) const { return ""; }
  std::string operator()(const note::CachesCleared&) const {
    return "functions that JAX had compiled are new to it, which only clearing its caches explains";
  }
  std::string operator()(const note::OtherCounts& counts) const {
    const bool counts_results = counts.results && counts.results_before;
    const std::string text =
        counts_results
            ? fmt::format("its graph has {} inputs and {} results, the one before had {} and {}",
                          counts.inputs, *counts.results, counts.inputs_before,
                          *counts.results_before)
            : fmt::format("its graph has {} inputs, the one before had {}", counts.inputs,
                          counts.inputs_before);
    const int64_t difference = counts.inputs - counts.inputs_before;
    if (framework != Framework::kPytorchXla || !counts_results ||
        counts.results != counts.results_before || std::abs(difference) > 2)
      return text;
    return text +
           "; a number may have become 0, 1 or equal to another, or no longer be so, because such numbers are no inputs of their own";
  }
  std::string operator()(const note::DefinedAt& defined) const {
    if (defined.makes_the_object)
      return fmt::format("it is defined anew each time at {}", defined.place);
    return fmt::format(
        "the code in it is defined at {}; JAX's log shows the line of the call, not the one that makes the object, which is often a functools.partial or another jax.jit around that function",
        defined.place);
  }
  std::string operator()(const note::OtherLoopBody&) const {
    return "its inputs have the same types as before, so its body is another function object, or the caches were cleared";
  }
  std::string operator()(const note::OnlyStaticArgumentsAreLeft&) const {
    return "this is inferred: the inputs have the same types as before, and JAX found no difference in structure, settings or types, so only the value of a static argument is left, which this version of JAX does not print";
  }
  std::string operator()(const note::NewState& state) const {
    return state.of_optimizer
               ? "the optimizer makes its state in the first step, and later steps read it as inputs"
               : "the first step makes this state, such as that of an optimizer, and later steps read it as inputs";
  }
  std::string operator()(const note::GrowingInputs& growing) const {
    const std::string more =
        fmt::format("the program takes {} more each time", Plural(growing.more, "input"));
    return growing.last > 0 ? fmt::format("{}, from {} to {}", more, growing.first, growing.last)
                            : more;
  }
  std::string operator()(const note::ScalarInputs& scalars) const {
    std::vector<std::string> places;
    for (const SourcePlace& place : scalars.places) places.push_back(place.text());
    return fmt::format(
        "the graphs otherwise print alike; numbers that may be equal are inputs at {}",
        fmt::join(places, ", "));
  }
  std::string operator()(const note::JaxSays& jax) const {
    return fmt::format("JAX says: {}", jax.quote);
  }
  std::string operator()(const note::GuardSays& guard) const {
    return fmt::format("torch.compile says: {}", guard.quote);
  }
};

// Describes another change that happened at the same time: its item, its place and both values.
std::string Beside(const RecompileCause& cause) {
  std::string text = cause.input.empty() ? cause.Name() : "input " + cause.input;
  if (!cause.location.empty())
    text += fmt::format(" {} {}", cause.near ? "near" : "at", cause.location.text());
  if (!cause.before.empty() && !cause.after.empty())
    text += fmt::format(" ({} → {})", cause.before, cause.after);
  return text;
}

// Returns `text` with a capital letter and a full stop, or "" for "".
std::string Sentence(std::string text) {
  if (text.empty()) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  if (!text.ends_with('.')) text += '.';
  return text;
}

std::string Why(const RecompileFigures& figures, int64_t compiles, Framework framework) {
  const RecompileCause& cause = figures.cause;
  std::string note = std::visit(NoteText{cause.seen_in, framework}, cause.note);
  if (figures.from_sizes > 0)
    note += fmt::format(
        "{}for {} of {} compiles no graph was captured; the sizes in the log say the same",
        note.empty() ? "" : "; ", figures.from_sizes, compiles);
  if (figures.carried > 0)
    note += fmt::format(
        "{}for {} of {} compiles no graph was captured; their counts and sizes in the log are equal to those of the others, so the cause is likely the same, which was seen {}",
        note.empty() ? "" : "; ", figures.carried, compiles,
        TimesText(compiles - int64_t(figures.carried)));
  // Otherwise the note says it.
  const bool shown = (!cause.Name().empty() || note.empty()) &&
                     !std::holds_alternative<note::OnlyStaticArgumentsAreLeft>(cause.note);
  std::vector<std::string> sentences;
  if (cause.seen_in != SeenIn::kNothing && shown)
    sentences.push_back(Sentence(fmt::format("{} shows it", Name(cause.seen_in, framework))));
  if (!cause.library.empty())
    sentences.push_back(
        fmt::format("A library recorded this op, at {}.", TextInPackage(cause.library)));
  if (!note.empty()) sentences.push_back(Sentence(std::move(note)));
  if (!figures.in_steps.empty()) {
    std::vector<std::string> steps;
    for (const int64_t step : figures.in_steps) steps.push_back(fmt::to_string(step));
    sentences.push_back(fmt::format("It recompiled in {} {}.",
                                    steps.size() == 1 ? "step" : "the steps", ListText(steps)));
  }
  if (figures.mask) {
    const Subject& mask = *figures.mask;
    sentences.push_back(fmt::format(
        "The size comes from {}{}: the size of its result depends on the values of its input.",
        mask.op.value_or("an op"),
        mask.file ? fmt::format(" at {}", mask.place().ShortText()) : ""));
  }
  if (figures.parts > 1 && !figures.may_be_one_step) {
    std::vector<std::string> lines;
    for (const auto& seen : figures.evidence) {
      if (!seen) continue;
      for (const auto& [place, times] : seen->other_lines) lines.push_back(place.ShortText());
    }
    sentences.push_back(fmt::format(
        "Each change compiles {} graphs of the step{}.", figures.parts,
        lines.empty() ? "" : fmt::format(", also with operations of {}", ListText(lines))));
  }
  if (!figures.scalar_places.empty()) {
    std::vector<std::string> places;
    for (const auto& [place, times] : figures.scalar_places)
      places.push_back(fmt::format("{} ({})", place.ShortText(), TimesText(times)));
    sentences.push_back(fmt::format("The numbers are at {}.", ListText(places)));
  }
  if (!figures.beside.empty()) {
    std::vector<std::string> beside;
    for (const RecompileCause& other : figures.beside) beside.push_back(Beside(other));
    sentences.push_back(
        Sentence(fmt::format("the same compiles also changed {}", fmt::join(beside, "; "))));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

// Returns "compile 3 times" or "compile 2 times and to load it once". `compiles` does not count loads,
// unless all are.
std::string WorkText(const RecompileFigures& figures, int64_t compiles) {
  if (figures.is_only_loaded) return fmt::format("trace and load it {}", TimesText(compiles));
  std::string text = fmt::format("compile {}", TimesText(compiles));
  if (figures.cost.loaded > 0)
    text += fmt::format(" and to load it {}", TimesText(figures.cost.loaded));
  return text;
}

std::string CostNote(const RecompileFigures& figures, int64_t compiles, Framework framework) {
  const RecompileCost& cost = figures.cost;
  const int64_t all = figures.is_only_loaded ? compiles : compiles + cost.loaded;
  if (cost.timed == 0) {
    if (framework == Framework::kTorchtpu)
      return "not measured, because TORCH_TRACE does not time compilation; the log of TF_CPP_VMODULE=compilation_cache=2 does";
    if (figures.cause.seen_in == SeenIn::kGuard)
      return "not measured, because the log of TORCH_LOGS does not time compilations; TORCH_TRACE=DIR does";
    return cost.trace_ns > 0
               ? "time of tracing them on the host; the log does not time XLA"
               : "not measured, because no source times these compiles; a profile or XLA_METRICS_FILE would";
  }
  std::set<std::string_view> sources;
  for (TimeSource source : cost.sources) sources.insert(Name(source));
  const std::string from = fmt::format(
      "{}{}", fmt::join(sources, " and "),
      cost.sources.contains(TimeSource::kMetricsShare) ? ", if all compiles take equally long" : "");
  std::string note =
      cost.timed == static_cast<size_t>(all)
          ? fmt::format("to {}, from {}", WorkText(figures, compiles), from)
          : fmt::format("to compile {} of {} times, from {}; the others were not measured",
                        cost.timed, all, from);
  if (cost.trace_ns > 0)
    note +=
        fmt::format("; {} of it is tracing and lowering on the host", DurationText(cost.trace_ns));
  if (!cost.phases_ns.empty()) {
    std::vector<std::string> parts;
    for (const auto& [phase, ns] : cost.phases_ns)
      parts.push_back(fmt::format("{} {}", Name(phase), DurationText(ns)));
    note += fmt::format(" ({})", fmt::join(parts, ", "));
  }
  if (cost.first_executions_ns > 0)
    note += fmt::format("; for {} of it, first executions took longer than later ones",
                        DurationText(cost.first_executions_ns));
  if (!cost.profile_share) return note;
  const double percent = 100 * *cost.profile_share;
  const std::string profile = DurationText(*cost.profile_ns);
  if (cost.is_of_process)
    return note + fmt::format("; {} % of the {} that the process ran",
                              percent < 0.5 ? "under 1" : fmt::format("{:.0f}", percent), profile);
  if (cost.in_profile == cost.timed)
    return note + fmt::format("; {:.0f} % of the {} that the profile timed", percent, profile);
  return note + fmt::format("; the profile covers {} of them, {:.0f} % of its {}", cost.in_profile,
                            percent, profile);
}

std::string SavingNote(const RecompileFigures& figures) {
  switch (figures.saving) {
    case RecompileSaving::kNone:
      break;
    case RecompileSaving::kByPadding: {
      const PaddingChoice& padding = *figures.padding;
      return fmt::format(
          "padding to {} saves {} of {}{}; the padded elements ({:.0f} % more{}) cost device time that is not counted here",
          SizeList(padding.buckets.buckets), Plural(padding.saved, "compile"),
          DurationText(padding.compile_ns), padding.saved == 1 ? "" : " each",
          100 * padding.buckets.extra_work, IfSizesAreEquallyFrequent(*figures.sizes));
    }
    case RecompileSaving::kAll:
      // A value on which the code branches or loops needs a program of its own.
      if (figures.cause.seen_in == SeenIn::kGuard &&
          figures.cause.type == ReasonType::kConstantChange)
        return "all of these compiles, if one program can serve all values";
      return figures.cost.loaded > 0
                 ? "all of this tracing and compiling, if one program serves every step; the time to load programs is not counted"
                 : "all of these compiles, if one program serves every step";
  }
  return "";
}

std::string EvidenceLine(const std::optional<CompilesSeen>& seen) {
  if (!seen) return "the two graphs that were compared";
  std::string line = fmt::format("{} of {} compiles here", seen->compiles, seen->at_site);
  if (seen->steps_from != StepsFrom::kNothing)
    line += fmt::format("; {} {} seen", seen->steps, Name(seen->steps_from));
  for (const auto& [place, compiles] : seen->other_lines)
    line += fmt::format("{} {} ({})",
                        &place != &seen->other_lines.front().first ? ","
                        : seen->has_parts                          ? "; also at"
                                                                   : "; also called at",
                        place.text(), compiles);
  return line;
}

// Returns "; ran 6 times with 64, once with 48", for programs of torch.compile, whose executions are
// counted by program.
std::string ExecutionsOfSizes(const RecompileFigures& figures) {
  constexpr size_t kMostSizes = 8;
  if (figures.cause.seen_in != SeenIn::kGuard || !figures.sizes || figures.processes > 1) return "";
  const SizesSeen& sizes = *figures.sizes;
  std::string text;
  for (size_t i = 0; i < std::min(sizes.times.size(), kMostSizes); ++i)
    text += fmt::format("{} {} with {}", i == 0 ? "; ran" : ",", TimesText(sizes.times[i]),
                        fmt::join(sizes.sizes[i], "×"));
  return sizes.times.size() > kMostSizes ? text + " and others" : text;
}

Words SayRecompile(const Finding& finding, const RecompileFigures& figures, Framework framework) {
  const int64_t compiles = *finding.count;
  ChangeWords change = SayChange(figures, framework);
  const auto* new_state = std::get_if<note::NewState>(&figures.cause.note);
  const bool is_new_state = new_state != nullptr;
  if (is_new_state)
    change.what =
        new_state->of_optimizer
            ? "the state that the optimizer made in the first step is an input of the later graph"
            : "tensors that the first step made are inputs of the later graph";
  if (figures.may_be_other_programs) {
    change.advice =
        "These files do not name the places that compile, so these may be other programs, such as an evaluation, which compile once each.";
    change.unseen = Unseen{"the places"};
  }
  if (figures.may_be_one_step) {
    change.advice =
        "These files do not show the steps, so each step may run all of these programs, as a model with layers of several sizes does, or the sizes may change from step to step.";
    change.unseen = Unseen{"which"};
  }
  // A value that the code computes, and what a graph break leaves to the function that Dynamo makes of the
  // rest, are no state that the first step made.
  const bool is_state = figures.cause.type != ReasonType::kConstantChange &&
                        !figures.site.function.starts_with("torch_dynamo_resume_in_");
  const bool is_clean_start = finding.reason->state == State::kWarmUp && is_state &&
                              !figures.cause.is_weak_type();
  if (is_clean_start || is_new_state) {
    change.advice =
        "Nothing needs to change. A clean program compiles like this in its first steps, because state that the first step makes becomes an input.";
    change.unseen.reset();
  }
  Words words{.title = Title(figures, compiles, change.what, finding.only_ranks),
              .why = Why(figures, compiles, framework),
              .cost_note = CostNote(figures, compiles, framework),
              .saving_note = SavingNote(figures),
              .advice = std::move(change.advice),
              .unseen = std::move(change.unseen),
              .tells_share = figures.cost.profile_share.has_value(),
              .names_place = NamesItsPlace(figures.site) && !finding.subject.scope &&
                             finding.subject.place().ShortText() == figures.site.place.ShortText()};
  for (const auto& seen : figures.evidence) words.evidence.push_back(EvidenceLine(seen));
  if (!words.evidence.empty()) words.evidence.front() += ExecutionsOfSizes(figures);
  return words;
}

}  // namespace

Words SayRecompilation(const Finding& finding, Framework framework) {
  if (finding.figures.type() == typeid(CountFigures)) return SayRecompileCounts(finding, framework);
  if (finding.figures.type() == typeid(OutsideJitFigures)) return SayOutsideJit(finding, framework);
  if (finding.figures.type() == typeid(DynamoFigures)) return SayDynamo(finding);
  return SayRecompile(finding, std::any_cast<const RecompileFigures&>(finding.figures), framework);
}

}  // namespace xlaprof

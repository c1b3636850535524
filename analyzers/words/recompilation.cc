#include "analyzers/recompilation.h"

#include <algorithm>
#include <cctype>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// Returns what compiled, as a reader calls it: `train_step`, "train step", "the graph cut at
// train.py:7".
std::string Name(const RecompileSite& site) {
  if (!site.function.empty()) return fmt::format("`{}`", site.function);
  const bool is_read = site.cut == CutKind::kValueAccess;
  if (is_read && !site.place.empty()) return fmt::format("the read at {}", site.place.ShortText());
  if (!site.step_name.empty() && !is_read)
    return site.step_name.ends_with("step") ? site.step_name : site.step_name + " step";
  if (!site.place.empty()) return fmt::format("the graph cut at {}", site.place.ShortText());
  return is_read ? "a read before the step mark" : "the step";
}

// Returns whether the site's name, as a reader calls it, is its place.
bool NamesItsPlace(const RecompileSite& site) {
  if (!site.function.empty() || site.place.empty()) return false;
  return site.cut == CutKind::kValueAccess || site.step_name.empty();
}

// Returns what the readers of a capture call the thing that shows a cause; "" for nothing.
std::string_view Name(SeenIn seen_in, Framework framework) {
  switch (seen_in) {
    case SeenIn::kNothing:
      return "";
    case SeenIn::kHlo:
      return "the HLO dump";
    case SeenIn::kStablehlo:
      return "the StableHLO dump";
    case SeenIn::kIrDump:
      return framework == Framework::kCpp ? "the graph" : "the IR dump";
    case SeenIn::kOptimizedHlo:
      return "the optimised HLO";
    case SeenIn::kSignature:
      return "the log's list of inputs";
    case SeenIn::kJaxExplanation:
      return "JAX's own explanation";
  }
  return "";
}

std::string_view Name(TimeSource source) {
  switch (source) {
    case TimeSource::kMetrics:
      return "the metrics' deltas";
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

// The leading dimension of an input that has several is its batch nearly always.
std::string DimensionName(int dimension, size_t rank) {
  if (rank == 1) return "length";
  if (dimension == 0) return "batch dimension";
  return fmt::format("dimension {}", dimension);
}

// Returns "dimensions=" of dimensions={0} and "precision =" of precision = [HIGHEST], but "" of
// f32[]{weak_type=True}.
std::string KeyOf(const std::string& value) {
  const size_t sign = value.find('=');
  const bool named = sign != std::string::npos && sign > 0 &&
                     std::all_of(value.begin(), value.begin() + ptrdiff_t(sign), [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ' ';
                     });
  return named ? value.substr(0, sign + 1) : "";
}

std::string Short(std::string text) {
  constexpr size_t kLongest = 48;
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

// Returns "a → b → c".
std::string Values(const std::vector<std::string>& values) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    std::string value = values[i];
    const std::string key = KeyOf(values[0]);  // once is enough
    if (i > 0 && value.starts_with(key)) value = value.substr(key.size());
    text += (i == 0 ? "" : " → ") + Short(std::move(value));
  }
  if (values.size() > kShown) text += " → ...";
  return text;
}

// Returns the caveat that is due where nobody counted how often each size came.
std::string_view IfSizesAreEquallyFrequent(const SizesSeen& sizes) {
  return sizes.times.empty() ? " if all sizes are equally frequent" : "";
}

// What changed, behind the site's name in the title, and what to write instead.
struct ChangeWords {
  std::string what, advice;
};

ChangeWords OfShapes(const RecompileFigures& figures, bool cpp) {
  const std::optional<SizesSeen>& sizes = figures.sizes;
  if (!figures.padding) {
    return {
        sizes ? fmt::format("the shape of input {} changes ({})", sizes->shape.text(),
                            Values(figures.values))
              : "the size of its inputs changes",
        fmt::format(
            "Give this input few different shapes: pad it to one size or to a few buckets, and mask what was added. {}.",
            cpp ? "Drop a smaller last batch"
                : "Use drop_last=True if only the last batch of an epoch differs")};
  }
  const auto& [largest, buckets, saved, compile_ns] = *figures.padding;
  const std::string dimension = DimensionName(*sizes->dimension, sizes->shape.rank());
  const std::string& input = figures.cause.input;
  ChangeWords words;
  words.what = fmt::format("{} of input {}{}{} changes ({})", dimension, input,
                           input.empty() ? "" : " ", sizes->shape.text(), SizeList(sizes->sizes));
  if (figures.is_rare_smaller_size)
    words.advice =
        cpp ? "Only a smaller last batch differs. Drop it, or pad it and mask the loss. "
            : "Only a smaller last batch differs. Drop it with drop_last=True in the DataLoader, or pad it and mask the loss. ";
  words.advice += fmt::format("Pad the {} of this input to {} (one program)", dimension,
                              largest.buckets.back());
  if (buckets.buckets.size() > 1 && saved > 0)
    words.advice += fmt::format(
        ", or to the buckets {} ({} programs, {:.0f} % more elements instead of {:.0f} %{})",
        SizeList(buckets.buckets), buckets.buckets.size(), 100 * buckets.extra_work,
        100 * largest.extra_work, IfSizesAreEquallyFrequent(*sizes));
  words.advice += *sizes->dimension == 0 ? ", and mask what was added out of the loss."
                                         : ", and mask what was added.";
  return words;
}

ChangeWords OfConstant(const RecompileFigures& figures, bool cpp) {
  const RecompileCause& cause = figures.cause;
  const std::string number =
      fmt::format("a number baked into {} changes ({})", cause.node, Values(figures.values));
  const std::string tensor =
      cpp ? "A C++ number is part of the graph. Pass it as a tensor that lives on the device, uploaded with Tensor::FromHost. 0 and 1 are always baked in; XLA_NO_SPECIAL_SCALARS=1 makes them inputs too."
          : "A Python number is part of the graph. Pass it as a tensor that lives on the device: torch.tensor(value, device=x.device), in JAX an argument of the jitted function. 0 and 1 are always baked in; XLA_NO_SPECIAL_SCALARS=1 makes them inputs too.";
  switch (cause.constant) {
    case ConstantKind::kScalarOrInput:
      return {"a scalar is a constant in some graphs and an input in others (0 and 1 are baked in)",
              tensor};
    case ConstantKind::kStaticArgument:
      return {
          fmt::format("{} changes ({})", cause.node, Values(figures.values)),
          "Each value of a static argument makes another program. Pass it as an ordinary argument (without static_argnums) if the function only computes with it, or use few values."};
    case ConstantKind::kCapturedArray:
      return {
          fmt::format("a captured array {} changes", cause.shape),
          "An array that the function captures is baked into the graph, so another one makes another program. Pass it as an argument of the function, in JAX of the jitted one."};
    case ConstantKind::kBound:
      return {
          number,
          cpp ? "A C++ number cuts this tensor, so each value makes another program. Keep the shape: compute on the whole tensor and mask, as in x * mask, or round the bound up to a few sizes."
              : "A Python number cuts this tensor, so each value makes another program. Keep the shape: compute on the whole tensor and mask, as in torch.where(torch.arange(n, device=x.device)[:, None] < torch.tensor(k, device=x.device), x, 0), or round the bound up to a few sizes."};
    case ConstantKind::kIndex:
      return {
          number,
          cpp ? "A C++ number selects this part, so each value makes another program. Make the index a tensor: index_select(x, 0, index)."
              : "A Python number selects this part, so each value makes another program. Make the index a tensor: torch.index_select(x, 0, torch.tensor([i], device=x.device)), in JAX jax.lax.dynamic_slice."};
    case ConstantKind::kNode:
      return {number, tensor};
    case ConstantKind::kInOp:
      break;
  }
  return {
      number,
      cpp ? "A C++ number or size is part of this op. Pass it as a tensor on the device (Tensor::FromHost), or use only a few values."
          : "A Python number or size is part of this op. Pass it as a tensor on the device (torch.tensor(value, device=...), in JAX an argument of the jitted function), or use only a few values."};
}

std::string OtherSetting(const RecompileFigures& figures) {
  const std::string& setting = figures.cause.node;
  const std::string values = Values(figures.values);
  if (setting.empty() && values.empty()) return "the same graph is compiled under another setting";
  return fmt::format("the same graph is compiled under another setting ({}{}{})", setting,
                     setting.empty() || values.empty() ? "" : ": ", values);
}

std::string OtherStructure(const RecompileFigures& figures) {
  const RecompileCause& cause = figures.cause;
  if (cause.node.empty() && !cause.before.empty())
    return fmt::format("it is called with other arguments ({})", Values(figures.values));
  return fmt::format("the structure of its inputs changes{}{}", cause.node.empty() ? "" : " at ",
                     cause.node);
}

// Returns the words of each reason: one row per type.
ChangeWords Change(const RecompileFigures& figures, bool cpp) {
  const RecompileCause& cause = figures.cause;
  const std::string values = Values(figures.values);
  switch (cause.type) {
    case ReasonType::kShapeChange:
      return OfShapes(figures, cpp);
    case ReasonType::kDtypeChange:
      return {fmt::format("the type of {} changes ({})",
                          cause.node == "parameter" ? "an input" : cause.Name(), values),
              "Convert this tensor to one type where it is made, before it reaches the device."};
    case ReasonType::kConstantChange:
      return OfConstant(figures, cpp);
    case ReasonType::kOpChange:
      return {
          fmt::format("its ops change ({})", values),
          cpp ? "The program takes another path in these steps (if, try, logging, evaluation). Compute the same ops in every step and select with where, or run both paths once at the start."
              : "The Python code takes another path in these steps (if, try, hooks, logging, evaluation). Compute the same ops in every step and select with torch.where, or run both paths once at the start."};
    case ReasonType::kLoopCountChange:
      return {
          fmt::format("a part of the graph ({}) is repeated {}", cause.node, values),
          cpp ? "A loop of the program is unrolled into the graph and runs a different number of times. Always run the largest number of iterations and mask (where), or cut the graph inside the loop (sync() in each iteration)."
              : "A Python loop is unrolled into the graph and runs a different number of times. Always run the largest number of iterations and mask (torch.where), cut the graph inside the loop (torch_xla.sync() in each iteration), or keep the loop on the device (torch_xla.experimental.scan, jax.lax.fori_loop)."};
    case ReasonType::kLiveTensorsChange:
      return {
          fmt::format("the set of tensors that are alive at the cut changes ({})", values),
          fmt::format(
              "Tensors that are still referenced at the cut become results of the graph. Keep the same tensors in each step: detach and read statistics only at fixed steps, {} before the step mark.",
              cpp ? "and release tensors" : "and drop references (del)")};
    case ReasonType::kParameterSharingChange:
      return {
          fmt::format("the same graph is called with other shared inputs ({})", values),
          fmt::format(
              "Two inputs share one buffer in some steps and not in others. Mostly these are scalars that become equal (lr == eps). Keep each in a tensor of its own{}.",
              cpp ? " (Tensor::FromHost)" : ": torch.tensor(value, device=...)")};
    case ReasonType::kDonationChange:
      return {
          fmt::format("the same graph, but other inputs are donated ({})", values),
          "The inputs that may be overwritten change. Update parameters in place in the same way in every step, and do not keep extra references to them in only some steps."};
    case ReasonType::kShardingChange:
      return {
          fmt::format("the sharding of {} changes ({})", cause.Name(), values),
          "Always put this input on the devices in the same way: jax.device_put with one sharding, or in_shardings of jax.jit."};
    case ReasonType::kCutKindChange:
      return {
          fmt::format("the same graph is cut in different ways ({})", values),
          "The same computation is cut once by a step mark and once by a read, and each is compiled separately. Cut it in one way: read values after the step mark."};
    case ReasonType::kEnvironmentChange:
      return {
          OtherSetting(figures),
          cause.seen_in == SeenIn::kJaxExplanation
              ? "Set jax.config values and enter context managers in the same way around each call."
              : "Set compiler flags and debug variables once, before the first step."};
    case ReasonType::kRedefinedFunction:
      return {
          "each call passes another function object",
          "Define and jit the function once, outside the loop. A new lambda, inner function, functools.partial or jax.jit(...) at each call is a new key in the cache. Pass the values that it captures as arguments."};
    case ReasonType::kInputStructureChange:
      return {
          OtherStructure(figures),
          "Pass the same containers, keys and keyword arguments in every call. An argument that is None in some calls needs a placeholder of the same shape."};
    case ReasonType::kCacheEviction:
      return {
          "a graph that was compiled before is no longer cached",
          "Make fewer different graphs (see the other recompilations), or raise XLA_COMPILATION_CACHE_SIZE."};
    case ReasonType::kUnprintedChange:
      return {
          "the graphs print alike but differ",
          cpp ? "Run again with XLA_SAVE_TENSORS_FMT=hlo in addition to XLA_SAVE_TENSORS_FILE, or record a profile that covers these compiles, because both print slice bounds and constants. Look first for C++ numbers used as index or bound."
              : "Run again with XLA_SAVE_TENSORS_FMT=hlo in addition to XLA_SAVE_TENSORS_FILE, or record a profile that covers these compiles, because both print slice bounds and constants. Look first for Python numbers used as index or bound."};
    case ReasonType::kNoStepMark:
      return {"its graph grows, as no step is marked",
              "See missing_step_mark: where each step is marked, its graph is compiled once."};
    default:  // unknown; the others are reasons of other kinds
      break;
  }
  const bool is_jax = figures.site.cut == CutKind::kCall || figures.site.cut == CutKind::kOperation;
  return {
      "nothing that was captured shows why",
      is_jax
          ? "To see why, run again with JAX_EXPLAIN_CACHE_MISSES=1 and JAX_LOG_COMPILES=1, or record a profile that covers these compiles."
          : "To see why, run again with XLA_SAVE_TENSORS_FILE=ir.txt, XLA_SAVE_TENSORS_FMT=hlo, XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1, or record a profile that covers these compiles."};
}

std::string Title(const RecompileFigures& figures, int64_t compiles, const std::string& change) {
  std::string title =
      fmt::format("{} recompiled {}: {}", Name(figures.site), TimesText(compiles), change);
  if (figures.processes > 1) title += fmt::format(" (in each of {} processes)", figures.processes);
  return title;
}

// Returns what a note says.
struct NoteText {
  SeenIn seen_in;
  Framework framework;
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const note::OnePartitioned&) const {
    return "devices exchange data in only one of the two programs, and its shapes are those of one device's part";
  }
  std::string operator()(const note::ViewReads& view) const {
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
  std::string operator()(const note::OtherCounts& counts) const {
    return fmt::format("the log shows {} inputs and {} results after {} and {}", counts.inputs,
                       counts.results, counts.inputs_before, counts.results_before);
  }
  std::string operator()(const note::DefinedAt& defined) const {
    return fmt::format("it is defined anew each time at {}", defined.place);
  }
  std::string operator()(const note::JaxSays& jax) const {
    return fmt::format("JAX says: {}", jax.quote);
  }
};

// Returns another change that came along: what, where, and both values.
std::string Beside(const RecompileCause& cause) {
  std::string text = cause.input.empty() ? cause.Name() : "input " + cause.input;
  if (!cause.location.empty())
    text += fmt::format(" {} {}", cause.near ? "near" : "at", cause.location.text());
  if (!cause.before.empty()) text += fmt::format(" ({} → {})", cause.before, cause.after);
  return text;
}

// Returns `text` with a capital and a full stop; "" of "".
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
  const bool shown = !cause.Name().empty() || note.empty();  // else the note says what was compared
  std::vector<std::string> sentences;
  if (cause.seen_in != SeenIn::kNothing && shown)
    sentences.push_back(Sentence(fmt::format("{} shows this", Name(cause.seen_in, framework))));
  if (!note.empty()) sentences.push_back(Sentence(std::move(note)));
  if (!figures.beside.empty()) {
    std::vector<std::string> beside;
    for (const RecompileCause& other : figures.beside) beside.push_back(Beside(other));
    sentences.push_back(Sentence(
        fmt::format("in the same compiles, these changed as well: {}", fmt::join(beside, "; "))));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string CostNote(const RecompileCost& cost, int64_t compiles) {
  if (cost.timed == 0) {
    return cost.trace_ns > 0
               ? "time of tracing them on the host; the log does not time XLA"
               : "not measured, because no source times these compiles; a profile or XLA_METRICS_FILE would";
  }
  std::set<std::string_view> sources;
  for (TimeSource source : cost.sources) sources.insert(Name(source));
  const std::string from = fmt::format("{}", fmt::join(sources, " and "));
  std::string note = cost.timed == static_cast<size_t>(compiles)
                         ? fmt::format("their compile time, from {}", from)
                         : fmt::format("compile time of the {} of {} that were measured, from {}",
                                       cost.timed, compiles, from);
  if (cost.trace_ns > 0)
    note +=
        fmt::format("; {} of it is tracing and lowering on the host", DurationText(cost.trace_ns));
  if (cost.loaded > 0)
    note += fmt::format("; {} of them {} loaded from the persistent cache", cost.loaded,
                        cost.loaded == 1 ? "was" : "were");
  if (!cost.profile_share) return note;
  const double percent = 100 * *cost.profile_share;
  const std::string profile = DurationText(*cost.profile_ns);
  if (cost.in_profile == cost.timed)
    return note + fmt::format("; {:.0f} % of the {} that the profile timed", percent, profile);
  return note + fmt::format("; {} of them {} inside the profile, {:.0f} % of its {}",
                            cost.in_profile, cost.in_profile == 1 ? "lies" : "lie", percent,
                            profile);
}

std::string SavingNote(const RecompileFigures& figures) {
  switch (figures.saving) {
    case RecompileSaving::kNone:
      break;
    case RecompileSaving::kByPadding: {
      const PaddingChoice& padding = *figures.padding;
      return fmt::format(
          "padding to {} saves {} of {} each; the padded elements ({:.0f} % more{}) cost device time that is not counted here",
          SizeList(padding.buckets.buckets), Plural(padding.saved, "compile"),
          DurationText(padding.compile_ns), 100 * padding.buckets.extra_work,
          IfSizesAreEquallyFrequent(*figures.sizes));
    }
    case RecompileSaving::kAll:
      return "all of these compiles, if one program serves every step";
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
                        &place == &seen->other_lines.front().first ? "; also called at" : ",",
                        place.text(), compiles);
  return line;
}

Words SayRecompile(const Finding& finding, const RecompileFigures& figures, Framework framework) {
  const int64_t compiles = *finding.count;
  ChangeWords change = Change(figures, framework == Framework::kCpp);
  if (finding.reason->state == State::kWarmUp)
    change.advice =
        "Nothing needs to change. A clean program compiles like this in its first steps, because state that the first step makes becomes an input.";
  Words words{.title = Title(figures, compiles, change.what),
              .why = Why(figures, compiles, framework),
              .cost_note = CostNote(figures.cost, compiles),
              .saving_note = SavingNote(figures),
              .advice = std::move(change.advice),
              .tells_share = figures.cost.profile_share.has_value(),
              .names_place = NamesItsPlace(figures.site) && !finding.subject.scope &&
                             finding.subject.place().ShortText() == figures.site.place.ShortText()};
  for (const auto& seen : figures.evidence) words.evidence.push_back(EvidenceLine(seen));
  return words;
}

}  // namespace

Words SayRecompilation(const Finding& finding, Framework framework) {
  if (finding.figures.type() == typeid(CountFigures)) return SayRecompileCounts(finding, framework);
  if (finding.figures.type() == typeid(OutsideJitFigures)) return SayOutsideJit(finding, framework);
  return SayRecompile(finding, std::any_cast<const RecompileFigures&>(finding.figures), framework);
}

}  // namespace xlaprof

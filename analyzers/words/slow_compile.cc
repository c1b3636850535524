// The words of slow_compile.
#include "analyzers/slow_compile.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/compilation.h"
#include "analyzers/words/in_terms_of.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Compilations with times

std::string SlowTitle(const SlowCompilation& figures, const Finding& finding) {
  if (figures.loop) {
    const int64_t graphs = *finding.count;
    return fmt::format("compiling {} turns of a loop as one graph took {}{}", figures.loop->turns,
                       DurationText(*finding.cost_ns),
                       graphs > 1 ? fmt::format(", for {} graphs", graphs) : "");
  }
  std::string title = fmt::format("compiling took {}", Describe(figures.compilation));
  if (figures.tracing.is_large)
    title += fmt::format(", and {} of tracing before it", DurationText(figures.tracing.ns));
  return title;
}

std::string OneOperationText(std::string_view operation) {
  return fmt::format(
      "Its name is that of a single JAX operation, {}. Its size is then not the cause: any program that was compiled first would have waited as long.",
      operation);
}

// Says how to compile only one turn of a loop. Marking steps suits a loop without gradients, in
// which one turn is a graph of its own.
std::string RollLoopAdvice(const UnrolledLines& loop, Framework framework) {
  const auto mark_each_turn = [&](std::string_view mark) {
    return fmt::format(
        "If no gradient is computed through the loop, call {} at the end of each turn. One turn is then compiled once and executed {} times, which costs as many launches. Pass numbers that change from turn to turn as tensors, because a number that becomes a constant gives each turn a graph of its own.",
        mark, loop.turns);
  };
  if (framework == Framework::kPytorchXla)
    return mark_each_turn(StepMarkCall(framework)) +
           " Otherwise write the loop with torch_xla.experimental.scan, so that its body is traced and compiled once.";
  if (framework == Framework::kCpp) return mark_each_turn("mark_step()");
  return framework == Framework::kJax
             ? "Write the loop with jax.lax.scan or jax.lax.fori_loop, so that its body is traced and compiled once."
             : "Write the loop as a loop of the program (scan or while), so that its body is compiled once.";
}

std::string PassArrayAdvice(Framework framework) {
  return fmt::format(
      "Pass the array to the compiled function as an argument, instead of capturing it from {}. Put it on the device once, before the first call.",
      framework == Framework::kJax ? "self, a module or a closure" : "the code around it");
}

// Joins sentences, of which some may be empty.
std::string Sentences(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) {
    if (!text.empty() && !one.empty()) text += " ";
    text += one;
  }
  return text;
}

// Says which array the program contains.
std::string ArrayText(const CapturedArray& array) {
  return fmt::format("The program contains an array {} of {} as a constant{}.", array.shape,
                     BytesText(double(array.bytes)),
                     array.place.empty() ? "" : ", which is read at " + array.place.text());
}

// Says which loop is unrolled.
std::string LoopText(const UnrolledLines& loop) {
  std::string text =
      loop.weight_shape.empty()
          ? fmt::format(
                "The graph contains an unrolled loop: the same operations occur {} times, most of them at {}.",
                loop.turns, loop.place.text())
          : fmt::format(
                "The graph contains an unrolled loop: {} multiplies with the same weights {} {} times.",
                loop.place.text(), loop.weight_shape, loop.turns);
  if (loop.body_nodes > 0)
    text += fmt::format(" One turn has {}, and all turns together are {:.0f} % of the graph.",
                        Plural(loop.body_nodes, "operation"), 100 * loop.share);
  return text;
}

// `loop` is known for kRollLoop.
std::string RemedyText(CompileRemedy remedy, Framework framework,
                       const std::optional<UnrolledLines>& loop = {}) {
  switch (remedy) {
    case CompileRemedy::kCacheAndSmallerGraph:
      return std::string(KeepCacheAdvice(framework));
    case CompileRemedy::kLessTracing:
      return LessTracingAdvice(framework);
    case CompileRemedy::kRollLoop:
      return RollLoopAdvice(loop.value_or(UnrolledLines()), framework);
    case CompileRemedy::kPassArray:
      return PassArrayAdvice(framework);
    case CompileRemedy::kFasterFirstUse:
      return "Look at what the first use of the device waits for: the driver's start (time nvidia-smi; persistence mode), kernels that are compiled for a GPU newer than the library (set CUDA_CACHE_PATH and a large CUDA_CACHE_MAXSIZE, or install a jaxlib for it), a host without free cores or memory, or a debug build of XLA.";
  }
  return "";
}

Words Say(const SlowCompilation& figures, const Finding& finding, Framework framework) {
  Words words{.title = SlowTitle(figures, finding),
              .why = figures.remedy == CompileRemedy::kFasterFirstUse
                         ? OneOperationText(figures.jax_operation)
                         : Sentences({figures.loop    ? LoopText(*figures.loop)
                                      : figures.array ? ArrayText(*figures.array)
                                                      : "",
                                      StepsText(figures.steps)}),
              .cost_note = (*finding.count > 1 ? "the first compilation of each of these graphs"
                                               : "the graph's first compilation") +
                           TracingNote(figures.tracing),
              .advice = RemedyText(figures.remedy, framework, figures.loop),
              .evidence = {Describe(figures.compilation)},
              .names_place = figures.compilation.place.has_value() && !figures.loop};
  if (finding.saving_ns)
    words.saving_note = fmt::format(
        "one turn is compiled instead of {}. This is an estimate, which assumes that each operation takes equally long to compile",
        figures.loop->turns);
  for (const TimedCompilation& other : figures.same_loop) words.evidence.push_back(Describe(other));
  return words;
}

// Says what the cost is, and how many of its times only follow from the sum of all.
std::string SharesNote(int64_t shares, int64_t graphs) {
  const std::string note = "the first compilation of each of these graphs";
  if (shares == 0) return note;
  return "about, if all compiles take equally long: " + note +
         (shares < graphs ? fmt::format("; no source timed {} of them", shares)
                          : "; no source timed one by itself");
}

Words Say(const CompilationsOfReads& figures, const Finding& finding, Framework framework) {
  const int64_t graphs = *finding.count;
  Words words{
      .title =
          fmt::format("compiling {} {}",
                      graphs == 1 ? "a graph that only this read needs took"
                                  : CountText(graphs) + " graphs that only these reads need took",
                      DurationText(*finding.cost_ns)),
      .why =
          "A read before the step mark evaluates a part of the graph early. That part is compiled as a graph of its own.",
      .cost_note = SharesNote(figures.shares, graphs),
      .saving_note = finding.saving_ns ? "the step's own graph contains the same nodes" : "",
      .advice = "Read the value after the step mark, when the step's graph has computed it."};
  if (figures.times_of_step) {
    words.why += fmt::format(
        " The longest takes {:.3g} times as long to compile as any graph of a step, so it most likely holds several rounds of a loop, such as all batches of an evaluation.",
        *figures.times_of_step);
    words.advice = MarkRoundsAdvice(framework);
  }
  for (const TimedCompilation& example : figures.examples)
    words.evidence.push_back(Describe(example));
  return words;
}

// The metric, and torch_xla's own lines

Words Say(const CompileTimeSum& figures, const Finding& finding, Framework framework) {
  return {.title = SumTitle(*finding.count, *finding.cost_ns, figures.longest_ns,
                            figures.longest_is_known),
          .why = std::string(GraphsAreNotTold(framework)),
          .cost_note = SumNote(framework),
          .advice = RemedyText(CompileRemedy::kCacheAndSmallerGraph, framework),
          .unseen = Unseen{"the graphs"}};
}

std::string LinesTitle(const SlowCompileLines& figures) {
  if (!figures.longest_ns)
    return fmt::format("a compilation took over {}", DurationText(figures.threshold_ns));
  if (figures.lengths == 1)
    return fmt::format("a compilation took {}", DurationText(*figures.longest_ns));
  return fmt::format("at least {} compilations took {} to {} each", figures.lengths,
                     DurationText(*figures.shortest_ns), DurationText(*figures.longest_ns));
}

Words Say(const SlowCompileLines& figures, const Finding&, Framework framework) {
  return {
      .title = LinesTitle(figures),
      .why = "The line names no graph.",
      .cost_note =
          figures.longest_ns
              ? "at least; this is the longest one in torch_xla's own lines, which do not say how many there were"
              : "not measured, because only torch_xla's own line mentions it",
      .advice = RemedyText(CompileRemedy::kCacheAndSmallerGraph, framework),
      .unseen = Unseen{"the graph"}};
}

// XLA's alarms

std::string TookText(int64_t ns, bool ended) {
  return fmt::format("{}{}", ended ? "" : "over ", DurationText(ns));
}

std::string ProcessesText(const CompileAlarms& alarms) {
  const size_t processes = alarms.ns_by_process.size();
  return processes > 1 ? fmt::format(", in {} processes", processes) : "";
}

// Returns the instruction or module of an alarm: "reduce-window s32[625000,16]".
std::string WhatText(const CompileAlarm& alarm) {
  if (!alarm.subject.op) return alarm.name.value_or("an instruction");
  constexpr size_t kMaxShapeBytes = 60;  // tuples may be of any length
  const std::string shape = alarm.shape ? WithoutLayout(*alarm.shape) : "";
  if (shape.size() > kMaxShapeBytes) return alarm.name.value_or(*alarm.subject.op);
  return shape.empty() ? *alarm.subject.op : fmt::format("{} {}", *alarm.subject.op, shape);
}

// Returns "XLA spent 24 s of compile time folding constants, most for scatter f64[50,126936]".
std::string InstructionsTitle(std::string_view doing, const CompileAlarms& alarms) {
  const bool is_one = alarms.all.size() == 1;
  const std::string what = WhatText(alarms.all.front());
  return fmt::format("XLA spent {} of {} {}{}{}", TookText(alarms.ns, alarms.ended),
                     is_one ? "one compilation" : "compile time", doing, ProcessesText(alarms),
                     is_one ? fmt::format(" ({})", what) : fmt::format(", most for {}", what));
}

std::string ModuleTitle(const SlowCompileAlarms& figures) {
  const CompileAlarms& alarms = figures.alarms;
  const CompileAlarm& longest = alarms.all.front();
  const std::string of = longest.name ? fmt::format(" of {}", *longest.name) : "";
  const std::string took = TookText(alarms.ns, alarms.ended);
  if (figures.per_process == 1)
    return fmt::format("the compilation{} took {}{}", of, took, ProcessesText(alarms));
  return fmt::format("{} compilations{} took {}, the longest {}{}", figures.per_process, of, took,
                     TookText(longest.ns, longest.ended), ProcessesText(alarms));
}

std::string UnoptimizedTitle(const CompileAlarms& alarms) {
  const CompileAlarm& longest = alarms.all.front();
  const std::string of = longest.name ? fmt::format(" of {}", *longest.name) : "";
  const std::string took = TookText(alarms.ns, alarms.ended);
  if (alarms.all.size() == 1) {
    return fmt::format("XLA is a build without optimization: the compilation{} took {}", of, took);
  }
  return fmt::format(
      "XLA is a build without optimization: {} compilations took {}, the longest{} {}{}",
      alarms.all.size(), took, of, TookText(longest.ns, longest.ended), ProcessesText(alarms));
}

// Returns the words for each kind of alarm. The cost note says which alarms measured the cost.
Words WordsOf(const SlowCompileAlarms& figures, Framework framework) {
  const CompileAlarms& alarms = figures.alarms;
  const bool is_jax_operation = !figures.jax_operation.empty();
  switch (alarms.kind) {
    case AlarmKind::kCompile: {
      Words words{
          .title = ModuleTitle(figures),
          .cost_note =
              "XLA's own alarms, which report compilations of over two minutes; there may be more",
          .advice =
              is_jax_operation
                  ? RemedyText(CompileRemedy::kFasterFirstUse, framework)
                  : "Keep the compilation cache between runs (torch_xla: xr.initialize_cache, JAX: jax_compilation_cache_dir). Make the graph smaller (scan over repeated layers, loops that are not unrolled)."};
      if (is_jax_operation) {
        words.why = OneOperationText(figures.jax_operation);
      } else if (figures.per_process != 1) {
        words.why =
            "Several functions share this name, or one function is compiled again and again.";
        words.unseen = Unseen{"which, and why"};
      }
      return words;
    }
    case AlarmKind::kUnoptimizedCompile:
      return {
          .title = UnoptimizedTitle(alarms),
          .why =
              "Its compiler is a debug build, which takes several times as long for each program. The program is not the cause.",
          .cost_note =
              "XLA's own alarms, which in such a build report compilations of over ten seconds; all others are slow as well",
          .advice =
              "Install a released jaxlib or torch_xla, or build XLA with optimization: bazel build -c opt."};
    case AlarmKind::kConstantFolding:
      return {
          .title = InstructionsTitle("folding constants", alarms),
          .why =
              "The compiler computes everything that depends on no argument, on the CPU and with its slowest code.",
          .cost_note = "XLA's own alarms, which report instructions of over a second",
          .advice =
              "Pass large arrays to the compiled function as arguments, instead of making them inside it or capturing them. XLA_FLAGS=--xla_disable_hlo_passes=constant_folding leaves the work to the device."};
    case AlarmKind::kAutotuning:
      return {
          .title = InstructionsTitle("tuning kernels", alarms),
          .cost_note = "XLA's own alarms, which report long tuning",
          .advice =
              "Keep compiled programs between runs (JAX: jax_compilation_cache_dir). XLA_FLAGS=--xla_gpu_autotune_level=0 tries none and takes the first, which may be slower."};
    case AlarmKind::kOther:
    case AlarmKind::kUnknown:
      break;
  }
  const std::string& text = alarms.all.front().text;
  return {
      .title = fmt::format("XLA complained about slow operations, {} in all{}{}",
                           TookText(alarms.ns, alarms.ended), text.empty() ? "" : ": ", text),
      .cost_note = "XLA's own alarms",
      .advice =
          text.empty()
              ? "Save the log with all of its lines: the line below each time names the slow operation."
              : "Look up the operation in XLA's documentation."};
}

std::string EvidenceLine(const CompileAlarm& alarm) {
  std::string line = fmt::format("{}: {}", TookText(alarm.ns, alarm.ended), alarm.text);
  if (alarm.subject.file && alarm.subject.line) line += ", " + alarm.subject.place().text();
  return line;
}

Words Say(const SlowCompileAlarms& figures, const Finding& finding, Framework framework) {
  const CompileAlarms& alarms = figures.alarms;
  Words words = WordsOf(figures, framework);
  if (!alarms.ended) words.cost_note.insert(0, "at least; ");
  for (size_t i = 0; i < finding.evidence.size(); ++i)
    words.evidence.push_back(EvidenceLine(alarms.all[i]));
  return words;
}

}  // namespace

Words SaySlowCompile(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const SlowCompileFigures&>(finding.figures));
}

}  // namespace xlaprof

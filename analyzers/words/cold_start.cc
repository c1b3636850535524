// The words of cold_start.
#include "analyzers/cold_start.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/compilation.h"

namespace xlaprof {
namespace {

std::string LoadedText(const CachesAtStart& caches) {
  return fmt::format("{} {} loaded from a cache{}", Plural(caches.loaded, "program"),
                     caches.loaded == 1 ? "was" : "were",
                     caches.load_ns ? " in " + DurationText(*caches.load_ns) : "");
}

std::string Title(const ColdStartFigures& figures, int64_t count, int64_t cost_ns) {
  if (figures.compile_ns == 0) return LoadedText(figures.caches);
  if (figures.places == 0)
    return SumTitle(count, cost_ns, figures.longest_ns.value_or(0), figures.longest_is_known);
  const bool is_one = count == 1;
  std::string title =
      is_one ? fmt::format("the first compilation took {}", DurationText(figures.compile_ns))
             : fmt::format("the first compilations of {} places took {}, the slowest {}",
                           CountText(count), DurationText(figures.compile_ns),
                           DurationText(figures.longest_ns.value_or(0)));
  if (figures.tracing.is_large)
    title += fmt::format(", and {} of tracing before {}", DurationText(figures.tracing.ns),
                         is_one ? "it" : "them");
  if (figures.caches.loaded > 0) title += ", and " + LoadedText(figures.caches);
  return title;
}

// Says which parts the compilations have.
std::string PartsText(const ColdStartFigures& figures) {
  std::vector<std::string> parts;
  for (const auto& [phase, ns] : figures.phases_ns) {
    if (ns > 0) parts.push_back(fmt::format("{} {}", Name(phase), DurationText(ns)));
  }
  std::string text;
  if (!parts.empty()) text = fmt::format("The time consists of {}. ", ListText(parts));
  if (figures.autotuning_ns)
    text +=
        fmt::format("XLA spent {} of it trying algorithms. ", DurationText(*figures.autotuning_ns));
  return text;
}

bool HasCache(Framework framework) {
  return framework == Framework::kPytorchXla || framework == Framework::kJax ||
         framework == Framework::kPytorch || framework == Framework::kGaudi;
}

// Says what caches did, and what they would save.
std::string CachesText(const ColdStartFigures& figures, Framework framework) {
  const CachesAtStart& caches = figures.caches;
  std::string text;
  if (caches.saved_ns) text += fmt::format("Its caches saved {}. ", DurationText(*caches.saved_ns));
  if (caches.loaded > 0 || caches.saved_ns || !figures.most_saved_ns ||
      *figures.most_saved_ns <= 0 || !HasCache(framework))
    return text;
  return text + fmt::format("A warm cache saves at most {} of it{}. ",
                            DurationText(*figures.most_saved_ns),
                            framework == Framework::kPytorch ? ", because Dynamo runs again" : "");
}

std::string WindowText(const ColdStartFigures& figures) {
  if (!figures.until_steady_ns) return "";
  std::string text = fmt::format("The first steady step begins {} after the first event",
                                 DurationText(*figures.until_steady_ns));
  if (figures.upload_ns)
    text += fmt::format("; transfers until then take {}", DurationText(*figures.upload_ns));
  return text + fmt::format("; {} is neither, such as Python's own work and data. ",
                            DurationText(figures.rest_ns.value_or(0)));
}

std::string CostNote(const ColdStartFigures& figures, Framework framework) {
  if (figures.compile_ns == 0) return "to load them";
  if (figures.places == 0) return SumNote(framework);
  return "the first compilation at each place; recompilation reports later ones" +
         TracingNote(figures.tracing);
}

std::string Advice(const ColdStartFigures& figures, Framework framework) {
  if (figures.compile_ns == 0 || (figures.caches.saved_ns && figures.caches.missed == 0))
    return "Nothing needs to change: the caches had the programs.";
  if (figures.tracing.ns > figures.compile_ns) return LessTracingAdvice(framework);
  if (figures.caches.missed > 0) {
    const bool all = figures.caches.missed >= figures.places;
    return fmt::format(
        "A cache keeps {}, so the next run loads {} if it finds the same folder.",
        all ? "these programs" : fmt::format("{} of these programs", figures.caches.missed),
        !all && figures.caches.missed == 1 ? "it" : "them");
  }
  return std::string(KeepCacheAdvice(framework));
}

}  // namespace

Words SayColdStart(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const ColdStartFigures&>(finding.figures);
  const int64_t count = finding.count.value_or(0);
  std::string why = PartsText(figures) + CachesText(figures, framework) + WindowText(figures);
  if (figures.processes > 1)
    why += fmt::format("{} processes start like this; this one takes longest. ",
                       CountText(figures.processes));
  why += figures.places > 0 ? StepsText(figures.steps) : "";
  const bool only_sums = figures.places == 0 && figures.compile_ns > 0;
  if (only_sums) why = GraphsAreNotTold(framework);
  while (why.ends_with(' ')) why.pop_back();
  Words words{.title = Title(figures, count, finding.cost_ns.value_or(0)),
              .why = std::move(why),
              .cost_note = CostNote(figures, framework),
              .advice = Advice(figures, framework)};
  if (only_sums) words.unseen = Unseen{"the graphs"};
  for (const TimedCompilation& example : figures.examples)
    words.evidence.push_back(Describe(example));
  return words;
}

}  // namespace xlaprof

// The words of cache_not_used. What to do depends on the cache, not on the framework.
#include "analyzers/cache_not_used.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

bool IsJax(const CacheNotUsedFigures& figures) {
  return std::ranges::find(figures.caches, ProgramCache::kJaxPersistent) != figures.caches.end();
}

// Returns the name of the caches for readers.
std::string CacheName(const CacheNotUsedFigures& figures) {
  if (IsJax(figures)) return "JAX's persistent cache";
  return figures.caches.size() > 1                              ? "torch.compile's cache"
         : figures.caches.front() == ProgramCache::kAotAutograd ? "AOTAutograd's cache"
         : figures.caches.front() == ProgramCache::kInductor    ? "Inductor's cache"
                                                                : "the cache of programs";
}

// Returns what keeps the programs below the threshold of the cache.
std::string BelowText(const CacheNotUsedFigures& figures, bool one) {
  if (figures.why == NotStored::kSmall) return one ? "is small" : "are small";
  const std::string verb = one ? "compiles" : "compile";
  return figures.least_ns ? fmt::format("{} in less than {}", verb, DurationText(*figures.least_ns))
                          : fmt::format("{} fast", verb);
}

// Returns what the finding says about its programs, without their time.
std::string Statement(const CacheNotUsedFigures& figures, ReasonType reason, int64_t count) {
  const std::string programs = Plural(count, "program"), cache = CacheName(figures);
  const bool one = count == 1;
  if (reason == ReasonType::kBelowThreshold)
    return fmt::format("{} does not keep {} that {}, so every run compiles {} again", cache,
                       programs, BelowText(figures, one), one ? "it" : "them");
  if (reason == ReasonType::kUnstableKeys)
    return fmt::format("{} {} another key than in an earlier run, so {} does not find {}", programs,
                       one ? "has" : "have", cache, one ? "it" : "them");
  if (reason == ReasonType::kEmptyCache)
    return fmt::format("{} {} not in {}", programs, one ? "was" : "were", cache);
  if (!figures.why)
    return fmt::format("{} cannot keep {}, so every run compiles {} again", cache, programs,
                       one ? "it" : "them");
  switch (*figures.why) {
    case NotStored::kDisabled:
      return figures.was_asked
                 ? fmt::format("{} is off or could not be opened, so it keeps none of {}", cache,
                               Plural(count, "program"))
                 : fmt::format("no cache keeps compiled programs, so every run compiles {} again",
                               programs);
    case NotStored::kWriteFailed:
      return fmt::format("{} could not write {}, so every run compiles {} again", cache, programs,
                         one ? "it" : "them");
    case NotStored::kHostCallback:
      return fmt::format("{} does not keep {} that {} Python, so every run compiles {} again",
                         cache, programs, one ? "calls" : "call", one ? "it" : "them");
    case NotStored::kCompiledFast:
    case NotStored::kSmall:
    case NotStored::kOtherProcess:
    case NotStored::kUnknown:
      break;
  }
  return fmt::format("{} keeps none of {}", cache, programs);
}

std::string Title(const CacheNotUsedFigures& figures, ReasonType reason, const Finding& finding) {
  std::string title = Statement(figures, reason, *finding.count);
  if (finding.cost_ns) title += fmt::format(" ({})", DurationText(*finding.cost_ns));
  if (figures.processes > 1) title += fmt::format(" (in each of {} processes)", figures.processes);
  return title;
}

std::string Why(const CacheNotUsedFigures& figures, ReasonType reason) {
  std::string text;
  if (!figures.longest.empty()) {
    std::vector<std::string> named;
    for (const auto& [name, dur_ns] : figures.longest)
      named.push_back(fmt::format("{} ({})", name, DurationText(dur_ns)));
    text = fmt::format("The longest to compile {} {}.", named.size() == 1 ? "is" : "are",
                       ListText(named));
  }
  auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; };
  if (figures.sought > 0)
    add(fmt::format("Of {} that this run looked for, {} had {}.", Plural(figures.sought, "program"),
                    CacheName(figures), figures.served == 0 ? "none" : CountText(figures.served)));
  if (figures.served_saved_ns)
    add(fmt::format("That saved {}.", DurationText(*figures.served_saved_ns)));
  if (reason == ReasonType::kUnstableKeys)
    add("The cache knows the same functions, with inputs of the same types, under other keys. Either the code, a setting or a version changed between the runs, or each run makes another program: from a random number, a time, a path or an address that is part of it.");
  if (reason == ReasonType::kNoCache && !figures.was_asked && figures.why == NotStored::kDisabled)
    add("The log would name each program that is not in the cache, and names none.");
  return text;
}

std::string SavingNote(const CacheNotUsedFigures& figures, int64_t count) {
  if (figures.loaded == 0)
    return "all of it in each later run, less the time to load the programs, which no run in these files shows";
  const std::string proof =
      fmt::format("a run in these files loaded {} of them in {} instead of compiling for {}",
                  CountText(figures.loaded), DurationText(figures.load_ns),
                  DurationText(figures.loaded_compile_ns));
  return figures.loaded == count
             ? "in each later run: " + proof
             : "all of it in each later run, less the time to load the programs: " + proof;
}

std::string_view WhereJax() { return "JAX_COMPILATION_CACHE_DIR (jax_compilation_cache_dir)"; }

std::string Advice(const CacheNotUsedFigures& figures, ReasonType reason) {
  const bool is_jax = IsJax(figures);
  const std::string keep =
      is_jax
          ? fmt::format("Keep the directory in {} between runs", WhereJax())
          : "Keep the directory in TORCHINDUCTOR_CACHE_DIR between runs; without it, the cache is in /tmp, which a new container does not have";
  if (reason == ReasonType::kBelowThreshold) {
    if (!is_jax) return "Lower the threshold of the cache.";
    return figures.why == NotStored::kSmall
               ? "Set JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1 (jax_persistent_cache_min_entry_size_bytes), so that the cache keeps programs of any size."
               : "Set JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 (jax_persistent_cache_min_compile_time_secs=0), so that the cache keeps every program.";
  }
  if (reason == ReasonType::kUnstableKeys)
    return "If the code and the versions are the same, compare what two runs compile (XLA_FLAGS=--xla_dump_to=DIR in JAX), and pass what differs as an argument.";
  if (reason == ReasonType::kEmptyCache)
    return "Nothing needs to change for the next run, which finds what this one compiled. " + keep +
           ".";
  if (!figures.was_asked && figures.why == NotStored::kDisabled) {
    return is_jax ? fmt::format("Set {} to a directory that outlives the run.", WhereJax())
                  : keep + ".";
  }
  if (figures.why == NotStored::kDisabled)
    return is_jax
               ? fmt::format(
                     "Check that JAX_ENABLE_COMPILATION_CACHE is not false, and that the directory in {} exists.",
                     WhereJax())
               : keep + ".";
  if (figures.why == NotStored::kWriteFailed)
    return fmt::format(
        "Make the directory of the cache{} writable, with enough free space. The log names the error.",
        is_jax ? fmt::format(" in {}", WhereJax()) : "");
  if (figures.why == NotStored::kHostCallback)
    return "Leave out the calls of Python in runs that need to start fast, such as jax.debug.print and jax.pure_callback.";
  return "See why the program is not cached in the log of the framework.";
}

}  // namespace

Words SayCacheNotUsed(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const CacheNotUsedFigures&>(finding.figures);
  const ReasonType reason = finding.reason->type;
  const int64_t count = *finding.count;
  std::string cost_note = finding.cost_ns ? "time to compile, without tracing"
                                          : "not measured, because no source times these compiles";
  if (finding.cost_ns && figures.untimed > 0)
    cost_note += fmt::format("; {} of them {} not measured", CountText(figures.untimed),
                             figures.untimed == 1 ? "was" : "were");
  return {.title = Title(figures, reason, finding),
          .why = Why(figures, reason),
          .cost_note = std::move(cost_note),
          .saving_note = SavingNote(figures, count),
          .advice = Advice(figures, reason)};
}

}  // namespace xlaprof

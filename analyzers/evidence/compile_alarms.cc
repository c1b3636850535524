#include "analyzers/evidence/compile_alarms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzers/evidence/jax_operation.h"
#include "analyzers/quantity.h"
#include "core/base/whole.h"
#include "core/base/xla_shape.h"

namespace xlaprof {
namespace {

constexpr int64_t kNoticeableNs = 10'000'000'000;  // at the start of a program, a person waits
constexpr size_t kMaxEvidence = 12;

struct Alarm {
  int64_t row = 0, ns = 0;
  bool ended = false;  // else it took more than `ns`
  Subject subject;
  OptText name, shape;
  std::string text;

  // "6.73 s", "over 1 s"
  std::string Took() const { return (ended ? "" : "over ") + DurationText(ns); }
  // "reduce-window s32[625000,16]"
  std::string What() const {
    if (!subject.op) return name.value_or("an instruction");
    constexpr size_t kMaxShapeBytes = 60;  // tuples may be of any length
    const std::string result = shape ? WithoutLayout(*shape) : "";
    if (result.size() > kMaxShapeBytes) return name.value_or(*subject.op);
    return result.empty() ? *subject.op : fmt::format("{} {}", *subject.op, result);
  }
};

// Of one kind, the longest first. Processes compile side by side: what they take is what the one
// takes that takes longest.
struct Alarms {
  std::vector<Alarm> all;
  std::map<int64_t, int64_t> ns_of;  // by process
  int64_t ns = 0;                    // the most of these
  bool ended = true;

  // ", in 4 processes"
  std::string Processes() const {
    return ns_of.size() > 1 ? fmt::format(", in {} processes", ns_of.size()) : "";
  }

  std::string Took() const { return (ended ? "" : "over ") + DurationText(ns); }
};

Finding Common(const Alarms& alarms) {
  const Alarm& longest = alarms.all.front();
  Finding finding{.severity = Severity::kInfo,
                  .subject = longest.subject,
                  .count = int64_t(alarms.all.size()),
                  .cost_ns = alarms.ns,
                  .cost_note = alarms.ended ? "" : "at least; "};
  for (const Alarm& alarm : alarms.all) {
    if (finding.evidence.size() == kMaxEvidence) break;
    std::string text = fmt::format("{}: {}", alarm.Took(), alarm.text);
    if (alarm.subject.file && alarm.subject.line) text += ", " + alarm.subject.place().text();
    finding.evidence.push_back({.table = "compile_alarm",
                                .rows = {alarm.row},
                                .dur_ns = alarm.ended ? OptInt(alarm.ns) : OptInt(),
                                .text = std::move(text)});
  }
  return finding;
}

// "compiling computed constants for 24 s, most for scatter f64[50,126936]"
std::string Title(std::string_view did, const Alarms& alarms) {
  return fmt::format("compiling {} for {}{}{} {}", did, alarms.Took(), alarms.Processes(),
                     alarms.all.size() == 1 ? ":" : ", most for", alarms.all.front().What());
}

Finding OfConstants(const Alarms& alarms) {
  Finding finding = Common(alarms);
  finding.title = Title("computed constants", alarms);
  finding.cost_note += "XLA's own alarms, which ring for instructions of over a second";
  finding.reason =
      Reason{.type = ReasonType::kConstantFolding,
             .node = alarms.all.front().name,
             .text =
                 "What depends on no argument is computed by the compiler, on the CPU and by "
                 "its slowest means."};
  finding.advice =
      "Pass large arrays to the compiled function as arguments, instead of making them inside of "
      "it "
      "or taking them from around it. XLA_FLAGS=--xla_disable_hlo_passes=constant_folding leaves "
      "the work to the device.";
  return finding;
}

Finding OfKernels(const Alarms& alarms) {
  Finding finding = Common(alarms);
  finding.title = Title("tried kernels", alarms);
  finding.cost_note += "XLA's own alarms, which ring for what is tried long";
  finding.reason = Reason{.type = ReasonType::kAutotuning, .node = alarms.all.front().name};
  finding.advice =
      "Keep compiled programs between runs (JAX: jax_compilation_cache_dir). "
      "XLA_FLAGS=--xla_gpu_autotune_level=0 tries none and takes the first, which may be slower.";
  return finding;
}

Finding OfModule(const Alarms& alarms) {
  Finding finding = Common(alarms);
  const Alarm& longest = alarms.all.front();
  finding.severity = Severity::kWarning;
  finding.subject.function = longest.name;
  const std::string of = longest.name ? fmt::format(" of {}", *longest.name) : "";
  const size_t each = alarms.all.size() / alarms.ns_of.size();
  finding.title =
      each == 1 ? fmt::format("the compilation{} took {}{}", of, alarms.Took(), alarms.Processes())
                : fmt::format("{} compilations{} took {}, the longest {}{}", each, of,
                              alarms.Took(), longest.Took(), alarms.Processes());
  finding.cost_note +=
      "XLA's own alarms, which ring for compilations of over two minutes; there may be more";
  finding.reason = Reason{.type = ReasonType::kTooSlow};
  if (each > 1) {
    finding.reason->text =
        "Functions of one name, or one that is compiled again and again: "
        "JAX_EXPLAIN_CACHE_MISSES=1 "
        "or PT_XLA_DEBUG_LEVEL=2 tells which, and why.";
  }
  const std::string operation = JaxOperationOf(longest.name.value_or(""));
  if (!operation.empty()) {
    finding.reason->text = OneOperationText(operation);
    finding.advice = kOneOperationAdvice;
    return finding;
  }
  finding.advice =
      "Keep the compilation cache between runs (torch_xla: xr.initialize_cache, JAX: "
      "jax_compilation_cache_dir); make the graph smaller (scan over repeated layers, loops that "
      "are not unrolled).";
  return finding;
}

// One cause for all modules.
Finding OfUnoptimizedXla(const Alarms& alarms) {
  Finding finding = Common(alarms);
  const Alarm& longest = alarms.all.front();
  finding.severity = Severity::kWarning;
  finding.subject.function = longest.name;
  const std::string of = longest.name ? fmt::format(" of {}", *longest.name) : "";
  finding.title =
      alarms.all.size() == 1
          ? fmt::format("XLA is a build without optimization: the compilation{} took {}", of,
                        alarms.Took())
          : fmt::format(
                "XLA is a build without optimization: {} compilations took {}, the longest{} {}{}",
                alarms.all.size(), alarms.Took(), of, longest.Took(), alarms.Processes());
  finding.cost_note +=
      "XLA's own alarms, which in such a build ring for compilations of over ten seconds; all "
      "others are slow as well";
  finding.reason = Reason{.type = ReasonType::kUnoptimizedBuild,
                          .text =
                              "Its compiler is a debug build, which takes several times as long "
                              "for each program. The program is not the cause."};
  finding.advice =
      "Install a released jaxlib or torch_xla, or build XLA with optimization: bazel build -c opt.";
  return finding;
}

// Words that we do not know, or none.
Finding OfOthers(const Alarms& alarms) {
  const Alarm& longest = alarms.all.front();
  Finding finding = Common(alarms);
  finding.title = fmt::format("XLA complained of slow operations, {} in all{}{}", alarms.Took(),
                              longest.text.empty() ? "" : ": ", longest.text);
  finding.cost_note += "XLA's own alarms";
  finding.reason = Reason{.type = ReasonType::kUnknown};
  finding.advice = longest.text.empty()
                       ? "Take the log with all of its lines: what was slow stands "
                         "below the time that it took."
                       : "Look up what it names in XLA's documentation.";
  return finding;
}

}  // namespace

absl::StatusOr<Findings> FindCompileAlarms(const Store& store, bool compiles_are_timed) {
  std::map<std::pair<std::string, std::string>, Alarms> kinds;  // by operation, and module
  XP_TRY(store.Each(
      "SELECT a.id, coalesce(a.process_id, 0), operation, coalesce(dur_ns, least_ns, 0), dur_ns IS "
      "NOT NULL, subject, op, "
      "shape, scope, text, s.file, s.line FROM compile_alarm a LEFT JOIN site s ON s.id = "
      "a.site_id WHERE NOT (?1 AND operation = 'compile' AND (dur_ns IS NOT NULL OR EXISTS (SELECT "
      "1 FROM compile c WHERE c.dur_ns >= a.least_ns AND instr(a.subject, c.function) > 0))) "
      "ORDER BY coalesce(dur_ns, least_ns, 0) DESC, a.id",
      [&](int64_t row, int64_t process_id, std::string operation, int64_t ns, bool ended,
          OptText name, OptText op, OptText shape, OptText scope, std::string text, OptText file,
          OptInt line) {
        const bool is_compile = operation == "compile";
        Alarms& alarms = kinds[{std::move(operation), is_compile ? name.value_or("") : ""}];
        int64_t& of_process = alarms.ns_of[process_id];
        of_process = Whole(double(of_process) + double(ns));
        alarms.ns = std::max(alarms.ns, of_process);
        alarms.ended = alarms.ended && ended;
        alarms.all.push_back({.row = row,
                              .ns = ns,
                              .ended = ended,
                              .subject = {.file = file, .line = line, .scope = scope, .op = op},
                              .name = std::move(name),
                              .shape = std::move(shape),
                              .text = std::move(text)});
      },
      compiles_are_timed));
  Findings findings;
  for (const auto& [kind, alarms] : kinds) {
    Finding finding = kind.first == "compile"               ? OfModule(alarms)
                      : kind.first == "unoptimized_compile" ? OfUnoptimizedXla(alarms)
                      : kind.first == "constant_folding"    ? OfConstants(alarms)
                      : kind.first == "autotuning"          ? OfKernels(alarms)
                                                            : OfOthers(alarms);
    if (alarms.ns >= kNoticeableNs) finding.severity = Severity::kWarning;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace xlaprof

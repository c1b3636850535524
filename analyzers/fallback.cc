// Ops that the backend has no lowering for: their inputs are fetched, the op runs on the CPU, its
// result is sent back.
#include <algorithm>
#include <array>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/evidence/early_cut.h"
#include "analyzers/evidence/step_count.h"
#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

constexpr double kOftenPerStep =
    0.1;  // as for reads: what happens in fewer steps is only mentioned
constexpr int64_t kOftenCount = 3;
constexpr size_t kEvidenceRows = 24;
constexpr size_t kMaxSites = 4;  // call sites that a reason names

struct OpAdvice {
  std::string_view op, advice;
};

// By the name without namespace and overload. Ops whose result's shape depends on values can have
// no lowering on a compiler with static shapes: the remedy is another formulation, not an issue
// report.
constexpr auto kAdvice = std::to_array<OpAdvice>({
    {"nonzero",
     "Its result's shape depends on values, which a compiled graph cannot have. Use "
     "torch.where(condition, a, b), or multiply by the mask; "
     "count with mask.sum()."},
    {"masked_select",
     "Its result's shape depends on values. Keep the full shape: torch.where(mask, x, 0), and "
     "divide by mask.sum()."},
    {"masked_scatter_", "Use torch.where(mask, source, x) with a source of the full shape."},
    {"index", "A boolean mask as index becomes nonzero. Use torch.where with the full shape."},
    {"unique",
     "Its result's shape depends on values. Do it in the data loader, or bound the number of "
     "values: torch.bincount(x, minlength=N)."},
    {"_unique2",
     "Its result's shape depends on values. Do it in the data loader, or bound the number of "
     "values: torch.bincount(x, minlength=N)."},
    {"unique_consecutive", "Its result's shape depends on values. Do it in the data loader."},
    {"unique_dim", "Its result's shape depends on values. Do it in the data loader."},
    {"histc",
     "Compute it from ops with lowering: torch.bucketize(x, edges) and "
     "torch.nn.functional.one_hot(...).sum(0), or every N steps after the step mark."},
    {"bincount", "Use torch.nn.functional.one_hot(x, N).sum(0)."},
    {"median", "Use torch.sort(x).values[..., n // 2]; sort has a lowering."},
    {"nanmedian", "Use torch.sort on values with NaN replaced."},
    {"repeat_interleave",
     "With a tensor of repeats its shape depends on values. Use an integer, or torch.gather with "
     "indices from the loader."},
    {"_ctc_loss",
     "No lowering: compute the loss on the CPU every step knowingly, or use a CTC written with "
     "torch.logsumexp."},
    {"_ctc_loss_backward", "No lowering: see _ctc_loss."},
    {"multinomial", "Use the Gumbel trick: (logits + gumbel_noise).argmax(-1)."},
    {"bernoulli_", "Use (torch.rand_like(x) < p)."},
    {"nms",
     "Its result's shape depends on values. Use a padded, fixed number of boxes, or run it after "
     "the step mark."},
    {"linalg_lstsq", "Use the normal equations with torch.linalg.solve, or QR."},
    {"_linalg_eigh",
     "Use torch.linalg.eigh of a version with its lowering, or run it every N steps."},
});

constexpr const char* kPrintAdvice =
    "A tensor is printed here, which fetches it and picks its elements on the CPU. Leave the print "
    "out, or do it every N steps, after the step mark: print(x.detach().cpu()).";

std::string AdviceFor(const std::string& op) {
  std::string_view name = op;
  if (size_t colons = name.find("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  name = name.substr(0, name.find('.'));
  for (const OpAdvice& entry : kAdvice) {
    if (entry.op == name) return std::string(entry.advice);
  }
  return fmt::format(
      "{} has no lowering in this torch_xla: write it with ops that have one, move it out of the "
      "step, or ask for the lowering in the "
      "torch_xla tracker.",
      op);
}

// Time and number of the transfers at lines that call one op without lowering, and nothing else
// that fetches.
struct Transfers {
  int64_t dur_ns = 0, count = 0;
};
absl::StatusOr<std::map<std::string, Transfers>> TransfersOfOps(const Store& store) {
  std::map<std::string, Transfers> of_op;
  XP_TRY(store.Each(
      "SELECT f.op, sum(t.dur_ns), count(*) FROM transfer t JOIN (SELECT process_id, site_id, "
      "min(op) AS op FROM fallback WHERE site_id IS NOT NULL GROUP BY 1, 2 HAVING count(DISTINCT "
      "op) = 1) f ON f.process_id = t.process_id AND f.site_id = t.site_id WHERE t.dur_ns IS NOT "
      "NULL GROUP BY f.op",
      [&](std::string op, int64_t dur_ns, int64_t count) {
        of_op[std::move(op)] = {dur_ns, count};
      }));
  return of_op;
}

// torch_xla names an uncounted op at every step: then it is a pattern until shown otherwise.
bool IsOften(const Finding& finding) {
  if (!finding.count) return true;
  return finding.per_step ? *finding.per_step >= kOftenPerStep && *finding.count >= 2
                          : *finding.count >= kOftenCount;
}

Finding FromOp(const FallbackOp& op, const EarlyCuts& cuts, const Transfers& transfers,
               std::optional<int64_t> steps) {
  Finding finding;
  const EarlyCut* cut = op.cut >= 0 ? &cuts.cuts[size_t(op.cut)] : nullptr;
  if (cut != nullptr) finding.subject = cut->subject;
  if (cut == nullptr && !op.sites.empty()) finding.subject = op.sites.front();
  finding.subject.op = op.op;
  finding.count = op.count;
  if (!op.count && cut != nullptr) finding.count = int64_t(cut->executions.size());
  if (finding.count)
    finding.per_step = PerStep(*finding.count, cut != nullptr ? cut->steps : steps);
  finding.severity = IsOften(finding) ? Severity::kWarning : Severity::kInfo;
  finding.title = fmt::format("{} runs on the CPU", op.op);
  if (finding.count) finding.title += fmt::format(", {}", TimesText(*finding.count));
  if (finding.per_step) finding.title += fmt::format(" ({})", PerStepText(*finding.per_step));

  Reason reason{.type = ReasonType::kNoLowering, .node = op.op};
  std::string text = "each call fetches its inputs, runs on the CPU and sends its result back";
  if (op.printed) text = "torch calls it to print a tensor; " + text;
  if (cut != nullptr && !cut->executions.empty()) {
    text += fmt::format("; it forced {} and as many waits for the device",
                        Plural(int64_t(cut->executions.size()), "early execution"));
    if (cut->shape) text += fmt::format(" (input {})", cut->shape->text());
    if (cut->likely) text += ". The line is the only one that fetches a tensor";
  } else {
    std::string places;
    for (int index : op.candidates) {
      const Subject& subject = cuts.cuts[size_t(index)].subject;
      if (subject.line) {
        places += " " + subject.place().text();
      } else if (subject.scope) {
        places += fmt::format(" scope {}", *subject.scope);
      }
    }
    if (!places.empty()) text += ". Its line is one of:" + places;
    if (const int64_t rest = op.candidate_count - int64_t(op.candidates.size());
        rest > 0 && !places.empty())
      text += fmt::format(" and {} more", CountText(rest));
  }
  if (op.sites.size() > 1) {
    text += ". It is called at";
    for (size_t i = 0; i < std::min(op.sites.size(), kMaxSites); ++i) {
      text += (i == 0 ? " " : ", ") + op.sites[i].place().text();
    }
  }
  reason.text = std::move(text);
  finding.reason = std::move(reason);
  if (cut != nullptr && cut->wait_ns) {
    finding.cost_ns = cut->wait_ns;
    finding.cost_note =
        fmt::format("time that the host was blocked by the early executions, measured for {} of {}",
                    CountText(cut->waits_measured), CountText(int64_t(cut->executions.size())));
  } else if (transfers.count > 0) {
    finding.cost_ns = transfers.dur_ns;
    finding.cost_note = fmt::format("{}, of its inputs and results; the op itself is not timed",
                                    Plural(transfers.count, "transfer"));
  } else {
    finding.cost_note = "unmeasured: no profile covers the early executions that it causes";
  }
  finding.advice = op.printed ? kPrintAdvice : AdviceFor(op.op);
  if (cut == nullptr && op.sites.empty())
    finding.advice +=
        " To see the line, run with PT_XLA_DEBUG_LEVEL=2 and PT_XLA_DEBUG_FILE=log.txt.";
  if (cut != nullptr) {
    std::vector<int64_t> rows(
        cut->executions.begin(),
        cut->executions.begin() + int64_t(std::min(cut->executions.size(), kEvidenceRows)));
    finding.evidence.push_back({.table = "execution", .rows = std::move(rows)});
  }
  finding.evidence.push_back({.table = "fallback",
                              .text = finding.count
                                          ? fmt::format("{} = {}", op.op, *finding.count)
                                          : fmt::format("named by torch_xla: {}", op.op)});
  return finding;
}

// Each call of the line waits for the device, whatever it is.
Finding FromUnnamed(const UnnamedCalls& calls, const EarlyCuts& cuts,
                    std::optional<int64_t> steps) {
  Finding finding{.subject = calls.subject, .count = calls.count};
  finding.per_step = PerStep(calls.count, steps);
  finding.severity = IsOften(finding) ? Severity::kWarning : Severity::kInfo;
  finding.title =
      fmt::format("ops run on the CPU, or numbers are read, {}", TimesText(calls.count));
  if (finding.per_step) finding.title += fmt::format(" ({})", PerStepText(*finding.per_step));
  std::string text =
      "torch_xla counts the calls of this line and does not name the op: it is one without "
      "lowering, or a read of a number. Each waits for the device";
  if (calls.printed) text += ". Torch calls it to print a tensor";
  std::string ops;
  for (const FallbackOp& op : cuts.ops) {
    if (op.sites.empty() && op.cut < 0) ops += fmt::format("{} {}", ops.empty() ? "" : ",", op.op);
  }
  if (cuts.scalar_reads && cuts.scalar_read_sites.empty())
    ops += fmt::format("{} a read of a number", ops.empty() ? "" : ",");
  if (!ops.empty()) text += ". It may be one of:" + ops;
  finding.reason = Reason{.type = ReasonType::kNoLowering, .text = std::move(text)};
  finding.cost_note = "unmeasured: no profile covers the early executions that it causes";
  finding.advice = calls.printed
                       ? kPrintAdvice
                       : "Look on this line for .item(), float() or bool() of a tensor, "
                         "print(tensor) and .cpu(): read every N steps, after the step mark. The "
                         "counters aten::… of torch_xla.debug.metrics.metrics_report() name an op "
                         "without lowering.";
  finding.evidence.push_back(
      {.table = "fallback",
       .text = fmt::format("{} = {}", calls.subject.place().text(), calls.count)});
  return finding;
}

// The program says so itself.
absl::Status WholeProgram(const Store& store, Findings& findings) {
  return store.Each(
      "SELECT s.path, i.first_line, i.count FROM import_issue i JOIN source s ON s.id = "
      "i.source_id WHERE i.code = 'on_cpu' ORDER BY s.id LIMIT 1",
      [&](std::string path, OptInt line, int64_t count) {
        Finding finding{.severity = Severity::kWarning,
                        .title =
                            "the whole program runs on the CPU: it found no GPU or TPU that "
                            "it can use",
                        .count = count};
        finding.cost_note = "unmeasured: no source shows the program on a device";
        finding.reason =
            Reason{.type = ReasonType::kNoDevice, .text = "the program printed so as it began"};
        finding.advice =
            "Install the build for the device (jax[cuda12], jax[tpu], torch_xla[tpu]) and set "
            "JAX_PLATFORMS or PJRT_DEVICE, so that a missing device is an error.";
        finding.evidence.push_back(
            {.table = "import_issue", .text = fmt::format("{}:{}", path, line.value_or(1))});
        findings.push_back(std::move(finding));
      });
}

}  // namespace

static absl::StatusOr<Findings> Run(const Store& store) {
  XP_TRY(EarlyCuts cuts, FindEarlyCuts(store));
  XP_TRY(std::optional<int64_t> steps, StepCount(store));
  XP_TRY(auto transfers, TransfersOfOps(store));
  Findings findings;
  for (const FallbackOp& op : cuts.ops)
    findings.push_back(FromOp(op, cuts, transfers[op.op], steps));
  for (const UnnamedCalls& calls : cuts.unnamed)
    findings.push_back(FromUnnamed(calls, cuts, steps));
  XP_TRY(WholeProgram(store, findings));
  return findings;
}

extern const Analyzer fallback{
    .name = "fallback",
    .summary = "ops without lowering that run on the CPU, with the transfers and waits they cause",
    .looks_at = "aten:: counters, torch_xla's profiler lines and exit summary, executions before a step mark",
    .run = Run};
}  // namespace xlaprof

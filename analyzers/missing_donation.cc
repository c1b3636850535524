// Finds inputs that a program copies in each execution, because the caller keeps their memory
// although a result of the same shape could take it.
#include "analyzers/missing_donation.h"

#include <algorithm>

#include "analyzers/analyzer.h"
#include "analyzers/run/donatable_copies.h"
#include "analyzers/run/steps.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxArguments = 8;

// Returns the function of a module of JAX, such as update for jit_update; "" for other modules.
std::string_view JaxFunction(std::string_view module) {
  for (std::string_view prefix : {"jit_", "pjit_", "pmap_"}) {
    if (module.starts_with(prefix)) return module.substr(prefix.size());
  }
  return "";
}

MissingDonationFigures FiguresOf(const DonatableProgram& program) {
  const std::string_view function = JaxFunction(program.module);
  MissingDonationFigures figures{
      .program = std::string(function.empty() ? std::string_view(program.module) : function),
      .is_jax = !function.empty(),
      .inputs = int64_t(program.copies.size()),
      .shape = program.copies.front().shape,
      .bytes = double(program.bytes()),
      .executions = program.executions};
  if (std::ranges::none_of(program.copies, &std::string::empty, &DonatableCopy::argument)) {
    for (const DonatableCopy& copy : program.copies) {
      if (figures.arguments.size() < kMaxArguments) figures.arguments.push_back(copy.argument);
    }
  }
  return figures;
}

// Returns the finding of a program whose copies have times; nothing if they are too short.
std::optional<Finding> Measured(const DonatableProgram& program, int64_t timed_steps) {
  const DonatableProgram::Measured& measured = *program.measured;
  if (measured.executions < policy::kRepeatedExecutions || measured.span_ns <= 0) return {};
  const double share = double(measured.times.copy_ns) / double(measured.span_ns);
  if (share < policy::kDonationShare) return {};
  Finding finding{.needs_fixing = true,
                  .subject = program.subject,
                  .count = measured.times.copies,
                  .cost_ns = measured.times.copy_ns,
                  .saving_ns = measured.times.copy_ns,
                  .reason = Reason{.type = ReasonType::kNotDonated},
                  .evidence = measured.times.longest};
  if (timed_steps > 0) finding.per_step = double(measured.times.copies) / double(timed_steps);
  MissingDonationFigures figures = FiguresOf(program);
  figures.executions = measured.executions;
  figures.device = measured.device;
  figures.is_host = measured.on_host;
  figures.share = share;
  finding.figures = std::move(figures);
  return finding;
}

// Returns the finding of a program whose copies can only be counted; nothing if they are small.
std::optional<Finding> Counted(const DonatableProgram& program) {
  if (double(program.bytes()) < policy::kCountedCopyBytes) return {};
  if (program.executions > 0 && program.executions < policy::kRepeatedExecutions) return {};
  Finding finding{.subject = program.subject,
                  .reason = Reason{.type = ReasonType::kNotDonated},
                  .evidence = {{.table = "graph", .rows = {program.graph_id}}}};
  if (program.executions > 0) finding.count = program.executions;
  finding.figures = FiguresOf(program);
  return finding;
}

absl::StatusOr<Findings> FindMissingDonations(const Run& run) {
  Findings findings;
  XP_TRY(const DonatableCopies* copies, run.Get<DonatableCopies>());
  if (copies->programs.empty()) return findings;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  for (const DonatableProgram& program : copies->programs) {
    std::optional<Finding> finding =
        program.measured ? Measured(program, steps->timed) : Counted(program);
    if (finding) findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer missing_donation{
    .name = "missing_donation",
    .summary = "inputs that are copied in each execution because they are not donated",
    .meaning =
        "A compiled program updates an input and returns it, but may not overwrite it, because the caller keeps its memory. It copies the whole input first, in each execution. A donated input is updated in place.",
    .looks_at = "optimised HLO, and the ops on devices",
    .find = FindMissingDonations,
    .say = SayMissingDonation,
    .needs = Needs::kOptimizedPrograms,
    .thresholds = {policy::kDonationShare, policy::kRepeatedExecutions, policy::kCountedCopyBytes},
    .is_from_timeline = true};

}  // namespace xlaprof

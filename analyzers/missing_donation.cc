// Finds inputs that a program copies or replaces in each execution, because the caller keeps their
// memory although a result of the same shape could reuse it.
#include "analyzers/missing_donation.h"

#include <algorithm>

#include "analyzers/analyzer.h"
#include "analyzers/run/donatable_copies.h"
#include "analyzers/run/kept_states.h"
#include "analyzers/run/steps.h"
#include "base/jax_module.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxArguments = 8;

// Returns the figures of a program whose inputs, largest first, are copied or replaced.
template <class Input>
MissingDonationFigures FiguresOf(std::string_view module, const std::vector<Input>& inputs) {
  const std::string_view function = JaxFunctionOf(module);
  MissingDonationFigures figures{.program = std::string(function.empty() ? module : function),
                                 .is_jax = !function.empty(),
                                 .inputs = int64_t(inputs.size()),
                                 .shape = inputs.front().shape};
  const bool has_names = std::ranges::none_of(inputs, &std::string::empty, &Input::argument);
  for (const Input& input : inputs) {
    figures.bytes += double(input.bytes);
    if (!has_names) continue;
    if (figures.arguments.size() < kMaxArguments) figures.arguments.push_back(input.argument);
    std::string own = input.argument.substr(0, input.argument.find_first_of("[."));
    if (std::ranges::find(figures.own_arguments, own) == figures.own_arguments.end())
      figures.own_arguments.push_back(std::move(own));
  }
  return figures;
}

// Returns the finding of a program whose copies have times; nothing if they are too short.
std::optional<Finding> MeasuredFinding(const DonatableProgram& program, int64_t timed_steps) {
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
  MissingDonationFigures figures = FiguresOf(program.module, program.copies);
  figures.executions = measured.executions;
  figures.device = measured.device;
  figures.is_host = measured.on_host;
  figures.share = share;
  finding.figures = std::move(figures);
  return finding;
}

// Returns the finding of a program whose copies can only be counted; nothing if they are small,
// or if it ran only a few times.
std::optional<Finding> CountedFinding(const DonatableProgram& program) {
  if (double(program.bytes()) < policy::kCountedCopyBytes) return {};
  if (program.executions > 0 && program.executions < policy::kRepeatedExecutions) return {};
  Finding finding{.subject = program.subject,
                  .reason = Reason{.type = ReasonType::kNotDonated},
                  .evidence = {{.table = "graph", .rows = {program.graph_id}}}};
  if (program.executions > 0) finding.count = program.executions;
  MissingDonationFigures figures = FiguresOf(program.module, program.copies);
  figures.executions = program.executions;
  finding.figures = std::move(figures);
  return finding;
}

// Returns the finding of a program that replaces inputs without copying them; nothing if they are
// small, or only a small part of its inputs. Nothing in a capture measures what this costs.
std::optional<Finding> KeptFinding(const KeptState& program) {
  const double bytes = double(program.kept.bytes());
  if (bytes < policy::kKeptBytes) return {};
  if (bytes < policy::kKeptShare * double(program.kept.parameter_bytes)) return {};
  MissingDonationFigures figures = FiguresOf(program.module, program.kept.inputs);
  figures.is_replaced = true;
  figures.executions = program.executions;
  return Finding{.subject = program.subject,
                 .count = program.executions,
                 .reason = Reason{.type = ReasonType::kKeptAlive},
                 .evidence = {{.table = "graph", .rows = {program.graph_id}}},
                 .certainty = Certainty::kInferred,
                 .figures = std::move(figures)};
}

absl::StatusOr<Findings> FindMissingDonations(const Run& run) {
  Findings findings;
  XP_TRY(const DonatableCopies* copies, run.Get<DonatableCopies>());
  XP_TRY(const Steps* steps, run.Get<Steps>());
  for (const DonatableProgram& program : copies->programs) {
    std::optional<Finding> finding =
        program.measured ? MeasuredFinding(program, steps->timed) : CountedFinding(program);
    if (finding) findings.push_back(*std::move(finding));
  }
  XP_TRY(const KeptStates* kept, run.Get<KeptStates>());
  for (const KeptState& program : kept->programs) {
    if (std::optional<Finding> finding = KeptFinding(program))
      findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer missing_donation{
    .name = "missing_donation",
    .summary = "inputs that are copied or replaced in each execution because they are not donated",
    .meaning =
        "A compiled program updates an input and returns it, but is not allowed to overwrite it, because the caller keeps its memory. In each execution, it copies the whole input first, or needs new memory for the result if all of it changes, where a donated input is updated in place. Only compiled programs show what is donated (a profile, or --xla_dump_to), not the graphs that torch_xla dumps (XLA_SAVE_TENSORS_FILE).",
    .looks_at = "optimised HLO, and the times of ops on devices",
    .find = FindMissingDonations,
    .say = SayMissingDonation,
    .needs = Needs::kOptimizedPrograms,
    .thresholds = {policy::kDonationShare, policy::kRepeatedExecutions, policy::kCountedCopyBytes,
                   policy::kKeptBytes, policy::kKeptShare},
    .is_from_timeline = true};

}  // namespace xlaprof

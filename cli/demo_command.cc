#include "cli/demo_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analyzers/report/report.h"
#include "cli/progress.h"
#include "cli/store_file.h"
#include "cli/terminal.h"
#include "core/base/escape.h"
#include "examples/demo.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

struct DemoArguments {
  std::string pathology, output = "run.xlaprof";
  int64_t steps = 300;
  bool force = false;
};

absl::StatusOr<std::string> ReportOn(const std::string& path) {
  XP_TRY(Store store, Store::Open(path));
  XP_TRY(Report report, MakeReport(Run(store)));
  std::error_code error;
  return ReportText(report, {.colour = WantsColour("auto"),
                             .width = TerminalWidth(STDOUT_FILENO),
                             .source_roots = {std::filesystem::current_path(error)}});
}

absl::Status RunDemo(const DemoArguments& arguments) {
  const auto names = DemoPathologies();
  if (!arguments.pathology.empty() &&
      std::find(names.begin(), names.end(), arguments.pathology) == names.end()) {
    return Invalid("--pathology {}: there is no such pathology. Choose one of {}",
                   arguments.pathology, fmt::join(names, ", "));
  }
  XP_TRY(CheckStoreOutput(arguments.output, arguments.force));
  Progress progress;
  XP_TRY(DemoResult result,
         Demonstrate({.output = arguments.output,
                      .pathology = arguments.pathology,
                      .steps = arguments.steps,
                      .progress = [&](double done) { progress.Update(done, "training"); }}));
  progress.Done();
  XP_TRY(std::string report, ReportOn(arguments.output));
  return WriteOutput(
      fmt::format("MNIST, {} steps: {:.1f} % of held-out digits are read right.\n\n{}\n"
                  "Its timeline, in the browser:\n"
                  "  xlaprof view {}\n",
                  arguments.steps, 100 * result.accuracy, report, ShellWord(arguments.output)),
      "");
}

}  // namespace

void AddDemoCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* command = app.add_subcommand("demo", kDemoSummary);
  command->add_option(
      "--pathology", arguments->pathology,
      "Plants a fault: changing_batch, item, nonzero, ...; an unknown name lists all");
  command->add_option("--steps", arguments->steps, "Training steps")->check(CLI::Range(1, 1000000));
  command->add_option("-o,--output", arguments->output, "The recording");
  command->add_flag("--force", arguments->force, "Replaces an existing recording");
  command->callback([arguments, &exit_status] {
    absl::Status status = RunDemo(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

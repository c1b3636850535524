#include "cli/demo_command.h"

#include <CLI/CLI.hpp>

#include "cli/number_options.h"
#include "cli/terminal.h"

namespace xlaprof {

void AddDemoCommand(CLI::App& app, int& exit_status, absl::Status (*run)(const DemoArguments&)) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* command = app.add_subcommand("demo", kDemoSummary);
  command->add_option(
      "--pathology", arguments->pathology,
      "Plants a fault: changing_batch, item, nonzero, ...; an unknown name lists all");
  command->add_option("--steps", arguments->steps, "Training steps")
      ->check(WholeNumber(1, 1000000));
  command->add_option("-o,--output", arguments->output, "The recording");
  command->add_flag("--force", arguments->force, "Replaces an existing recording");
  command->callback([arguments, run, &exit_status] {
    absl::Status status = run(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

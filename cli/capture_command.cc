#include "cli/capture_command.h"

#include <CLI/CLI.hpp>

#include "cli/number_options.h"
#include "cli/terminal.h"

namespace xlaprof {

void AddCaptureCommand(CLI::App& app, int& exit_status,
                       absl::StatusOr<int> (*run)(const CaptureArguments&)) {
  auto arguments = std::make_shared<CaptureArguments>();
  CLI::App* command = app.add_subcommand("capture", kCaptureSummary);
  command
      ->add_option("HOST:PORT", arguments->addresses,
                   "Addresses of the profiler servers, captured at the same time: "
                   "xp.start_server(PORT), jax.profiler.start_server(PORT), XLAPROF_SERVE=PORT")
      ->required();
  command->add_option("--duration", arguments->duration, "Length of the capture: 5s, 200ms")
      ->capture_default_str();
  command->add_option("--delay", arguments->delay, "Waits this long before the capture begins")
      ->capture_default_str();
  command
      ->add_option("--retry", arguments->retries,
                   "Number of further tries if a server is missing, busy, or saw nothing")
      ->check(WholeNumber(0, 1000));
  command->add_option("-o,--output", arguments->output, "The store to write")
      ->capture_default_str();
  command->add_option("--keep", arguments->keep,
                      "Also keeps the hosts' answers (XSpaces) in this directory, for XProf");
  command
      ->add_option("--max-answer", arguments->most_answer_mb,
                   "The largest answer of a host that is taken, in MB")
      ->type_name("MB")
      ->check(WholeNumber(1, kMostAnswerMb))
      ->capture_default_str();
  command->add_flag("--force", arguments->force, "Replaces an existing store");
  command->callback([arguments, run, &exit_status] {
    auto status = run(*arguments);
    exit_status = status.ok() ? *status : Fail(status.status());
  });
}

}  // namespace xlaprof

#include "cli/stacks_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/number_options.h"
#include "cli/terminal.h"
#include "profiler/stacks/stacks.h"

namespace xlaprof {
namespace {

struct StacksArguments {
  int64_t pid = 0;
  double timeout_s = 10;
  std::string format = "text";
  bool all = false, native = false;
};

absl::StatusOr<int> RunStacks(const StacksArguments& arguments) {
  constexpr double kMostProcesses = 6;  // that may take all of their time
  stacks::Options options{.process_timeout_ns = int64_t(arguments.timeout_s * 1e9),
                          .native = arguments.native};
  options.total_timeout_ns = int64_t(kMostProcesses * arguments.timeout_s * 1e9);
  XP_TRY(const stacks::Look look, stacks::LookInto(arguments.pid, options));
  XP_TRY(Print(
      arguments.format == "json"
          ? stacks::LookJson(look)
          : stacks::LookText(look, {.width = TerminalWidth(STDOUT_FILENO), .all = arguments.all})));
  if (look.has_stacks()) return kExitDone;
  if (const std::string missing = stacks::MissingTools(look); !missing.empty())
    return NotFound("{}", missing);
  return NotFound("no stack could be read of process {} and its descendants: {}", arguments.pid,
                  look.processes.front().error);
}

}  // namespace

void AddStacksCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<StacksArguments>();
  CLI::App* command = app.add_subcommand(
      "stacks", "Shows where a hanging program is: stacks of all its processes, and open scopes");
  command->add_option("PID", arguments->pid, "The process; its descendants are read, too")
      ->required()
      ->check(WholeNumber(1, INT32_MAX));
  command->add_option("--format", arguments->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--all", arguments->all,
                    "Prints all frames, also of threads that wait for work");
  command->add_flag("--native", arguments->native,
                    "Also shows the frames of C and C++ in Python programs, by py-spy");
  command
      ->add_option(
          "--timeout", arguments->timeout_s,
          "Seconds that reading one process may take; all together take at most six times that")
      ->check(RealNumber(0.1, 3600))
      ->capture_default_str();
  command->footer("py-spy reads Python programs (pip install py-spy), gdb all others.");
  command->callback([arguments, &exit_status] {
    auto status = RunStacks(*arguments);
    exit_status = status.ok() ? *status : Fail(status.status());
  });
}

}  // namespace xlaprof

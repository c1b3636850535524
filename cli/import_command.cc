#include "cli/import_command.h"

#include <CLI/CLI.hpp>

#include "cli/input_options.h"
#include "cli/store_file.h"
#include "cli/terminal.h"

namespace xlaprof {
namespace {

struct ImportArguments {
  InputOptions input;
  std::string output;
  bool force = false;
};

absl::Status ImportRun(const ImportArguments& arguments) {
  const InputOptions& input = arguments.input;
  XP_TRY(CheckNotInput(input, arguments.output));
  XP_TRY(std::string kept, WriteStoreFile({.inputs = {input.paths.begin(), input.paths.end()},
                                           .run = input.run,
                                           .as_format = input.as_format},
                                          arguments.output, arguments.force));
  return WriteOutput(kept, "");
}

}  // namespace

void AddImportCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand("import", "Keeps a run and its findings in one file");
  AddInputOptions(*command, arguments->input);
  command->add_option("-o,--output", arguments->output, "The store to write, such as run.xlaprof")
      ->required();
  command->add_flag("--force", arguments->force, "Replaces an existing store");
  command->callback([arguments, &exit_status] {
    absl::Status status = ImportRun(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

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
  XP_TRY(Output output,
         Output::Open(arguments.output,
                      {.input = input, .force = arguments.force, .kind = OutputKind::kStore}));
  XP_TRY(std::string kept, WriteStoreFile({.inputs = {input.paths.begin(), input.paths.end()},
                                           .run = input.run,
                                           .as_format = input.as_format},
                                          output));
  return Print(kept);
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
    exit_status = RunOnInput(arguments->input, [&] { return ImportRun(*arguments); });
  });
}

}  // namespace xlaprof

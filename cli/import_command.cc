#include "cli/import_command.h"

#include "cli/store_file.h"
#include "cli/terminal.h"

namespace xlaprof {
namespace {

struct ImportArguments {
  std::vector<std::string> paths;
  std::string output, run, as_format;
  bool force = false;
};

absl::Status ImportRun(const ImportArguments& arguments) {
  XP_TRY(std::string kept,
         WriteStoreFile({.inputs = {arguments.paths.begin(), arguments.paths.end()},
                         .run = arguments.run,
                         .as_format = arguments.as_format},
                        arguments.output, arguments.force));
  return WriteOutput(kept, "");
}

}  // namespace

void AddImportCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand("import", "Keeps a run and its findings in one file");
  command->add_option("PATH", arguments->paths, "A capture directory, or any files of one run")
      ->required();
  command->add_option("-o,--output", arguments->output, "The store to write, such as run.xlaprof")
      ->required();
  command->add_option("--run", arguments->run,
                      "The run to take, where the files hold several; else the newest");
  command->add_option("--as", arguments->as_format,
                      "Read the files as this format, whatever their bytes say");
  command->add_flag("--force", arguments->force, "Replace an existing store");
  command->callback([arguments, &exit_status] {
    absl::Status status = ImportRun(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

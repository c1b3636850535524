// The xlaprof program. There is one subcommand per file.
#include "analyzers/analyzer.h"
#include "cli/capture_command.h"
#include "cli/demo_command.h"
#include "cli/export_command.h"
#include "cli/import_command.h"
#include "cli/program.h"
#include "cli/query_command.h"
#include "cli/recover_command.h"
#include "cli/report_command.h"
#include "cli/run_command.h"
#include "cli/stacks_command.h"
#include "cli/terminal.h"
#include "cli/view_command.h"
#include "exporters/exporter.h"
#include "profiler/import/formats.h"
#include "profiler/launch/child.h"

namespace xlaprof {
namespace {

constexpr const char* kDemo = "demo";  // a helper program runs it (cli/program.h)

// Lists the registries' contents, so that help is always up to date.
std::string Registered() {
  std::string text = "Reads (the format is found from the bytes, gzip and zstd too):\n";
  for (const Format* format : AllFormats())
    text +=
        fmt::format("  {:<16} {}, such as {}\n", format->name, format->summary, format->example);
  text += "\nFinds:\n";
  for (const Analyzer* analyzer : AllAnalyzers())
    text += fmt::format("  {:<20} {}\n", analyzer->name, analyzer->summary);
  text += "\nExports:\n";
  for (const Exporter* exporter : AllExporters())
    text += fmt::format("  {:<16} {}, such as {}\n", exporter->name, exporter->summary,
                        exporter->example);
  return text + "\nExit status: 0 done, 2 could not do it";
}

void AddCommands(CLI::App& app, int& exit_status) {
  AddHelperCommand(app, kDemo, kDemoSummary);
  AddRunCommand(app, exit_status);
  AddReportCommand(app, exit_status);
  AddImportCommand(app, exit_status);
  AddExportCommand(app, exit_status);
  AddViewCommand(app, exit_status);
  AddQueryCommand(app, exit_status);
  AddRecoverCommand(app, exit_status);
  AddStacksCommand(app, exit_status);
  AddCaptureCommand(app, exit_status);
}

}  // namespace
}  // namespace xlaprof

int main(int argc, char** argv) {
  using namespace xlaprof;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == kDemo) return Fail(RunHelper(command, argv));
  return RunProgram(argc, argv,
                    {.add_commands = AddCommands,
                     .footer = Registered,
                     .misuse_status = command == "run" ? kExitLauncherFailed : kExitCouldNot});
}

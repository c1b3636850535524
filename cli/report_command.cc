#include "cli/report_command.h"

#include <unistd.h>

#include <filesystem>

#include "analyzers/report.h"
#include "cli/input_options.h"
#include "cli/slice_options.h"
#include "cli/terminal.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  InputOptions input;
  SliceOptions slice;
  std::string format = "text", output, colour = "auto";
  std::vector<std::string> source_roots;
  bool all = false;
};

// Where source lines may be quoted from: what the user named, the working directory, and the
// captures' directories. A working directory of / would let a hostile log name any file, so that
// one has to be asked for.
std::vector<fs::path> SourceRoots(const ReportArguments& arguments) {
  std::vector<fs::path> roots(arguments.source_roots.begin(), arguments.source_roots.end());
  std::error_code error;
  std::vector<fs::path> implied = {fs::current_path(error)};
  for (const std::string& path : arguments.input.paths) {
    implied.push_back(fs::is_directory(path, error) ? fs::path(path)
                                                    : fs::path(path).parent_path());
  }
  for (const fs::path& root : implied) {
    fs::path real = fs::canonical(root.empty() ? "." : root, error);
    if (!error && real != real.root_path()) roots.push_back(real);
  }
  return roots;
}

absl::StatusOr<std::string> ReportOn(Store& store, const ReportArguments& arguments) {
  XP_TRY(Restrict(arguments.slice, store));
  XP_TRY(Report report, MakeReport(store));
  ReportOptions options;
  options.colour =
      arguments.colour == "always" || (arguments.output.empty() && WantsColour(arguments.colour));
  options.width = TerminalWidth(STDOUT_FILENO);
  options.source_roots = SourceRoots(arguments);
  options.all = arguments.all;
  return arguments.format == "json"       ? ReportJson(report)
         : arguments.format == "markdown" ? ReportMarkdown(report, options)
                                          : ReportText(report, options);
}

absl::Status RunReport(const ReportArguments& arguments) {
  std::string text;
  absl::Status status = WithInput(arguments.input, [&](Store& store) -> absl::Status {
    XP_TRY(text, ReportOn(store, arguments));
    return absl::OkStatus();
  });
  XP_TRY(std::move(status));
  return WriteOutput(text, arguments.output);
}

}  // namespace

void AddReportCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Says where the time goes and which line is at fault");
  AddInputOptions(*command, arguments->input);
  command->add_option("--format", arguments->format, "text, json or markdown")
      ->check(CLI::IsMember({"text", "json", "markdown"}));
  command->add_option("-o,--output", arguments->output,
                      "Write to this file instead of standard output");
  AddSliceOptions(*command, arguments->slice);
  command
      ->add_option("--source-root", arguments->source_roots,
                   "Quote source lines from files under DIR, too")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->add_flag("--all", arguments->all,
                    "Findings of severity info in full, and the evidence of each finding");
  command->add_option("--colour,--color", arguments->colour, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->callback([arguments, &exit_status] {
    absl::Status status = RunReport(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

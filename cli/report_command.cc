#include "cli/report_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzers/report/report.h"
#include "cli/export_command.h"
#include "cli/input_options.h"
#include "cli/slice_options.h"
#include "cli/terminal.h"
#include "profiler/import/file_ends.h"
#include "profiler/import/formats.h"
#include "profiler/import/xla/xla_dump_name.h"

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

absl::StatusOr<std::string> ReportOn(Store& store, const ReportArguments& arguments) {
  XP_TRY(Restrict(arguments.slice, store));
  XP_TRY(Report report, MakeReport(Run(store)));
  ReportOptions options;
  options.colour =
      arguments.colour == "always" || (arguments.output.empty() && WantsColour(arguments.colour));
  options.width = TerminalWidth(STDOUT_FILENO);
  options.source_roots = SourceRoots(arguments.input, arguments.source_roots);
  options.all = arguments.all;
  return arguments.format == "json"       ? ReportJson(report)
         : arguments.format == "markdown" ? ReportMarkdown(report, options)
                                          : ReportText(report, options);
}

bool LiesIn(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

bool IsCapture(const fs::path& path) {
  if (ParseXlaDumpName(path.filename().string())) return true;
  const std::optional<FileEnds> ends = EndsOf(path);
  return ends && Recognise(ends->bytes) != nullptr;
}

// Checks the output. A report replaces an earlier one without --force, but a mistyped name may be
// that of a capture.
absl::Status CheckOutput(const ReportArguments& arguments) {
  const std::string& output = arguments.output;
  XP_TRY(CheckNotInput(arguments.input, output));
  std::error_code error;
  if (!fs::is_regular_file(output, error)) return absl::OkStatus();
  for (const std::string& path : arguments.input.paths) {
    if (fs::is_directory(path, error) && LiesIn(output, path) && IsCapture(output))
      return Invalid("{}: this file is being read. Choose another name", output);
  }
  return absl::OkStatus();
}

absl::Status RunReport(const ReportArguments& arguments) {
  XP_TRY(CheckOutput(arguments));
  // An html report is an export, the viewer and the run in one page.
  if (arguments.format == "html")
    return RunExport({.input = arguments.input,
                      .slice = arguments.slice,
                      .format = arguments.format,
                      .output = arguments.output.empty() ? "-" : arguments.output,
                      .source_roots = arguments.source_roots,
                      .force = true});
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
  command->add_option("--format", arguments->format, "text, json, markdown or html")
      ->check(CLI::IsMember({"text", "json", "markdown", "html"}));
  command->add_option("-o,--output", arguments->output,
                      "Writes the report, also as html, to this file instead of standard output");
  AddSliceOptions(*command, arguments->slice);
  AddSourceRootOption(*command, arguments->source_roots);
  command->add_flag(
      "--all", arguments->all,
      "Prints every finding in full, with its evidence, including those under 'Also seen'");
  command->add_option("--colour,--color", arguments->colour, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->callback([arguments, &exit_status] {
    absl::Status status = RunReport(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

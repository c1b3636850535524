#include "cli/report_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzers/report/report.h"
#include "cli/export_command.h"
#include "cli/input_options.h"
#include "cli/output.h"
#include "cli/slice_options.h"
#include "cli/terminal.h"

namespace xlaprof {
namespace {

struct ReportArguments {
  InputOptions input;
  SliceOptions slice;
  std::string format = "text", output, colour = "auto";
  std::vector<std::string> source_roots;
  bool all = false, force = false;
};

absl::StatusOr<std::string> ReportOn(Store& store, const ReportArguments& arguments) {
  XP_TRY(Restrict(arguments.slice, store));
  ReportOptions options;
  options.source_roots = SourceRoots(arguments.input, arguments.source_roots);
  Run run(store);
  XP_TRY(LetReadSources(options.source_roots, run));
  XP_TRY(Report report, MakeReport(run));
  options.colour =
      arguments.colour == "always" || (arguments.output.empty() && WantsColour(arguments.colour));
  options.width = TerminalWidth(STDOUT_FILENO);
  options.all = arguments.all;
  // A file may lie beside the capture, and quotes its messages.
  options.marks_origin = !arguments.output.empty();
  return arguments.format == "json"       ? ReportJson(report)
         : arguments.format == "markdown" ? ReportMarkdown(report, options)
                                          : ReportText(report, options);
}

absl::Status RunReport(const ReportArguments& arguments) {
  // An html report is an export, the viewer and the run in one page.
  if (arguments.format == "html")
    return RunExport({.input = arguments.input,
                      .slice = arguments.slice,
                      .format = arguments.format,
                      .output = arguments.output.empty() ? "-" : arguments.output,
                      .source_roots = arguments.source_roots,
                      .force = arguments.force});
  std::optional<Output> output;
  if (!arguments.output.empty()) {
    XP_TRY(output, Output::Open(arguments.output, {.input = arguments.input,
                                                   .force = arguments.force,
                                                   .kind = OutputKind::kTextReport}));
  }
  std::string text;
  absl::Status status = WithInput(arguments.input, [&](Store& store) -> absl::Status {
    XP_TRY(text, ReportOn(store, arguments));
    return absl::OkStatus();
  });
  XP_TRY(std::move(status));
  return output ? output->WriteText(text) : Print(text);
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
  command->add_flag("--force", arguments->force, "Replaces an existing file");
  AddSliceOptions(*command, arguments->slice);
  AddSourceRootOption(*command, arguments->source_roots);
  command->add_flag(
      "--all", arguments->all,
      "Prints every finding in full, with its evidence, including those under 'Also seen'");
  command->add_option("--colour,--color", arguments->colour, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->callback([arguments, &exit_status] {
    exit_status = RunOnInput(arguments->input, [&] { return RunReport(*arguments); });
  });
}

}  // namespace xlaprof

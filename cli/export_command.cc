#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzers/analyzer.h"
#include "analyzers/quantity.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "core/base/escape.h"
#include "core/base/unfinished_file.h"
#include "exporters/exporter.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

const fs::path kStdout = "-";

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Exporter* exporter : AllExporters()) names.push_back(exporter->name);
  return names;
}

absl::Status CheckOutput(const ExportArguments& arguments, const Exporter& exporter) {
  const fs::path output = arguments.output;
  std::error_code error;
  if (output == kStdout)
    return exporter.streams
               ? absl::OkStatus()
               : Invalid("-: {} cannot be written to standard output. Give a file's name",
                         exporter.name);
  if (output.extension() == ".gz" && !exporter.streams)
    return Invalid("{}: {} files are not read compressed. Choose a name without .gz",
                   arguments.output, exporter.name);
  if (!fs::exists(fs::symlink_status(output, error))) return absl::OkStatus();
  if (!fs::is_regular_file(output, error))
    return Invalid("{}: exists and is not a regular file. Choose another name", arguments.output);
  XP_TRY(CheckNotInput(arguments.input, arguments.output));
  if (!arguments.force) return OutputExistsError(arguments.output);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunExport(const ExportArguments& arguments) {
  const Exporter& exporter = *FindExporter(arguments.format);
  XP_TRY(CheckOutput(arguments, exporter));
  const bool to_stdout = arguments.output == kStdout;
  UnfinishedFile unfinished(arguments.output);
  Exported exported;
  std::string damage;
  absl::Status status = WithInput(arguments.input, [&](Store& store) -> absl::Status {
    XP_TRY(Restrict(arguments.slice, store));
    const Run run(store);
    Findings findings;
    if (!arguments.no_findings) {
      XP_TRY(findings, Analyze(run));
    }
    Progress progress;
    ExportOptions options{.path = to_stdout ? kStdout : unfinished.path(),
                          .gzip = fs::path(arguments.output).extension() == ".gz",
                          .source_roots = SourceRoots(arguments.input, arguments.source_roots)};
    options.progress = [&](double fraction) { progress.Update(fraction, arguments.output); };
    XP_TRY(exported, exporter.write(run, findings, options));
    XP_TRY(damage, DamageOf(store));
    return absl::OkStatus();
  });
  XP_TRY(std::move(status));
  std::string text;
  if (!to_stdout) {
    XP_TRY(unfinished.Finish());
    std::error_code error;
    text = fmt::format("{}: {}, {} event{}\n", arguments.output,
                       BytesText(double(fs::file_size(arguments.output, error))),
                       exported.event_count, exported.event_count == 1 ? "" : "s");
  }
  for (const std::string& what : exported.left_out) text += fmt::format("  left out: {}\n", what);
  if (!damage.empty()) text += fmt::format("  {}\n", damage);
  // The text has names of files and texts of stores, which may be hostile.
  text = Printable(text, /*keep_newlines=*/true);
  if (!to_stdout) return WriteOutput(text, "");
  std::fputs(text.c_str(), stderr);
  return absl::OkStatus();
}

void AddExportCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export", "Writes a run and its findings for another tool");
  AddInputOptions(*command, arguments->input);
  std::string formats;
  for (const Exporter* exporter : AllExporters())
    formats +=
        fmt::format("{}{}: {}", formats.empty() ? "" : "; ", exporter->name, exporter->summary);
  command->add_option("--format", arguments->format, formats)
      ->required()
      ->check(CLI::IsMember(Names()));
  command
      ->add_option("-o,--output", arguments->output,
                   "The file to write, compressed with the suffix .gz; - is standard output")
      ->required();
  AddSliceOptions(*command, arguments->slice);
  AddSourceRootOption(*command, arguments->source_roots);
  command->add_flag("--no-findings", arguments->no_findings,
                    "Exports the run without its findings");
  command->add_flag("--force", arguments->force, "Replaces an existing file");
  command->callback([arguments, &exit_status] {
    absl::Status status = RunExport(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

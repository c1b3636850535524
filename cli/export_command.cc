#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzers/analyzer.h"
#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "base/escape.h"
#include "base/say.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
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

// Returns the output, or nothing for standard output.
absl::StatusOr<std::optional<Output>> OpenOutput(const ExportArguments& arguments,
                                                 const Exporter& exporter) {
  const fs::path output = arguments.output;
  if (output == kStdout && !exporter.streams)
    return Invalid("-: {} cannot be written to standard output. Give a file's name", exporter.name);
  if (output == kStdout) return std::nullopt;
  if (output.extension() == ".gz" && !exporter.streams)
    return Invalid("{}: {} files are not read compressed. Choose a name without .gz",
                   arguments.output, exporter.name);
  return Output::Open(arguments.output, {.input = arguments.input, .force = arguments.force});
}

}  // namespace

absl::Status RunExport(const ExportArguments& arguments) {
  const Exporter& exporter = *FindExporter(arguments.format);
  XP_TRY(std::optional<Output> output, OpenOutput(arguments, exporter));
  Exported exported;
  std::string damage;
  absl::Status status = WithInput(arguments.input, [&](Store& store) -> absl::Status {
    XP_TRY(Restrict(arguments.slice, store));
    Run run(store);
    XP_TRY(LetReadSources(SourceRoots(arguments.input, arguments.source_roots), run));
    Findings findings;
    if (!arguments.no_findings) {
      XP_TRY(findings, Analyze(run));
    }
    Progress progress;
    fs::path path = kStdout;
    if (output) {
      XP_TRY(path, output->Begin());
    }
    ExportOptions options{.path = path,
                          .gzip = fs::path(arguments.output).extension() == ".gz",
                          .source_roots = SourceRoots(arguments.input, arguments.source_roots)};
    options.progress = [&](double fraction) { progress.Update(fraction, arguments.output); };
    XP_TRY(exported, exporter.write(run, findings, options));
    XP_TRY(damage, DamageOf(store));
    return absl::OkStatus();
  });
  XP_TRY(std::move(status));
  std::string text;
  if (output) {
    XP_TRY(output->Finish());
    std::error_code error;
    text = fmt::format("{}: {}, {} event{}\n", arguments.output,
                       BytesText(double(fs::file_size(arguments.output, error))),
                       exported.event_count, exported.event_count == 1 ? "" : "s");
  }
  for (const std::string& what : exported.left_out) text += fmt::format("  left out: {}\n", what);
  if (!damage.empty()) text += fmt::format("  {}\n", damage);
  // The text has names of files and texts of stores, which may be hostile.
  text = Printable(text, /*keep_newlines=*/true);
  if (output) return Print(text);
  Say(text);
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
    exit_status = RunOnInput(arguments->input, [&] { return RunExport(*arguments); });
  });
}

}  // namespace xlaprof

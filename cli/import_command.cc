#include "cli/import_command.h"

#include "analyzers/quantity.h"
#include "analyzers/report.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/unfinished_file.h"
#include "core/base/escape.h"
#include "profiler/import/import.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::vector<std::string> paths;
  std::string output, run, as_format;
  bool force = false;
};

const char* Name(Severity severity) {
  return severity == Severity::kError     ? "error"
         : severity == Severity::kWarning ? "warning"
                                          : "info";
}

absl::Status StoreFindings(const Findings& findings, Store& store) {
  XP_TRY(store.Begin());
  int64_t rank = 0;
  for (const Finding& finding : findings) {
    XP_TRY(store.Run(
        "INSERT INTO finding (id, fingerprint, kind, severity, title, count, cost_ns, json) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        ++rank, finding.fingerprint, finding.kind, std::string(Name(finding.severity)),
        finding.title, finding.count, finding.cost_ns, FindingJson(finding)));
  }
  return store.Commit();
}

// What may be replaced by --force: a store of ours, never the capture that is being read.
absl::Status CheckOutput(const fs::path& output, bool force) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output, error))) return absl::OkStatus();
  if (!force)
    return absl::AlreadyExistsError(fmt::format(
        "{}: is there already. Choose another name, or --force to replace it", output.string()));
  auto store = Store::Open(output);
  if (!store.ok())
    return Invalid("{}: is there and no store of xlaprof, so --force does not replace it ({})",
                   output.string(), Message(store.status()));
  return absl::OkStatus();
}

absl::StatusOr<Report> ImportInto(const ImportArguments& arguments, const fs::path& path) {
  XP_TRY(Store store, Store::Create(path));
  {
    Progress progress;
    ImportOptions options{.inputs = {arguments.paths.begin(), arguments.paths.end()},
                          .run = arguments.run,
                          .as_format = arguments.as_format};
    options.progress = [&](double fraction, std::string_view what) {
      progress.Update(fraction, what);
    };
    XP_TRY(Import(options, store));
  }
  XP_TRY(Report report, MakeReport(store));
  XP_TRY(StoreFindings(report.findings, store));
  // Nobody writes to it any more: without a write-ahead log, readers need no files beside it.
  XP_TRY(store.Exec("PRAGMA journal_mode=DELETE"));
  return report;
}

absl::Status ImportRun(const ImportArguments& arguments) {
  const fs::path output = arguments.output;
  XP_TRY(CheckOutput(output, arguments.force));
  UnfinishedFile unfinished(output);
  XP_TRY(Report report, ImportInto(arguments, unfinished.path()));
  XP_TRY(CheckOutput(output, arguments.force));
  std::error_code error;
  auto bytes = fs::file_size(unfinished.path(), error);
  XP_TRY(unfinished.Finish());
  int64_t files = 0, warnings = 0;
  for (const SourceRow& source : report.sources) files += source.imported;
  for (const Finding& finding : report.findings) warnings += finding.severity != Severity::kInfo;
  return WriteOutput(
      fmt::format(
          "{}: {}, {} file{} read, {} warning{}{}. To see them: xlaprof report {}\n",
          Printable(output.string()), BytesText(double(bytes)), files, files == 1 ? "" : "s",
          warnings, warnings == 1 ? "" : "s",
          report.issues.empty() ? "" : fmt::format(", {} odd in the input", report.issues.size()),
          ShellWord(output.string())),
      "");
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

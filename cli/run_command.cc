#include "cli/run_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "base/escape.h"
#include "base/say.h"
#include "cli/input_options.h"
#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/slice_options.h"
#include "cli/terminal.h"
#include "profiler/launch/child.h"
#include "profiler/launch/pack.h"
#include "profiler/launch/recording_folder.h"
#include "profiler/launch/secrets.h"

namespace xlaprof {
namespace {

struct RunArguments {
  RunOptions options;
  std::string steps, archive;
  bool is_light = false, tidy = false;
};

absl::StatusOr<std::pair<int64_t, int64_t>> StepsOf(const std::string& text) {
  Slice slice;
  XP_TRY(ParseSteps(text, slice));
  if (!slice.first_step || !slice.last_step)
    return Invalid("--steps {}: name the first and the last step to profile, such as 100:110",
                   text);
  return std::pair(*slice.first_step, *slice.last_step);
}

// Makes the report: for standard error, and without colours for the recording, where whoever gets the
// archive reads it.
struct ReportTexts {
  std::string for_terminal, for_file;
};

absl::StatusOr<ReportTexts> ReportOn(const std::string& folder) {
  ReportTexts texts;
  const InputOptions input{.paths = {folder}, .run = {}, .as_format = {}};
  XP_TRY(WithInput(input, [&](Store& store) -> absl::Status {
    const auto roots = SourceRoots(input, {});
    Run run(store);
    XP_TRY(LetReadSources(roots, run));
    XP_TRY(Report report, MakeReport(run));
    texts = {.for_terminal = ReportText(report, {.colour = WantsColour("auto", STDERR_FILENO),
                                                 .width = TerminalWidth(STDERR_FILENO),
                                                 .source_roots = roots}),
             .for_file = ReportText(report, {.source_roots = roots})};
    return absl::OkStatus();
  }));
  return texts;
}

// Returns whether anything recorded itself: a file other than run.jsonl is there.
bool HasRecorded(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error) && entry.path().filename() != kRunFile) return true;
  }
  return false;
}

constexpr std::string_view kNothingRecorded =
    "nothing was recorded, because the command ran neither a Python program that imports PyTorch, PyTorch/XLA, "
    "TorchTPU or JAX, nor one with xlaprof's recorder. Python that is started with -I, -E or -S is not "
    "recorded.";

// Writes the report beside the files that it is made from. A file of the command's keeps its name.
absl::Status KeepReport(const std::filesystem::path& path, std::string_view text) {
  auto output = Output::Open(path.string(), {});
  if (absl::IsAlreadyExists(output.status()))
    return absl::AlreadyExistsError(
        fmt::format("{}: is the command's own file, so the report is not kept", path.string()));
  XP_TRY(output.status());
  return output->WriteText(text);
}

// Prints the report on standard error, because standard output is the command's.
void PrintReport(const std::filesystem::path& folder, const Ended& ended) {
  std::error_code error;
  const std::string relative = std::filesystem::relative(folder, error).string();
  const std::string name = ShellWord(relative);
  const std::string how =
      EndText(ended.exit_status, ended.signal != 0 ? OptInt(ended.signal) : OptInt());
  if (!HasRecorded(folder)) {
    Say(fmt::format("xlaprof: {}; {}\n", how, kNothingRecorded));
    return;
  }
  const absl::StatusOr<ReportTexts> report = ReportOn(relative);
  std::string text = "\n";
  if (report.ok()) {
    const absl::Status kept = KeepReport(folder / kReportFile, report->for_file);
    text += fmt::format(
        "{}\nThe files are in {}. To see the report again, or the timeline in the browser:\n"
        "  xlaprof report {}\n  xlaprof view {}\n",
        report->for_terminal, name, name, name);
    if (!kept.ok()) text += fmt::format("xlaprof: {}\n", Printable(Message(kept)));
  } else {
    text += fmt::format("xlaprof: {}; {}\n", how,
                        Printable(Message(report.status()), /*keep_newlines=*/true));
  }
  Say(text);
}

// Packs the recording, and says so on standard error. A failure does not change the exit status, which
// is the command's; the directory then stays.
void Pack(const RunArguments& arguments, const std::filesystem::path& folder) {
  const absl::StatusOr<Packed> packed =
      PackFolder(folder, arguments.archive, Secrets::OfEnvironment());
  if (!packed.ok()) {
    Fail(packed.status());
    return;
  }
  Say(fmt::format("xlaprof: {}: {}, {} replaced. To read it: xlaprof report {}\n",
                  arguments.archive, Plural(packed->files, "file"),
                  Plural(packed->secrets, "secret"), ShellWord(arguments.archive)));
  std::error_code error;
  if (arguments.tidy) std::filesystem::remove_all(folder, error);
}

// Returns the exit status of xlaprof.
absl::StatusOr<int> RunRecorded(RunArguments arguments) {
  RunOptions& options = arguments.options;
  if (!arguments.steps.empty()) {
    XP_TRY(options.steps, StepsOf(arguments.steps));
  }
  XP_TRY(RecordingFolder folder, RecordingFolder::Make(options));
  XP_TRY(const Ended ended, folder.Record(options));
  PrintReport(folder.path(), ended);
  if (!arguments.archive.empty()) Pack(arguments, folder.path());
  return ended.exit_status;
}

int StatusOfFailure(const absl::Status& status) {
  if (absl::IsNotFound(status)) return kExitNotFound;
  return absl::IsPermissionDenied(status) ? kExitCannotExecute : kExitLauncherFailed;
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<RunArguments>();
  RunOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "run", "Runs a command, records it, and reports on it: run -- python train.py");
  command
      ->add_option(
          "-o,--output", options.folder,
          "The directory to record to; xlaprof-run-N unless given. It must be new or empty")
      ->type_name("DIR");
  command->add_option("--steps", arguments->steps,
                      "Profiles steps A to B, both included, instead of some steady steps: A:B");
  command->add_option("--duration", options.duration_s, "Ends the profile after this many seconds")
      ->type_name("S")
      ->check(RealNumber(0.001, 1e6));
  auto* light = command->add_flag("--light", arguments->is_light,
                                  "Records what costs next to nothing (the default)");
  command
      ->add_flag("--full", options.is_full,
                 "Also writes the graphs with the lines of their operations, which slows the run")
      ->excludes(light);
  CLI::Option* archive =
      command
          ->add_option("--archive", arguments->archive,
                       "Packs all files of the recording into this .tar.gz, with secrets of known forms masked")
          ->type_name("FILE");
  command->add_flag("--tidy", arguments->tidy, "Removes the directory when it is packed")
      ->needs(archive);
  command->add_option("COMMAND", options.command, "The command and its arguments, after --")
      ->required();
  command->positionals_at_end();
  command->callback([arguments, &exit_status] {
    const absl::StatusOr<int> status = RunRecorded(*arguments);
    if (!status.ok()) Fail(status.status());
    exit_status = status.ok() ? *status : StatusOfFailure(status.status());
  });
}

}  // namespace xlaprof

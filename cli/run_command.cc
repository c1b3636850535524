#include "cli/run_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

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
  bool is_light = false, tidy = false, force = false;
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

// Says how to read the recording again, which is a folder or an archive.
std::string HowToRead(std::string_view what, const std::string& path) {
  const std::string name = ShellWord(path);
  return fmt::format(
      "{} {}. To see the report again, or the timeline in the browser:\n  xlaprof report {}\n  xlaprof view {}\n",
      what, name, name, name);
}

// Prints the report on standard error, because standard output is the command's. Returns whether
// anything was recorded that can be read again.
bool PrintReport(const std::filesystem::path& folder, const std::string& name, const Ended& ended) {
  const std::string how =
      EndText(ended.exit_status, ended.signal != 0 ? OptInt(ended.signal) : OptInt());
  if (!HasRecorded(folder)) {
    Say(fmt::format("xlaprof: {}; {}\n", how, kNothingRecorded));
    return false;
  }
  const absl::StatusOr<ReportTexts> report = ReportOn(name);
  if (!report.ok()) {
    Say(fmt::format("\nxlaprof: {}; {}\n", how,
                    Printable(Message(report.status()), /*keep_newlines=*/true)));
    return false;
  }
  const absl::Status kept = KeepReport(folder / kReportFile, report->for_file);
  Say(fmt::format("\n{}\n", report->for_terminal));
  if (!kept.ok()) Say(fmt::format("xlaprof: {}\n", Printable(Message(kept))));
  return true;
}

std::string Listed(const std::filesystem::path& folder,
                   const std::vector<std::filesystem::path>& paths) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < std::min(paths.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + Printable(paths[i].lexically_relative(folder).string());
  if (paths.size() > kMost) text += fmt::format(" and {} more", paths.size() - kMost);
  return text;
}

absl::StatusOr<Packed> WriteArchive(Output& archive, const std::filesystem::path& folder,
                                    const std::vector<std::string>& command) {
  XP_TRY(const std::filesystem::path file, archive.Begin());
  XP_TRY(Packed packed, PackFolder(folder, file, Secrets::OfRun(command)));
  XP_TRY(archive.Finish());
  return packed;
}

// Packs the recording, and says so on standard error. A failure does not change the exit status, which
// is the command's; the directory then stays. Returns whether the archive was written.
bool Pack(Output& archive, const RunArguments& arguments, const std::filesystem::path& folder,
          const std::string& name) {
  const absl::StatusOr<Packed> packed = WriteArchive(archive, folder, arguments.options.command);
  if (!packed.ok()) {
    Fail(packed.status());
    return false;
  }
  Say(fmt::format("xlaprof: {}: {}, {} replaced\n", Printable(archive.name()),
                  Plural(packed->members, "file"), Plural(packed->secrets, "secret")));
  for (const std::string& file : packed->unread)
    Say(fmt::format("xlaprof: not searched for secrets: {}\n", Printable(file)));
  if (!packed->left_out.empty())
    Say(fmt::format("xlaprof: the archive lacks what is no file or cannot be read: {}\n",
                    Listed(folder, packed->left_out)));
  if (!arguments.tidy) return true;
  const std::vector<std::filesystem::path> stay = RemovePacked(folder, *packed);
  if (!stay.empty())
    Say(fmt::format(
        "xlaprof: {} stays, because this is not in the archive or has changed since: {}\n",
        ShellWord(name), Listed(folder, stay)));
  return true;
}

// Checks the archive's name and the place for it before the command runs.
absl::StatusOr<std::optional<Output>> OpenArchive(const RunArguments& arguments) {
  if (arguments.archive.empty()) return std::nullopt;
  const std::string& folder = arguments.options.folder;
  if (arguments.tidy && !folder.empty() && LiesIn(arguments.archive, folder))
    return Invalid("--archive {}: lies in {}, which --tidy removes. Choose another place",
                   arguments.archive, folder);
  XP_TRY(Output archive, Output::Open(arguments.archive, {.input = {}, .force = arguments.force}));
  return archive;
}

// Returns the exit status of xlaprof.
absl::StatusOr<int> RunRecorded(RunArguments arguments) {
  RunOptions& options = arguments.options;
  if (!arguments.steps.empty()) {
    XP_TRY(options.steps, StepsOf(arguments.steps));
  }
  absl::StatusOr<std::optional<Output>> archive = OpenArchive(arguments);
  if (!archive.ok()) {
    Fail(archive.status());
    return kExitLauncherFailed;
  }
  XP_TRY(RecordingFolder folder, RecordingFolder::Make(options));
  XP_TRY(const Ended ended, folder.Record(options));
  std::error_code error;
  const std::string name = std::filesystem::relative(folder.path(), error).string();
  const bool has_report = PrintReport(folder.path(), name, ended);
  const bool is_packed = *archive && Pack(**archive, arguments, folder.path(), name);
  if (!has_report) return ended.exit_status;
  if (is_packed && arguments.tidy) {
    Say(HowToRead("The recording is in", (*archive)->name()));
  } else {
    Say(HowToRead("The files are in", name));
    if (is_packed) Say(fmt::format("  xlaprof report {}\n", ShellWord((*archive)->name())));
  }
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
  command
      ->add_flag("--tidy", arguments->tidy,
                 "Removes what is packed, and the directory if it is empty then")
      ->needs(archive);
  command->add_flag("--force", arguments->force, "Replaces an existing archive")->needs(archive);
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

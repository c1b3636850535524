#include "cli/input_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "base/escape.h"
#include "base/say.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "profiler/import/formats.h"
#include "profiler/import/import.h"
#include "profiler/record/recover.h"
#include "profiler/store/damaged_store.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

bool IsStore(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::string_view(head, sizeof head) == kMagic;
}

absl::Status CheckRun(const Store& store, const std::string& path, const std::string& run) {
  if (run.empty()) return absl::OkStatus();
  XP_TRY(auto held,
         store.One<int64_t>("SELECT count(*) FROM run WHERE selected = 1 AND label = ?1", run));
  if (held.value_or(0) > 0) return absl::OkStatus();
  XP_TRY(auto label, store.Meta("run_label"));
  return NotFound(
      "--run {}: {} holds the run '{}' only. Import the run from the files that it was made from",
      run, path, label.value_or("?"));
}

// Warns on stderr that a running recording's latest events are not in its store.
absl::Status TellRing(const Store& store, const std::string& path) {
  std::error_code error;
  if (!fs::exists(RingPath(path), error)) return absl::OkStatus();
  XP_TRY(auto open, store.One<int64_t>("SELECT count(*) FROM recording WHERE ended = 0"));
  if (open.value_or(0) == 0) return absl::OkStatus();
  const std::string text = fmt::format(
      "xlaprof: {0}: its recording still runs, or its ring cannot be read: what it did last is not "
      "in here. What is wrong with the ring: xlaprof recover {1}\n",
      path, ShellWord(path));
  Say(Printable(text, /*keep_newlines=*/true));
  return absl::OkStatus();
}

absl::StatusOr<Store> OpenInput(const InputOptions& input) {
  if (input.paths.size() == 1 && IsStore(input.paths[0])) {
    auto killed = ReadKilled(input.paths[0]);
    if (killed.ok() && *killed) {
      XP_TRY(CheckRun(**killed, input.paths[0], input.run));
      XP_TRY(const OptText end, (*killed)->Meta("recording_end"));
      const std::string text = fmt::format(
          "xlaprof: {0}: {2}. What its ring holds is read with it; xlaprof recover {1} puts it in\n",
          input.paths[0], ShellWord(input.paths[0]),
          end == "unwritten"
              ? "it could not be written when its recording ended, for example because the disk was full"
          : end == "killed"
              ? "its process was killed"
              : "it lacks events of forked processes, which went on after its recording");
      Say(Printable(text, /*keep_newlines=*/true));
      return **std::move(killed);
    }
    XP_TRY(Store store, Store::Open(input.paths[0]));
    XP_TRY(CheckRun(store, input.paths[0], input.run));
    XP_TRY(TellRing(store, input.paths[0]));
    return store;
  }
  XP_TRY(Store store, Store::CreateTemporary());
  Progress progress;
  ImportOptions options{.inputs = {input.paths.begin(), input.paths.end()},
                        .run = input.run,
                        .as_format = input.as_format};
  options.progress = [&](double fraction, std::string_view what) {
    progress.Update(fraction, what);
  };
  XP_TRY(Import(options, store));
  return store;
}

constexpr std::string_view kListRuns = "list";  // value of --run

// Returns the runs that a store lists. It does not know how many files other runs have.
absl::StatusOr<RunPlan> RunsOfStore(const std::string& path) {
  XP_TRY(const Store store, Store::Open(path));
  RunPlan plan;
  XP_TRY(plan.runs,
         store.Collect("SELECT label, why, selected, (SELECT count(*) FROM source WHERE "
                       "imported AND run.selected) FROM run ORDER BY id",
                       [](std::string label, std::string why, bool chosen, int64_t files) {
                         return PlannedRun{label, why, chosen, size_t(files)};
                       }));
  return plan;
}

absl::Status ListRuns(const InputOptions& input) {
  const bool is_store = input.paths.size() == 1 && IsStore(input.paths[0]);
  XP_TRY(const RunPlan plan, is_store
                                 ? RunsOfStore(input.paths[0])
                                 : PlanImport({.inputs = {input.paths.begin(), input.paths.end()},
                                               .as_format = input.as_format}));
  std::vector<PlannedRun> runs = plan.other_jobs;
  runs.insert(runs.end(), plan.runs.begin(), plan.runs.end());
  size_t width = 0;
  for (const PlannedRun& run : runs) width = std::max(width, Printable(run.label).size());
  std::string text;
  for (const PlannedRun& run : runs) {
    const std::string files =
        run.files == 0 ? "" : fmt::format("{} file{}", run.files, run.files == 1 ? "" : "s");
    text += fmt::format("{} {:{}}  {:>9}  {}\n", run.is_chosen ? '*' : ' ', Printable(run.label),
                        width, files, run.why);
  }
  text += is_store ? "The store holds the run with *.\n"
                   : "The run with * is read unless --run names another one.\n";
  return Print(text);
}

}  // namespace

int RunOnInput(const InputOptions& input, const std::function<absl::Status()>& run) {
  const absl::Status status = input.run == kListRuns ? ListRuns(input) : run();
  return status.ok() ? kExitDone : Fail(status);
}

void AddInputOptions(CLI::App& command, InputOptions& options) {
  command
      .add_option("PATH", options.paths, "A store, a capture directory, or any files of one run")
      ->required();
  AddRunOptions(command, options);
}

void AddSourceRootOption(CLI::App& command, std::vector<std::string>& roots) {
  command.add_option("--source-root", roots, "Also quotes source lines from files under DIR")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

std::vector<fs::path> SourceRoots(const InputOptions& input,
                                  const std::vector<std::string>& asked) {
  std::vector<fs::path> roots(asked.begin(), asked.end());
  std::error_code error;
  std::vector<fs::path> implied = {fs::current_path(error)};
  for (const std::string& path : input.paths) {
    if (fs::is_directory(path, error)) implied.push_back(path);
  }
  for (const fs::path& root : implied) {
    fs::path real = fs::canonical(root.empty() ? "." : root, error);
    if (!error && real != real.root_path()) roots.push_back(real);
  }
  return roots;
}

void AddRunOptions(CLI::App& command, InputOptions& options) {
  command.add_option(
      "--run", options.run,
      "Chooses a run by its label if the files hold several; `list` lists them. Default: "
      "the newest");
  command.add_option(
      "--as", options.as_format,
      fmt::format("Reads every file as this format instead of recognising it: {}", FormatNames()));
}

absl::Status WithInput(const InputOptions& input, const std::function<absl::Status(Store&)>& use) {
  auto store = OpenInput(input);
  absl::Status status = store.ok() ? use(*store) : store.status();
  if (!absl::IsDataLoss(status) || !IsStore(input.paths[0])) return status;
  XP_TRY(Store recovered, Store::CreateTemporary());
  XP_TRY(ReadDamagedStore(input.paths[0], recovered));
  return use(recovered);
}

absl::StatusOr<std::string> DamageOf(const Store& store) {
  XP_TRY(auto advice,
         store.One<std::string>("SELECT advice FROM import_issue WHERE code = 'damaged_store'"));
  return advice.value_or("");
}

}  // namespace xlaprof

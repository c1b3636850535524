#include "cli/recover_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analyzers/open_scopes_text.h"
#include "base/escape.h"
#include "cli/input_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "profiler/record/recover.h"
#include "profiler/store/damaged_store.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

struct RecoverArguments {
  std::vector<std::string> paths;
  std::string output;
  bool force = false;
};

// Returns the scopes that were open when the process of `store` was killed, one line per thread.
absl::StatusOr<std::string> KilledText(const Store& store) {
  const Run run(store);
  XP_TRY(const KilledScopes* killed, run.Get<KilledScopes>());
  if (killed->threads.empty()) return std::string();
  std::string text = "open when the process was killed:\n";
  for (const std::string& line : KilledScopesTexts(*killed)) text += fmt::format("  {}\n", line);
  return text;
}

absl::StatusOr<std::string> RecoverStore(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return NotFound("{}: no such file. Name the store that was being recorded", path);
  XP_TRY(const Recovered recovered, RecoverRecording(path));
  const auto [events, forked] = recovered;
  std::string told;
  if (events > 0)
    told = fmt::format("{}: {} event{} taken in. To see them: xlaprof report {}\n", path, events,
                       events == 1 ? "" : "s", ShellWord(path));
  if (forked > 0)
    told += fmt::format("{}: lacks {} event{} of forked processes, which {} now counted in it{}\n",
                        path, forked, forked == 1 ? "" : "s", forked == 1 ? "is" : "are",
                        fs::exists(RingPath(path), error) ? ". Such processes still run" : "");
  if (events > 0) {
    XP_TRY(const Store store, Store::Open(path));
    XP_TRY(const std::string killed, KilledText(store));
    told += killed;
  }
  if (!told.empty()) return told;
  XP_TRY(internal::ToStatus(Store::Open(path)));  // it may not be a store of ours
  return fmt::format("{}: nothing waits in a ring\n", path);
}

// Writes all of `store` to an empty file.
absl::Status CopyTo(const fs::path& to, const absl::StatusOr<Store>& store) {
  XP_TRY(store.status());
  return store->Run("VACUUM INTO ?1", to.string());
}

// Writes to the empty file `to` what can be read of the store at `path` and of its ring, and
// changes neither. Returns what that is, in sentences.
absl::StatusOr<std::string> WriteWhole(const std::string& path, const fs::path& to) {
  absl::StatusOr<std::optional<Store>> killed = ReadKilled(path);
  if (killed.ok() && *killed) {
    XP_TRY((*killed)->Run("VACUUM INTO ?1", to.string()));
    XP_TRY(const std::string open, KilledText(**killed));
    return "and its ring hold.\n" + open;
  }
  std::error_code error;
  const absl::Status copied = CopyTo(to, Store::Open(path));
  if (copied.ok() && !killed.ok()) return killed.status();  // the ring is damaged, the store is not
  if (copied.ok())
    return fs::exists(RingPath(path), error)
               ? "holds. Its recording still runs, so what it did last is missing.\n"
               : "holds. Nothing waits in a ring.\n";
  if (!absl::IsDataLoss(copied)) return copied;
  XP_TRY(Store whole, Store::CreateTemporary());
  XP_TRY(ReadDamagedStore(path, whole));
  fs::resize_file(to, 0, error);  // half a copy
  XP_TRY(CopyTo(to, std::move(whole)));
  return "still holds, which is damaged.\n";
}

// Writes a whole store beside a recording, or a damaged store, of which nothing is changed.
absl::StatusOr<std::string> RecoverTo(const std::string& path, const std::string& to, bool force) {
  XP_TRY(
      Output output,
      Output::Open(to, {.input = {.paths = {path}}, .force = force, .kind = OutputKind::kStore}));
  XP_TRY(const fs::path part, output.Begin());
  XP_TRY(const std::string what, WriteWhole(path, part));
  XP_TRY(const Store written, Store::Open(part));
  XP_TRY(const std::string damage, DamageOf(written));
  XP_TRY(output.Finish());
  return fmt::format("{}: has what {} {}{}To see it: xlaprof report {}\n", to, path, what,
                     damage.empty() ? "" : damage + "\n", ShellWord(to));
}

// Returns the stores below `folder` that have a ring, in order.
std::vector<std::string> StoresWithRings(const fs::path& folder) {
  std::vector<std::string> stores;
  std::error_code error;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, kOptions, error), end; !error && at != end;
       at.increment(error)) {
    if (const fs::path store = fs::path(at->path()).replace_extension();
        RingPath(store) == at->path())
      stores.push_back(store.string());
  }
  std::sort(stores.begin(), stores.end());
  return stores;
}

// Recovers all, and returns the exit status. A store that cannot be recovered does not stop the
// others.
absl::StatusOr<int> RunRecover(const RecoverArguments& arguments) {
  const std::vector<std::string>& paths = arguments.paths;
  if (!arguments.output.empty()) {
    std::error_code error;
    if (paths.size() != 1 || !fs::is_regular_file(paths[0], error))
      return Invalid("-o {}: takes the name of one recording before it", arguments.output);
    XP_TRY(const std::string told, RecoverTo(paths[0], arguments.output, arguments.force));
    XP_TRY(Print(Printable(told, /*keep_newlines=*/true)));
    return kExitDone;
  }
  int exit_status = kExitDone;
  std::string text;
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::string> stores = {path};
    if (fs::is_directory(path, error)) {
      stores = StoresWithRings(path);
      if (stores.empty()) text += fmt::format("{}: nothing waits in a ring\n", path);
    }
    for (const std::string& store : stores) {
      auto told = RecoverStore(store);
      if (told.ok()) {
        text += *told;
      } else {
        exit_status = Fail(told.status());
      }
    }
  }
  XP_TRY(Print(Printable(text, /*keep_newlines=*/true)));
  return exit_status;
}

}  // namespace

void AddRecoverCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* command = app.add_subcommand(
      "recover", "Completes the recording of a program that was killed: all events that had ended");
  command
      ->add_option(
          "PATH", arguments->paths,
          "The path that XLAPROF_RECORD or StartRecording got. For a folder, all recordings in it")
      ->required();
  command->add_option(
      "-o,--output", arguments->output,
      "Writes the completed recording to this file and changes nothing else, for example because the disk is full");
  command->add_flag("--force", arguments->force, "Replaces an existing store");
  command->callback([arguments, &exit_status] {
    auto status = RunRecover(*arguments);
    exit_status = status.ok() ? *status : Fail(status.status());
  });
}

}  // namespace xlaprof

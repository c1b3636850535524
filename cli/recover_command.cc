#include "cli/recover_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/terminal.h"
#include "core/base/escape.h"
#include "profiler/record/recover.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::string> RecoverStore(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return NotFound("{}: no such file. Name the store that was being recorded", path);
  XP_TRY(int64_t events, RecoverRecording(path));
  if (events == 0) XP_TRY(internal::ToStatus(Store::Open(path)));  // it may not be a store of ours
  return events == 0 ? fmt::format("{}: nothing waits in a ring\n", path)
                     : fmt::format("{}: {} event{} taken in. To see them: xlaprof report {}\n",
                                   path, events, events == 1 ? "" : "s", ShellWord(path));
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
absl::StatusOr<int> RunRecover(const std::vector<std::string>& paths) {
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
  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "recover", "Completes the recording of a program that was killed: all events that had ended");
  command
      ->add_option(
          "PATH", *paths,
          "The path that XLAPROF_RECORD or StartRecording got. For a folder, all recordings in it")
      ->required();
  command->callback([paths, &exit_status] {
    auto status = RunRecover(*paths);
    exit_status = status.ok() ? *status : Fail(status.status());
  });
}

}  // namespace xlaprof

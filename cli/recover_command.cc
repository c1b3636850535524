#include "cli/recover_command.h"

#include "cli/terminal.h"
#include "core/base/escape.h"
#include "profiler/record/recover.h"
#include "profiler/store/store.h"

namespace xlaprof {

static absl::Status RunRecover(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      return NotFound("{}: no such file. Name the store that was being recorded", path);
    XP_TRY(int64_t events, RecoverRecording(path));
    if (events == 0) XP_TRY(internal::ToStatus(Store::Open(path)));  // which may be no recording
    text += events == 0 ? fmt::format("{}: nothing waits in a ring\n", path)
                        : fmt::format("{}: {} event{} taken in. To see them: xlaprof report {}\n",
                                      path, events, events == 1 ? "" : "s", ShellWord(path));
  }
  return WriteOutput(Printable(text, /*keep_newlines=*/true), "");
}

void AddRecoverCommand(CLI::App& app, int& exit_status) {
  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "recover", "Takes in what a recording left that was killed: all that it had completed");
  command->add_option("STORE", *paths, "What XLAPROF_RECORD or StartRecording was given")
      ->required();
  command->callback([paths, &exit_status] {
    absl::Status status = RunRecover(*paths);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

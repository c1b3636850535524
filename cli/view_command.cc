#include "cli/view_command.h"

#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "cli/input_options.h"
#include "cli/slice_options.h"
#include "cli/terminal.h"
#include "core/base/escape.h"
#include "profiler/serve/viewer.h"

namespace xlaprof {
namespace {

struct ViewArguments {
  InputOptions input;
  SliceOptions slice;
  std::vector<std::string> source_roots;
  int port = 0;
  bool no_open = false;
};

// Whether a browser was asked to open `url`; it may still fail to.
bool OpenBrowser(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  std::string program = "xdg-open", address = url;
  char* const arguments[] = {program.data(), address.data(), nullptr};
  pid_t pid = 0;
  if (posix_spawnp(&pid, program.c_str(), nullptr, nullptr, arguments, environ) != 0) return false;
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

absl::Status Serve(const Store& store, const ViewArguments& arguments) {
  // The signals that end it are waited for; threads of the server inherit that.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  XP_TRY(
      auto viewer,
      Viewer::Start(store, {.port = arguments.port,
                            .source_roots = SourceRoots(arguments.input, arguments.source_roots)}));
  const bool opened = !arguments.no_open && OpenBrowser(viewer->url());
  fmt::print("{}\n{}", viewer->url(),
             opened ? "  opened in the browser. Ctrl-C ends it\n"
                    : "  open this in a browser on this machine. Ctrl-C ends it\n");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  return absl::OkStatus();
}

absl::Status RunView(const ViewArguments& arguments) {
  return WithInput(arguments.input, [&](Store& store) -> absl::Status {
    XP_TRY(Restrict(arguments.slice, store));
    return Serve(store, arguments);
  });
}

}  // namespace

void AddViewCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command =
      app.add_subcommand("view", "Shows a run's findings and its timeline in a browser");
  AddInputOptions(*command, arguments->input);
  command
      ->add_option("--port", arguments->port, "Of 127.0.0.1, where it is served; any that is free")
      ->check(CLI::Range(1, 65535));
  command->add_flag("--no-open", arguments->no_open, "Only print the address");
  AddSliceOptions(*command, arguments->slice);
  AddSourceRootOption(*command, arguments->source_roots);
  command->callback([arguments, &exit_status] {
    absl::Status status = RunView(*arguments);
    exit_status = status.ok() ? kExitDone : Fail(status);
  });
}

}  // namespace xlaprof

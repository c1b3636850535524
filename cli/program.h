// The program xlaprof and its helper program read the command line here, and turn failures into
// messages and exit statuses.
//
// `demo` is a helper program (xlaprof-demo), because its library, oneDNN, takes longer to load than
// most commands run. xlaprof replaces itself with it and passes its arguments on. The wheel does not
// contain it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace CLI {
class App;
}

namespace xlaprof {

struct Program {
  // Adds the subcommands. A subcommand sets `exit_status` when it ends.
  void (*add_commands)(CLI::App& app, int& exit_status);
  // Returns the text at the end of the program's help. May be nullptr.
  std::string (*footer)() = nullptr;
  int misuse_status = 2;  // the exit status if the arguments are wrong
};

// Runs the subcommand that the arguments name. Returns the exit status.
int RunProgram(int argc, char** argv, const Program& program);

// Adds a subcommand that a helper program runs, for the list of commands.
void AddHelperCommand(CLI::App& app, const char* command, const char* summary);

// Replaces this program by its helper for `command`, in the same directory. Returns only if that
// fails, with NotFound if the helper is missing.
absl::Status RunHelper(std::string_view command, char** argv);

}  // namespace xlaprof

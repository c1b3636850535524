// Implements xlaprof run, which runs a command, records it, and reports on it.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

// Adds the subcommand. Running it sets `exit_status`, which main returns: the command's own, or one of
// those in profiler/launch/child.h.
void AddRunCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// Implements xlaprof report, which prints the findings of a store, a capture directory, or the
// files of one run.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

// Adds the subcommand. Running it sets `exit_status`, which main returns.
void AddReportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

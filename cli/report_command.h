// Implements xlaprof report, which prints the findings of a store, a capture directory, or any
// files.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

// Adds the subcommand. When it has run, `exit_status` is the result of main.
void AddReportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// Implements xlaprof import, which keeps a run and its findings in one store.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

// Adds the subcommand. When it has run, `exit_status` is the result of main.
void AddImportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// Implements `xlaprof query PATH SQL`, which reads a store, or any capture, with SQL.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

// Adds the subcommand to `app`, which must have no other subcommand `query`. Its callback sets
// `exit_status`, which must live until `app` has parsed: 0, or 2 with an error on stderr.
void AddQueryCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

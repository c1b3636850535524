// `xlaprof query PATH SQL`: reads a store, or any capture, with SQL.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

// Adds the subcommand to `app`. Its callback sets `exit_status`, which must live until `app` has
// parsed: 0, or 2 with what, where and what to try on stderr. `app` must have no other subcommand
// `query`.
void AddQueryCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

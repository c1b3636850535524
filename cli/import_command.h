// xlaprof import: keeps a run and its findings in one store.
#pragma once

#include <CLI/CLI.hpp>

namespace xlaprof {

// Adds the subcommand; when it ran, `exit_status` is what main returns.
void AddImportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

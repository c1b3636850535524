// `xlaprof export PATH... --format FORMAT -o FILE`: a run as a file for another tool.
#pragma once

#include <CLI/CLI.hpp>

namespace xlaprof {

// Adds the subcommand; when it ran, `exit_status` is what main returns.
void AddExportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// xlaprof report: findings of a store, a capture directory, or any files.
#pragma once

#include <CLI/CLI.hpp>

namespace xlaprof {

// Adds the subcommand; when it ran, `exit_status` is what main returns.
void AddReportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

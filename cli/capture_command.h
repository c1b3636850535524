// xlaprof capture: takes a profile of programs that are running now.
#pragma once

#include <CLI/CLI.hpp>

namespace xlaprof {

// Adds the subcommand; when it ran, `exit_status` is what main returns.
void AddCaptureCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// Implements xlaprof view, which shows the timeline and the findings of a run in a browser.
#pragma once

#include <CLI/CLI.hpp>

namespace xlaprof {

void AddViewCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

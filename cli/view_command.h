// Implements xlaprof view, which shows the timeline and the findings of a run in a browser.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

inline constexpr const char* kViewSummary = "Shows a run's findings and its timeline in a browser";

void AddViewCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

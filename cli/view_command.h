// Declares xlaprof view, which shows the timeline and the findings of a run in a browser.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

void AddViewCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// `xlaprof stacks PID`: where a hanging program is.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

void AddStacksCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

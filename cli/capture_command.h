// Adds xlaprof capture, which takes a profile of programs that are running now.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

void AddCaptureCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

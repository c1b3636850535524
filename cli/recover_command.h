// Implements xlaprof recover, which recovers what a killed recording left.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

void AddRecoverCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

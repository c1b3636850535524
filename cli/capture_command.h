// Implements xlaprof capture, which takes a profile of programs that are running now.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

inline constexpr const char* kCaptureSummary =
    "Takes a profile of running programs: torch_xla, JAX, or recorded by xlaprof";

// Adds the subcommand. When it has run, `exit_status` is the result of main.
void AddCaptureCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

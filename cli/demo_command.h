// Implements xlaprof demo, which trains a small network on the lazy runtime, records it and reports
// on it.
#pragma once

namespace CLI {
class App;
}

namespace xlaprof {

inline constexpr const char* kDemoSummary =
    "Trains a small network on the lazy runtime, recorded, and reports on it";

void AddDemoCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

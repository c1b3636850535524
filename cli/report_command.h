// xlaprof report: findings of a store, a capture directory, or any files.
#pragma once

#include <CLI/CLI.hpp>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Adds the subcommand; when it ran, `exit_status` is what main returns.
void AddReportCommand(CLI::App& app, int& exit_status);

// The text of --steps: "A:B", "A:", ":B" or "A", both ends included.
absl::Status ParseSteps(const std::string& text, Slice& slice);
// The text of --from and --to in ns: "1.5s", "200ms", "30us", "4ns", or a whole number of ns.
absl::StatusOr<int64_t> ParseTime(const std::string& text);

// The store that is named by `paths`, or a temporary one with what they hold. Used by every command
// that reads.
struct InputOptions {
  std::vector<std::string> paths;
  std::string run, as_format;
};
absl::StatusOr<Store> OpenInput(const InputOptions& input);

}  // namespace xlaprof

// Which part of a run a command looks at: --steps, --from, --to and --process.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct SliceOptions {
  std::string steps, from, to;  // as the user wrote them
  std::optional<int64_t> process;
};

void AddSliceOptions(CLI::App& command, SliceOptions& options);

// Restricts `store` to what `options` say. Invalid or NotFound where they say something that this
// run does not have.
absl::Status Restrict(const SliceOptions& options, Store& store);

// The text of --steps: "A:B", "A:", ":B" or "A", both ends included.
absl::Status ParseSteps(const std::string& text, Slice& slice);
// The text of --from and --to in ns: "1.5s", "200ms", "30us", "4ns", or a whole number of ns.
absl::StatusOr<int64_t> ParseTime(const std::string& text);

}  // namespace xlaprof

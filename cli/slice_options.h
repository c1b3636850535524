// Selects the part of a run that a command uses: --steps, --from, --to and --process.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "profiler/store/store.h"

namespace CLI {
class App;
}

namespace xlaprof {

struct SliceOptions {
  std::string steps, from, to;  // as the user wrote them
  std::optional<int64_t> process;
};

void AddSliceOptions(CLI::App& command, SliceOptions& options);

// Restricts `store` to `options`. Returns InvalidArgument or NotFound if the run has no such part.
absl::Status Restrict(const SliceOptions& options, Store& store);

// Parses --steps: "A:B", "A:", ":B" or "A"; both ends are included.
absl::Status ParseSteps(const std::string& text, Slice& slice);
// Parses --from and --to into ns: "1.5s", "200ms", "30us", "4ns", or a whole number of ns.
absl::StatusOr<int64_t> ParseTime(const std::string& text);

}  // namespace xlaprof

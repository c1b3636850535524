// Says what `xlaprof run` recorded: how the command ended, and for each Python process its steps, what
// recording it cost, and where it was last.
#pragma once

#include <string>
#include <vector>

#include "analyzers/run/host_samples.h"
#include "analyzers/run/run.h"
#include "profiler/store/rows.h"

namespace xlaprof {

struct Observed {
  ObservedProcessRow row;
  OptInt pid, rank;
  std::optional<LastSeen> last;      // where the main thread was at its last sample
  bool stopped_compiling = false;    // before the profile, and nothing was compiled in it
  bool compiled_in_profile = false;  // something was compiled while the profile was taken
  bool worked = false;               // it has steps, compilations, executions or a profile
};

absl::StatusOr<std::vector<Observed>> ObservedProcessesOf(const Run& run);

// The command that `xlaprof run` ran.
struct ObservedCommand {
  std::string words;   // separated by spaces
  OptInt exit_status;  // unknown while it runs, and if xlaprof itself was killed
  OptInt signal;       // that ended it
};
absl::StatusOr<std::optional<ObservedCommand>> ObservedCommandOf(const Run& run);

// Returns how the command ended: "the command ended with status 0".
std::string EndText(OptInt exit_status, OptInt signal);
// Returns a sentence: "python train.py: the command ended with status 0."
std::string ObservedText(const ObservedCommand& command);

// Returns one or more sentences: "train.py (pid 12): 120 steps (step marks) in 20 s. ...".
std::string ObservedText(const Observed& observed);

// Returns a text for the command, and one for each process. Several processes that did not work and
// ended by themselves are one text, such as those in which torch.compile tries its libraries.
std::vector<std::string> ObservedTexts(const std::optional<ObservedCommand>& command,
                                       const std::vector<Observed>& processes);

}  // namespace xlaprof

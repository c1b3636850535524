// Tells what recordings of the run cost, and what `xlaprof run` observed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/run/host_samples.h"
#include "analyzers/run/run.h"
#include "profiler/store/rows.h"

namespace xlaprof {

// The cost of our own recorder for the program that it recorded, and the number of lost events.
struct RecordingCost {
  std::string program;
  std::optional<int64_t> pid;
  bool ended = false;  // false: it is still running, or was killed and not recovered
  int64_t threads = 0;
  int64_t events = 0, dropped = 0;      // with samples of counters; what the threads completed
  std::optional<int64_t> drain_cpu_ns;  // CPU time of the writer thread until its last commit
  std::optional<int64_t> span_ns;       // from the first event to the end of the last
  int64_t bytes = 0;                    // size of the events in the store
  // The dropped events include those for which the disk had no room, and those of threads without a
  // ring.
  int64_t unwritten = 0, ringless = 0;
};

absl::StatusOr<std::vector<RecordingCost>> RecordingCosts(const Run& run);

// Says what `xlaprof run` recorded: how the command ended, and for each Python process its steps, what
// recording it cost, and where it was last.
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

// Runs cases where none can take the test down: in child processes, with a watchdog on each case
// and its peak of memory measured. What a case does to its child (a crash, a sanitizer's report, an
// endless loop, a bad_alloc) becomes a complaint that names the case.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace xlaprof {

struct GuardedCase {
  std::string name;
  // "" when all is well, else what is wrong. Runs in a child process.
  std::function<std::string()> run;
  // What the case may take at its peak beyond what its child held before; 0: kMemoryBytes. Ignored
  // under sanitizers, which need memory of their own.
  size_t memory_bytes = 0;
};

// No case of ours needs a tenth of these on the slowest machine that runs tests.
inline constexpr int kSecondsACase = 60;
inline constexpr size_t kMemoryBytes = size_t{192} << 20;

// Runs `count` cases in order; `make` builds the i-th, in the child and for its name here. Returns
// one complaint a bad case, a dozen at most. XLAPROF_HOSTILE_VERBOSE=1 prints what each case took.
std::vector<std::string> RunGuarded(size_t count, const std::function<GuardedCase(size_t)>& make);

// How much of the space of cases is walked: 1, or what XLAPROF_HOSTILE_SCALE says, for hunts by
// hand.
int HostileScale();

}  // namespace xlaprof

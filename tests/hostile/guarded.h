// Runs cases in child processes, so that none can end the test. A watchdog limits each case's time,
// and its peak of memory is measured. If a case fails its child (a crash, a sanitizer's report, an
// endless loop, a bad_alloc), that becomes a complaint that names the case.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace xlaprof {

struct GuardedCase {
  std::string name;
  // Returns "" if all is well, otherwise what is wrong. Runs in a child process.
  std::function<std::string()> run;
  // The memory that the case may take at its peak beyond what its child held before; 0 means
  // kMemoryBytes. Sanitizers need memory of their own, so the limit is ignored under them.
  size_t memory_bytes = 0;
};

// None of our cases needs a tenth of these on the slowest machine that runs tests.
inline constexpr int kSecondsACase = 60;
inline constexpr size_t kMemoryBytes = size_t{192} << 20;

// Runs `count` cases in order. `make` builds the i-th, both in the child and here for its name.
// Returns one complaint per bad case, at most a dozen. XLAPROF_HOSTILE_VERBOSE=1 prints what each
// case took.
std::vector<std::string> RunGuarded(size_t count, const std::function<GuardedCase(size_t)>& make);

// Returns how many times more cases are run: 1, or XLAPROF_HOSTILE_SCALE for hunts by hand.
int HostileScale();

}  // namespace xlaprof

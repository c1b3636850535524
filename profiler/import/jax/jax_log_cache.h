// What a JAX log says about the persistent cache: which programs were in it, and which were written to it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/import/jax/jax_log_line.h"
#include "profiler/import/text/lines.h"

namespace xlaprof {

// One look-up in the persistent cache.
struct JaxLookup {
  int origin = 0;  // index of JaxLog::origins
  TextPosition place;
  int compile = -1;  // index of JaxLog::compiles; -1: the log does not show which compilation asked
  bool is_hit = false;
  std::string program, key;       // jit_f and jit_f-1bac…; "" if not printed
  std::optional<bool> is_stored;  // of a miss
  std::optional<NotStored> why;   // why it is not stored
  OptInt least_ns;                // compile time from which on programs are written
};

// Collects look-ups. A miss is followed by the line that says whether the program is written to the cache,
// which names its key, its name or neither.
class JaxCacheLog {
 public:
  // Adds a hit or a miss.
  void Add(const JaxLogLine& line, int origin, int compile, TextPosition place);
  // Completes the last miss of that process and program with a line of kind kWritten or kNotWritten.
  // Does nothing if the log does not show the miss.
  void Complete(const JaxLogLine& line, int origin);
  // Gives the look-ups of these compiles from `first_line` on to another process.
  void Move(int from, int to, int64_t first_line);
  std::vector<JaxLookup> Finish() && { return std::move(lookups_); }
  size_t size() const { return lookups_.size(); }

 private:
  std::vector<JaxLookup> lookups_;
  std::map<int, std::vector<size_t>> open_;  // by process: misses that are not completed, in order
};

// Returns whether XLA's module `module` is that of a function. JAX writes _ for what is no letter, digit,
// point or hyphen.
bool IsModuleOf(std::string_view module, std::string_view function);

}  // namespace xlaprof

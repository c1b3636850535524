// The compilations in a JAX log, before they become rows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/jax/jax_explanation.h"
#include "profiler/import/jax/jax_log_cache.h"
#include "profiler/import/jax/jax_log_line.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

// One compilation of a jitted function.
struct JaxCompile {
  int origin = 0;                // index of JaxLog::origins
  int64_t offset = 0, line = 0;  // place of the first message about it
  std::string function;          // "" if not printed
  std::vector<JaxInput> inputs;
  OptInt input_count;                  // empty: the log does not show it
  OptInt trace_ns;                     // tracing and lowering
  OptInt dur_ns;                       // time that XLA took
  std::optional<bool> persistent_hit;  // false: not found in the persistent cache
  int explanation = -1;                // index of JaxLog::explanations
  bool inferred = false;               // only an explanation, or the persistent cache, mentions it
};

struct JaxLog {
  std::vector<LogOrigin> origins;    // one or more per process, as processes take turns
  std::vector<JaxCompile> compiles;  // in the order in which they begin
  std::vector<JaxExplanation> explanations;
  std::vector<JaxLookup> lookups;  // in the order of their lines
  // The log would show each look-up in the persistent cache, and shows none.
  bool proves_no_cache = false;
  int64_t messages = 0;
  int64_t traced_inside = 0;  // explanations of functions that were traced as part of another
  int64_t repeated = 0;       // messages that two handlers printed
  int64_t unfinished = 0;     // compilations whose end the log does not show
  std::optional<TextPosition>
      cut;  // place of the message, or of the compilation, that the log ends inside of
  int64_t types_cut = 0;  // lists of types that end with their line, without the one at `cut`
  std::optional<TextPosition> first_types_cut;
};

// Reads the lines of a log. `bytes` is the whole log; `texts` has its lines and must outlive this
// object.
class JaxLogParser {
 public:
  JaxLogParser(std::string_view bytes, const LogTexts& texts);
  ~JaxLogParser();
  void Take();  // takes the line that `texts` is at
  JaxLog Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof

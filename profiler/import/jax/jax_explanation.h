// What JAX says of a tracing cache miss (jax_explain_cache_misses): which call traced a function
// again, and what differed from the nearest earlier call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

struct JaxDifference {
  ReasonType type = ReasonType::kUnknown;
  std::string input;          // argument, path or setting; "" when none is named
  std::string before, after;  // "" when not told
  std::string text;           // the line
};

struct JaxExplanation {
  Store::Frame call;                 // user's line that called; no file when not told
  std::string call_text;             // the same as printed, perhaps with its column
  OptInt trace_ns;                   // "costing 1.234 ms"
  std::string function, defined_at;  // "FILE:LINE"; "" when not told
  bool never_seen = false;           // the function object is new
  bool redefined = false;            // JAX's own hint: another one was defined on this line
  std::vector<JaxDifference> differences;
  std::string words;  // all lines behind the first, trimmed, joined by "; "

  // Of JAX's own, called outside of jit: it is defined in JAX's package. Of primitives JAX tells
  // the place that applies them, the same for all.
  bool is_operation() const {
    return defined_at.find("/jax/_src/") != std::string::npos ||
           defined_at.find("\\jax\\_src\\") != std::string::npos;
  }
};

// Reads an explanation line by line.
class JaxExplanationReader {
 public:
  // `first` begins behind "TRACING CACHE MISS at ".
  explicit JaxExplanationReader(std::string_view first);
  // False when `line` does not belong to the explanation; it then ended with the line before.
  bool Take(std::string_view line);
  // False when more of it must follow: its function, the reason, or what a colon announces.
  bool IsWhole() const;
  // What was read; the reader is used up.
  JaxExplanation Finish() &&;

 private:
  void Difference(std::string_view line);
  JaxExplanation out_;
  std::string title_;            // what the lines that follow differ in: "input types"
  bool names_function_ = false;  // the next line does
  bool has_detail_ = false;      // the next line belongs to this one
  bool announces_ = false;       // the last line ended with a colon
  std::string now_;              // of a "now: ..." line whose "before: ..." follows
};

}  // namespace xlaprof

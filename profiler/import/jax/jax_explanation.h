// Reads JAX's explanation of a tracing cache miss (jax_explain_cache_misses): which call traced a
// function again, and what differed from the nearest earlier call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

struct JaxDifference {
  ReasonType type = ReasonType::kUnknown;
  std::string input;          // argument, path or setting; "" if none is named
  std::string before, after;  // "" if not printed
  std::string of_class;       // whose static fields these are; "": they are something else
  std::string text;           // the whole line
};

struct JaxExplanation {
  Store::Frame call;                 // the user's line that called; no file if not printed
  std::string call_text;             // the same as printed, perhaps with its column
  OptInt trace_ns;                   // "costing 1.234 ms"
  std::string function, defined_at;  // "FILE:LINE"; "" if not printed
  bool never_seen = false;           // the function object is new
  std::string object_id;             // of the new object; "" if not printed
  bool redefined = false;            // JAX's own hint: another one was defined on this line
  bool same_object = false;          // the log has shown this very object as new before
  bool caches_cleared = false;       // so it is not new: JAX has forgotten it
  std::vector<JaxDifference> differences;
  std::string words;  // all lines after the first, trimmed, joined by "; "

  // Returns whether the function is one of JAX's own, called outside of jit, because it is defined
  // in JAX's package. For primitives JAX prints the place that applies them, the same for all.
  bool is_operation() const {
    return defined_at.find("/jax/_src/") != std::string::npos ||
           defined_at.find("\\jax\\_src\\") != std::string::npos;
  }
  // Returns whether a new function object is made by executing its definition: a lambda, or a def
  // inside of a function, which older versions print as outer.<locals>.inner. A module's function is
  // defined once, so a partial or a wrapper makes the new object, at a line that JAX does not print.
  bool definition_makes_it() const {
    return function.find("<lambda>") != std::string::npos ||
           function.find("<locals>") != std::string::npos;
  }
};

// Reads an explanation line by line.
class JaxExplanationReader {
 public:
  // `first` begins after "TRACING CACHE MISS at ".
  explicit JaxExplanationReader(std::string_view first);
  // Takes a line. Returns false if it does not belong to the explanation, which then ended with the
  // line before.
  bool Take(std::string_view line);
  // Returns false if more lines must follow: the function, the reason, or what a colon announces.
  bool IsWhole() const;
  // Returns the explanation; the reader cannot be used afterwards.
  JaxExplanation Finish() &&;

 private:
  void Difference(std::string_view line);
  JaxExplanation out_;
  std::string title_;            // the kind of difference of the following lines, such as "input
                                 // types"
  bool names_function_ = false;  // the next line names the function
  bool has_detail_ = false;      // the next line belongs to this one
  bool announces_ = false;       // the last line ended with a colon
  std::string now_;              // value of a "now: ..." line whose "before: ..." follows
};

}  // namespace xlaprof

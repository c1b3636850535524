// Tells which lines of JAX's log are of one process, and which are printed again.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/text/log_line.h"

namespace xlaprof {

// Finds the label that a collector puts before every line of a log to distinguish several
// processes: `0: ` (srun), `[1,0]<stderr>: ` (mpirun), `trainer-1
// ` (compose), `tpu-vm-0: `, `(train pid=12) `. It is found in the first lines of a log: nearly all begin with one token that differs only
// in its digits.
class JaxLogLabels {
 public:
  explicit JaxLogLabels(std::string_view bytes);

  struct Parts {
    std::string_view label;  // "" if the line has none, or if it is only a counter
    std::string_view text;   // the line as the process wrote it
  };
  Parts Of(std::string_view line) const;
  // Returns the writer of lines with this label. It is unknown if all lines have the same label and
  // the label names none.
  LogOrigin OriginOf(std::string_view label) const;

 private:
  std::string pattern_;  // the label with each number as 0; "" if lines have none
  bool several_ = false;
  bool counts_ = false;  // labels are clocks, steps or line numbers, which go on, while processes
                         // come back
};

// Finds records that two log handlers printed. A program whose log goes to two handlers, because it
// configures logging beside JAX or sets JAX_LOGGING_LEVEL and JAX_DEBUG_LOG_MODULES, prints each record
// twice in a row.
//
// Returns whether the first of JAX's records that measure a time is printed twice.
bool BeginsWithRepeats(std::string_view bytes);

// Takes the records of one process in order. Records are compared without their prefixes.
class RepeatedRecords {
 public:
  // With `begins_with_repeats`, records are repeated until one with a measured time is not.
  explicit RepeatedRecords(bool begins_with_repeats = false) : repeats_(begins_with_repeats) {}

  // Returns whether a record is the one before it, printed again:
  //   * it has another kind of prefix, so another handler printed it,
  //   * or it measures a time (`is_exact`), which is never the same twice,
  //   * or its prefix is the same and has a fraction of a second,
  //   * or the last record that measures a time was printed twice, too. Nothing else distinguishes a
  //     repeated record from two calls, because both may print the same words.
  // A record that the log ends inside of (`is_cut`) may be the beginning of the one before it.
  bool IsRepeated(std::string_view prefix, std::string_view message, bool is_exact,
                  bool is_cut = false);

 private:
  std::string message_, prefix_;     // of the last record that was not repeated
  bool repeats_;                     // the handlers that print now repeat each record
  bool exact_was_repeated_ = false;  // the last record that measures a time was
};

}  // namespace xlaprof

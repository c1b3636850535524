// Finds the label that a collector puts before every line of a log to distinguish several
// processes: `0: ` (srun), `[1,0]<stderr>: ` (mpirun), `trainer-1
// ` (compose), `tpu-vm-0: `, `(train pid=12) `.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/text/log_line.h"

namespace xlaprof {

// The label is found in the first lines of a log: nearly all begin with one token that differs only
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

}  // namespace xlaprof

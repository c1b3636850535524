// What a collector puts before every line of a log to tell several processes apart: `0: ` (srun),
// `[1,0]<stderr>: ` (mpirun), `trainer-1  | ` (compose), `tpu-vm-0: `, `(train pid=12) `.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/text/log_line.h"

namespace xlaprof {

// Told from the first lines of a log: nearly all begin with one token, but for its digits.
class JaxLogLabels {
 public:
  explicit JaxLogLabels(std::string_view bytes);

  struct Parts {
    std::string_view label;  // "" for a line that has none, or one that only counts
    std::string_view text;   // the line as the process wrote it
  };
  Parts Of(std::string_view line) const;
  // Who writes lines with this label; nobody where all lines have the same one and it names none.
  LogOrigin OriginOf(std::string_view label) const;

 private:
  std::string pattern_;  // of the label, each number as 0; "" when lines have none
  bool several_ = false;
  bool counts_ = false;  // clocks, steps and numbers of lines go on; processes speak again
};

}  // namespace xlaprof

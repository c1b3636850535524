// The finding recompile_limit: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of programs that the function had when it reached its limit.
struct RecompileLimitFigures {
  std::string function;
  std::string reason;  // the check that failed last, as printed; "" if it was not printed
  // From the first compilation of the process to the end of the function's last one; nothing if no
  // source times them.
  std::optional<int64_t> last_compile_ns;
};

Words SayRecompileLimit(const Finding& finding, Framework framework);

}  // namespace xlaprof

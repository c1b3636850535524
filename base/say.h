// Writes messages on standard error.
#pragma once

#include <string_view>

namespace xlaprof {

// Writes `text`, as far as that is possible. A message that cannot be written, because standard
// error is closed, full, or a pipe that nobody reads, changes nothing: no exception, no SIGPIPE, no
// other errno. Programs that are recorded call it, too, from any thread.
void Say(std::string_view text);

}  // namespace xlaprof

// Reads the text output of programs: what they print on a terminal or write to a log file. All
// dialects that occur in a text are read.
#pragma once

#include "profiler/import/importer.h"
#include "profiler/import/log/dialect.h"

namespace xlaprof {

extern const Importer program_output;

// Writes what the dialects find in a text. `told` is the dialect that the text was taken for; if it
// is null, the surest one is. Sets source.dialects, and source.format to a dialect that tells more
// if `told` finds nothing. Returns an error, in the words of `told`, if no dialect finds anything,
// or if the user asked for `told` (`is_asked_for`) and that one finds nothing. Only issues are
// written then.
absl::Status ReadProgramOutput(const Input& input, ImportContext& context, const Dialect* told,
                               bool is_asked_for);

}  // namespace xlaprof

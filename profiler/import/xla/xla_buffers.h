// Reads XLA's list of the buffers of a program (…-buffer-assignment.txt in a --xla_dump_to folder).
#pragma once

#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

// The sizes that a compile row holds, in bytes.
struct ProgramBytes {
  int64_t input = 0, output = 0, alias = 0, temp = 0;
};

bool IsBufferAssignment(std::string_view text);
ProgramBytes ParseBufferAssignment(std::string_view text);

}  // namespace xlaprof

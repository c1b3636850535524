// Groups the files in folders of --xla_dump_to and JAX_DUMP_IR_TO. A folder has dozens of files per
// program, and two of them are read.
#pragma once

#include <vector>

#include "profiler/import/plan/identify.h"

namespace xlaprof {

// Orders the files of each dump by program and marks those to read with their folder (`dump`). Puts
// one entry, STEM.*, in the place of all other files of a program, as derived from the one that is
// read. Files that were named stay where they are; the first of each program is marked.
void GroupDumps(std::vector<IdentifiedFile>& files);

}  // namespace xlaprof

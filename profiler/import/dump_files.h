// Folders of --xla_dump_to and JAX_DUMP_IR_TO: dozens of files a program, of which two are read.
#pragma once

#include <vector>

#include "profiler/import/found_files.h"

namespace xlaprof {

// Orders the files of each dump by program, marks those to read with their folder (`dump`), and
// puts one entry, STEM.*, in the place of all others of a program, as derived from the one that is
// read. Files that were named stay where they are; the first of each program is marked.
void GroupDumps(std::vector<FoundFile>& files);

}  // namespace xlaprof

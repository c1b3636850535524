// Finds, by their marks of origin (profiler/store/origin.h), files that xlaprof made from other
// files of the inputs: exports, stores and reports. Reading both would count every event twice.
#pragma once

#include <vector>

#include "profiler/import/plan/identify.h"

namespace xlaprof {

// Sets `derived_from` and `note` of such files, also of those that were named, because the content
// of the files proves it:
//
// - What was made from a file of the inputs is not read, whichever part of the run it holds.
// - Of several files that were made from one run, whose own files are not in the inputs, one is read: the
//   one that holds most. Files of different folders plugins/profile/RUN are of different runs.
// - Of several copies of one recording, the largest is read.
//
// Opens files only if one of them has a mark, or is a store.
void ListMadeFiles(std::vector<IdentifiedFile>& files);

}  // namespace xlaprof

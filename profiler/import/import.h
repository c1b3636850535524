// Files and directories in, one run in a store out: finds formats, groups files into runs, reads
// those of the chosen run, and joins what its sources say of the same facts.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

struct ImportOptions {
  std::vector<std::filesystem::path> inputs;  // files or directories
  std::string run;                            // label of the run to take; empty: the newest
  std::string as_format;  // importer to use whatever the bytes say; empty: sniff
  std::function<void(double fraction, std::string_view what)> progress;  // may be empty
};

// Reads `options.inputs` into an empty `store`, in one transaction. Files that are not recognised,
// derived from others or of other runs are listed in table source. NotFound or InvalidArgument when
// nothing could be read: the message has one line a file, with what, where and what to try.
absl::Status Import(const ImportOptions& options, Store& store);

// Unites what several sources say of one process: processes, executions, compiles, steps (DESIGN
// section 2). Import calls it; separate for tests.
absl::Status JoinSources(Store& store);

}  // namespace xlaprof

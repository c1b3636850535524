// Imports one run from files and directories into a store.
//
// An import has stages, with a value between each two of them: the files in the inputs
// (plan/find_files.h), what each of them is (plan/identify.h), which job each belongs to
// (plan/places.h), which runs there are and which is read (plan/run_plan.h), the facts that reading
// these files gives (read_files.h), and one account of them all (JoinSources).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "profiler/import/plan/run_plan.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct ImportOptions {
  std::vector<std::filesystem::path> inputs;  // files or directories
  std::string run;                            // label of the run to take; empty: the newest
  std::string as_format;  // importer to use whatever the bytes say; empty: sniff
  std::function<void(double fraction, std::string_view what)> progress;  // may be empty
};

// Reads `options.inputs` into an empty `store`, in one transaction. Files that are not recognised,
// that were made from others, or that belong to other runs are listed in table source. Returns
// NotFound or InvalidArgument if nothing could be read. The message has one line per file, with
// what, where and what to try.
absl::Status Import(const ImportOptions& options, Store& store);

// Plans the import of `options.inputs`, and reads only the files to which runs may be appended.
// Returns the same errors as Import, if they are found by then.
absl::StatusOr<RunPlan> PlanImport(const ImportOptions& options);

// Unites the processes, executions, compiles and steps that several sources report of one process.
// Import calls it; it is declared here for tests.
absl::Status JoinSources(Store& store);

}  // namespace xlaprof

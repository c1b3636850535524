// Implements `xlaprof export PATH... --format FORMAT -o FILE`, which writes a run to a file for
// another tool.
#pragma once

#include <string>
#include <vector>

#include "cli/input_options.h"
#include "cli/slice_options.h"

namespace CLI {
class App;
}

namespace xlaprof {

struct ExportArguments {
  InputOptions input;
  SliceOptions slice;
  std::string format, output;  // output "-": standard output, if the format allows it
  std::vector<std::string> source_roots;
  bool force = false, no_findings = false;
};

// Writes the run of `arguments.input` and prints on standard output what was written.
absl::Status RunExport(const ExportArguments& arguments);

// Adds the subcommand. When it has run, `exit_status` is the result of main.
void AddExportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

// `xlaprof export PATH... --format FORMAT -o FILE`: a run as a file for another tool.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/input_options.h"
#include "cli/slice_options.h"

namespace xlaprof {

struct ExportArguments {
  InputOptions input;
  SliceOptions slice;
  std::string format, output;  // output "-": standard output, where the format allows it
  std::vector<std::string> source_roots;
  bool force = false, no_findings = false;
};

// Writes the run of `arguments.input` and says on standard output what was written.
absl::Status RunExport(const ExportArguments& arguments);

// Adds the subcommand; when it ran, `exit_status` is what main returns.
void AddExportCommand(CLI::App& app, int& exit_status);

}  // namespace xlaprof

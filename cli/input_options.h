// Reads the input of a command: a store, or any files of one run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace CLI {
class App;
}

namespace xlaprof {

struct InputOptions {
  std::vector<std::string> paths;
  std::string run, as_format;
};

// Adds PATH..., --run and --as.
void AddInputOptions(CLI::App& command, InputOptions& options);
// Adds only --run and --as, for commands that have their own PATH.
void AddRunOptions(CLI::App& command, InputOptions& options);

// Add --source-root, and return the directories from which source lines may be quoted: those it
// names, the working directory, and captures that are directories. The folder of a capture that is
// a file may hold anything, such as downloads, and a hostile capture may refer to any file. So
// neither this folder nor the directory / is used unless it is named.
void AddSourceRootOption(CLI::App& command, std::vector<std::string>& roots);
std::vector<std::filesystem::path> SourceRoots(const InputOptions& input,
                                               const std::vector<std::string>& asked);

// Does what a command does with its input, which is `run`, or lists the runs in the input with
// --run list. Returns the exit status of the program.
int RunOnInput(const InputOptions& input, const std::function<absl::Status()>& run);

// Calls `use` with the named store, or with a temporary store made from the files. If a store is
// damaged and `use` returns DataLoss, calls it once more with the contents of the store's intact
// pages, and an import issue that counts the rest.
absl::Status WithInput(const InputOptions& input, const std::function<absl::Status(Store&)>& use);
// Says in a sentence or two what a store lacks because it was damaged. Returns "" if it was not.
absl::StatusOr<std::string> DamageOf(const Store& store);

}  // namespace xlaprof

// What a command reads: a store, or any files of one run.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct InputOptions {
  std::vector<std::string> paths;
  std::string run, as_format;
};

// PATH..., --run and --as.
void AddInputOptions(CLI::App& command, InputOptions& options);
// --run and --as only, for commands with a PATH of their own.
void AddRunOptions(CLI::App& command, InputOptions& options);

// --source-root, and where source lines may be quoted from: what it names, the working directory,
// and the captures' directories. A working directory of / would let a hostile log name any file, so
// that one has to be asked for.
void AddSourceRootOption(CLI::App& command, std::vector<std::string>& roots);
std::vector<std::filesystem::path> SourceRoots(const InputOptions& input,
                                               const std::vector<std::string>& asked);

// Calls `use` with the store that is named, or with a temporary one of what the files hold. Where a
// store is damaged and `use` fails for it (DataLoss), it is called once more, with what lies on the
// store's intact pages and an import issue that counts the rest.
absl::Status WithInput(const InputOptions& input, const std::function<absl::Status(Store&)>& use);
// An output never replaces what it is made from: InvalidArgument where it is one of the inputs.
absl::Status CheckNotInput(const InputOptions& input, const std::string& output);
// What a store lacks because it was damaged, in a sentence or two; "" where it was not.
absl::StatusOr<std::string> DamageOf(const Store& store);

}  // namespace xlaprof

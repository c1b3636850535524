// Loads parts of the program only when they are needed, because their libraries take longer to load
// than most commands run.
#pragma once

#include "core/base/status.h"

namespace xlaprof {

// Returns the symbol of a file beside the program. Returns NotFound or FailedPrecondition, with the
// file's name, if it is missing, cannot be loaded, or has another version.
absl::StatusOr<const void*> LoadModuleSymbol(const char* file, const char* symbol);

// Loads a module, a struct that begins with its version and has the names of its file and symbol.
template <class Module>
absl::StatusOr<const Module*> LoadModule() {
  XP_TRY(const void* module, LoadModuleSymbol(Module::kFile, Module::kSymbol));
  return static_cast<const Module*>(module);
}

}  // namespace xlaprof

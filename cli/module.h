// Parts of the program that are loaded when they are needed: their libraries take longer to start
// than most commands run.
#pragma once

#include "core/base/status.h"

namespace xlaprof {

// The symbol of a file that lies beside the program. NotFound or FailedPrecondition, naming the
// file, where it is not there, does not load, or is another version's.
absl::StatusOr<const void*> LoadModuleSymbol(const char* file, const char* symbol);

// A module is a struct that begins with its version, and says its file and symbol.
template <class Module>
absl::StatusOr<const Module*> LoadModule() {
  XP_TRY(const void* module, LoadModuleSymbol(Module::kFile, Module::kSymbol));
  return static_cast<const Module*>(module);
}

}  // namespace xlaprof

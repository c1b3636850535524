#include "cli/module.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>

#include "core/base/version.h"

namespace xlaprof {

absl::StatusOr<const void*> LoadModuleSymbol(const char* file, const char* symbol) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return NotFound("/proc/self/exe: {}", error.message());
  const std::filesystem::path path = program.parent_path() / file;
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return NotFound(
        "{}: cannot be loaded ({}). It belongs beside the program: build or install both",
        path.string(), dlerror());
  }
  // Every module's symbol begins with a version.
  const void* found = dlsym(module, symbol);
  const char* version = found == nullptr ? nullptr : *static_cast<const char* const*>(found);
  if (version == nullptr || std::strcmp(version, kVersion) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("{}: is {}, and this program {}. Build or install both together", path.string(),
                    version == nullptr ? "no module of xlaprof" : version, kVersion));
  }
  return found;
}

}  // namespace xlaprof

#include "core/backend/pjrt/plugin_file.h"

#include <dlfcn.h>

#include <filesystem>

namespace xlaprof::lazy::pjrt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRemedy =
    "Set XLAPROF_PJRT_PLUGIN to the shared library of a PJRT plugin, such as xla_cpu_pjrt.so of the "
    "Python package xla-cpu-pjrt";

}  // namespace

absl::StatusOr<void*> OpenPlugin(const std::string& path) {
  if (path.empty()) return Invalid("no PJRT plugin is named. {}", kRemedy);
  std::error_code error;
  const fs::path file = fs::absolute(path, error);
  if (!fs::exists(file, error)) return NotFound("{}: no such file. {}", path, kRemedy);
  if (fs::is_directory(file, error))
    return Invalid("{}: is a directory, not a PJRT plugin. {}", path, kRemedy);
  // dlopen searches the system's folders for a name without a slash, so it gets the whole path.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Invalid("{}: cannot be loaded as a PJRT plugin: {}. {}", path,
                   reason != nullptr ? reason : "the loader gives no reason", kRemedy);
  }
  void* function = dlsym(library, "GetPjrtApi");
  if (function == nullptr) {
    dlclose(library);
    return Invalid("{}: is no PJRT plugin, because it does not export GetPjrtApi. {}", path,
                   kRemedy);
  }
  return function;
}

}  // namespace xlaprof::lazy::pjrt

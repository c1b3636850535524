#include "cli/capture_module.h"

#include <dlfcn.h>

#include <cstring>

#include "core/base/version.h"

namespace xlaprof {

absl::StatusOr<const CaptureModule*> LoadCaptureModule() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return NotFound("/proc/self/exe: {}", error.message());
  const std::filesystem::path path = program.parent_path() / "xlaprof_capture.so";
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return NotFound(
        "{}: cannot be loaded ({}). It belongs beside the program: build or install both",
        path.string(), dlerror());
  }
  const auto* found = static_cast<const CaptureModule*>(dlsym(module, kCaptureModuleSymbol));
  if (found == nullptr || std::strcmp(found->version, kVersion) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("{}: is {}, and this program {}. Build or install both together", path.string(),
                    found == nullptr ? "no module of xlaprof" : found->version, kVersion));
  }
  return found;
}

}  // namespace xlaprof

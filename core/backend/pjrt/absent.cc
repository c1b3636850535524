// Takes the place of the backend in a build without PJRT's header.
#include "core/backend/backend.h"

namespace xlaprof::lazy {
namespace {

absl::Status BuiltWithoutPjrt() {
  return Unsupported(
      "this xlaprof was built without PJRT's header. Configure it with "
      "-DXLAPROF_PJRT_HEADER_DIR=FOLDER, the folder of pjrt_c_api.h, which is in the Python package "
      "xla-cpu-pjrt");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> MakePjrtBackend(const std::string&, int) {
  return BuiltWithoutPjrt();
}
absl::StatusOr<int> CountPjrtDevices(const std::string&) { return BuiltWithoutPjrt(); }

}  // namespace xlaprof::lazy

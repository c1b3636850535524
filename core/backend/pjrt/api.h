// A plugin's functions, and its errors as absl::Status.
#pragma once

#include <pjrt_c_api.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof::lazy::pjrt {

// The functions of a loaded plugin. Any thread may call them.
class Api {
 public:
  // Loads and initializes the plugin at `path`. Returns an error if it has another major version
  // than the header, or lacks a function that the backend calls.
  static absl::StatusOr<Api> Load(const std::string& path);

  const PJRT_Api* operator->() const { return functions_; }
  // Returns the version of PJRT: "0.81".
  std::string version() const;
  // Returns whether the plugin is new enough to have the function at this offset of PJRT_Api.
  bool Has(size_t offset) const;

  // Converts an error to a status, whose message is "WHAT: MESSAGE", and frees the error.
  absl::Status ToStatus(PJRT_Error* error, std::string_view what) const {
    return error == nullptr ? absl::OkStatus() : Failure(error, what);
  }
  // Waits for the event, destroys it, and returns its error.
  absl::Status Await(PJRT_Event* event, std::string_view what) const;

 private:
  explicit Api(const PJRT_Api* functions) : functions_(functions) {}
  absl::Status Failure(PJRT_Error* error, std::string_view what) const;

  const PJRT_Api* functions_;
};

}  // namespace xlaprof::lazy::pjrt

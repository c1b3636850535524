// Checks and interprets clients' requests, which come from the network. Internal to serve.
#pragma once

#include <filesystem>
#include <string>

#include "base/status.h"
#include "serve/profiler_service.pb.h"

namespace xlaprof::serve {

struct ProfilePlan {
  int64_t start_epoch_ns = 0;  // 0: now
  int64_t duration_ns = 0;
  bool records = true;  // false: the client wants no events of the host
  std::string session_id;
  std::filesystem::path file;  // file to write; empty: send the profile in the answer
};

// Turns a request into a plan. Returns InvalidArgument, naming the field and the reason, if a value
// is out of range.
absl::StatusOr<ProfilePlan> PlanOf(const tensorflow::ProfileRequest& request, int64_t now_epoch_ns);

}  // namespace xlaprof::serve

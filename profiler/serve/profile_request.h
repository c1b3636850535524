// What a client asks for, after it was looked at: requests come from the network. Internal to
// profiler/serve.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/status.h"
#include "profiler/serve/profiler_service.pb.h"

namespace xlaprof::serve {

struct ProfilePlan {
  int64_t start_epoch_ns = 0;  // 0: now
  int64_t duration_ns = 0;
  bool records = true;  // false: a client that wants no events of the host
  std::string session_id;
  std::filesystem::path file;  // where to; empty: into the answer
};

// InvalidArgument, saying which field and why, for what cannot be meant.
absl::StatusOr<ProfilePlan> PlanOf(const tensorflow::ProfileRequest& request, int64_t now_epoch_ns);

}  // namespace xlaprof::serve

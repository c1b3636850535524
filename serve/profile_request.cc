#include "serve/profile_request.h"

#include <algorithm>

#include "base/escape.h"

namespace xlaprof::serve {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint64_t kMaxDurationMs = 3'600'000;
constexpr int64_t kMaxDelayNs = 3'600'000 * kMs;
// The largest size of a file's name, without its suffix.
constexpr size_t kMaxNameBytes = 200;

// Checks that a name is a single file or directory, which stays inside its parent.
absl::Status CheckName(std::string_view field, std::string_view name) {
  const bool harmless =
      !name.empty() && name != "." && name != ".." && name.size() <= kMaxNameBytes &&
      std::all_of(name.begin(), name.end(),
                  [](char c) { return c != '/' && uint8_t(c) >= 0x20 && c != 0x7f; });
  if (harmless) return absl::OkStatus();
  return Invalid("{}: '{}' is not a file name. Choose one of letters and digits", field,
                 Printable(name.substr(0, kMaxNameBytes)));
}

absl::StatusOr<std::filesystem::path> FileOf(const std::string& root, const std::string& session,
                                             std::string host) {
  if (root.find('\0') != root.npos || root.find("://") != root.npos || root.size() > 4000)
    return Invalid("repository_root: '{}' is not a folder on this machine", Printable(root));
  XP_TRY(CheckName("session_id", session));
  std::replace(host.begin(), host.end(), ':', '_');
  XP_TRY(CheckName("host_name", host));
  return std::filesystem::path(root) / session / (host + ".xplane.pb");
}

}  // namespace

absl::StatusOr<ProfilePlan> PlanOf(const tensorflow::ProfileRequest& request,
                                   int64_t now_epoch_ns) {
  const tensorflow::ProfileOptions& options = request.opts();
  ProfilePlan plan;
  const uint64_t duration_ms =
      options.duration_ms() != 0 ? options.duration_ms() : request.duration_ms();
  if (duration_ms == 0 || duration_ms > kMaxDurationMs)
    return Invalid("duration_ms: {} is not between 1 and {} (an hour)", duration_ms,
                   kMaxDurationMs);
  plan.duration_ns = int64_t(duration_ms) * kMs;
  if (const uint64_t start_ns = options.start_timestamp_ns(); start_ns > uint64_t(now_epoch_ns)) {
    if (start_ns - uint64_t(now_epoch_ns) > uint64_t(kMaxDelayNs))
      return Invalid("start_timestamp_ns: {} is more than an hour ahead of this machine's clock",
                     start_ns);
    plan.start_epoch_ns = int64_t(start_ns);
  }
  // Version 1 always gives a level. Without options it is the usual one.
  plan.records = options.version() == 0 || options.host_tracer_level() != 0;
  auto first = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };
  plan.session_id = first(request.session_id(), options.session_id());
  const std::string root = first(request.repository_root(), options.repository_path());
  if (request.emit_xspace() || root.empty()) return plan;
  XP_TRY(plan.file,
         FileOf(root, plan.session_id, first(options.override_hostname(), request.host_name())));
  return plan;
}

}  // namespace xlaprof::serve

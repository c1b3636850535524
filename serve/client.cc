#include "serve/client.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>

#include "base/escape.h"
#include "serve/grpc_call.h"
#include "serve/profiler_service.pb.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// The time to wait beyond the captured time, because a large job collects its events for minutes.
constexpr auto kPatience = std::chrono::minutes(10);
constexpr const char* kFunction = "/tensorflow.ProfilerService/Profile";
constexpr const char* kSession = "capture";
constexpr std::string_view kSuffix = ".xplane.pb";

std::string HostOf(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

bool IsThisMachine(const std::string& host) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return host == "localhost" || host == "::1" || host.starts_with("127.") || host == name;
}

tensorflow::ProfileRequest RequestOf(const CaptureRequest& request) {
  tensorflow::ProfileRequest out;
  out.set_duration_ms(uint64_t(request.duration_ms));
  out.set_max_events(1'000'000);
  out.set_emit_xspace(true);
  out.set_session_id(kSession);
  out.set_host_name(request.address);
  // Servers older than emit_xspace write the profile to this directory, if they run on this
  // machine, or answer with the requested tools.
  out.set_repository_root(fs::absolute(request.folder).string());
  out.add_tools("xplane.pb");
  tensorflow::ProfileOptions& options = *out.mutable_opts();
  options.set_version(1);
  options.set_host_tracer_level(2);
  options.set_device_tracer_level(1);
  options.set_enable_hlo_proto(true);
  options.set_duration_ms(uint64_t(request.duration_ms));
  options.set_start_timestamp_ns(uint64_t(request.start_epoch_ns));
  options.set_repository_path(out.repository_root());
  options.set_session_id(kSession);
  options.set_raise_error_on_start_failure(true);
  return out;
}

absl::Status TooLarge(const CaptureRequest& request) {
  return absl::OutOfRangeError(fmt::format(
      "{}: the answer has more than {} MB, so it is not kept. Capture for a shorter time (--duration), or allow more (--max-answer)",
      request.address, request.most_bytes / 1'000'000));
}

absl::Status NoMemory(const CaptureRequest& request) {
  return absl::ResourceExhaustedError(fmt::format(
      "{}: there is not enough memory for the answer, so it is not kept. Capture for a shorter time (--duration)",
      request.address));
}

absl::Status Late(const CaptureRequest& request) {
  return absl::DeadlineExceededError(fmt::format(
      "{}: the server has not answered {} minutes after the end of the capture. Check whether the program hangs",
      request.address, kPatience.count()));
}

absl::Status Lost(const CaptureRequest& request, double seconds, const std::string& said) {
  return IoError(
      "{}: the connection to the program was lost after {:.1f} s of the capture ({}). Check that it still runs, and capture for a shorter time (--duration)",
      request.address, seconds, said);
}

// Returns an error for a status that the server sent after some seconds.
absl::Status Refused(const CaptureRequest& request, absl::StatusCode code, double seconds,
                     const std::string& said) {
  switch (code) {
    case absl::StatusCode::kUnavailable:  // the program ends
      return Lost(request, seconds, said);
    case absl::StatusCode::kUnimplemented:
      return Unsupported(
          "{}: this server is not a profiler server ({}). Use the port of xp.start_server or jax.profiler.start_server",
          request.address, said);
    case absl::StatusCode::kDeadlineExceeded:
      return Late(request);
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kResourceExhausted:
      return absl::AlreadyExistsError(
          fmt::format("{}: {}. Try again later, or with --retry 3", request.address, said));
    default:
      return IoError("{}: the server could not capture: {}", request.address, said);
  }
}

// Returns an error that says what went wrong, and what to try.
absl::Status ErrorOf(const CaptureRequest& request, const GrpcAnswer& answer,
                     std::chrono::steady_clock::duration passed) {
  const std::string& address = request.address;
  const double seconds = std::chrono::duration<double>(passed).count();
  std::string said = Printable(answer.said);
  if (said.ends_with('.')) said.pop_back();
  switch (answer.end) {
    case CallEnd::kAnswered:
      break;
    case CallEnd::kStatus:
      return Refused(request, answer.code, seconds, said);
    case CallEnd::kNoConnection:
      return IoError(
          "{}: no profiler server answers there: {}. Start one in the program, before its first "
          "step: xp.start_server(PORT), jax.profiler.start_server(PORT), XLAPROF_SERVE=PORT",
          address, said);
    case CallEnd::kLost:
      return Lost(request, seconds, said);
    case CallEnd::kDamaged:
      return IoError("{}: the server's answer cannot be read: {}", address, said);
    case CallEnd::kTooLarge:
      return TooLarge(request);
    case CallEnd::kNoMemory:
      return NoMemory(request);
    case CallEnd::kLate:
      return Late(request);
    case CallEnd::kStopped:
      return absl::CancelledError(fmt::format(
          "{}: did not answer within {:.1f} s, so xlaprof stopped waiting", address, seconds));
  }
  return absl::OkStatus();
}

absl::StatusOr<Captured> Keep(const CaptureRequest& request, std::string_view xspace) {
  std::string name = request.address;
  std::replace(name.begin(), name.end(), ':', '_');
  Captured captured{.file = request.folder / (name + std::string(kSuffix)),
                    .bytes = int64_t(xspace.size())};
  std::ofstream out(captured.file, std::ios::binary);
  out.write(xspace.data(), std::streamsize(xspace.size()));
  if (out.close(); !out)
    return IoError("{}: cannot write: {}. Free space there, or set TMPDIR to another folder",
                   captured.file.string(), std::strerror(errno));
  return captured;
}

// Finds the file that a server wrote itself.
absl::StatusOr<Captured> Written(const CaptureRequest& request) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(request.folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.ends_with(kSuffix) || !at->is_regular_file(error)) continue;
    const auto bytes = int64_t(at->file_size(error));
    if (bytes > request.most_bytes) return TooLarge(request);
    return Captured{at->path(), bytes};
  }
  if (!IsThisMachine(HostOf(request.address))) {
    return NotFound(
        "{}: the server answered without the profile. It is too old to send one, and may have written it to {} on its own machine. Capture on that machine",
        request.address, request.folder.string());
  }
  return NotFound(
      "{}: the server answered without a profile. Either nothing happened in {} ms, or it could not write to {}. Capture while steps run, and for longer (--duration)",
      request.address, request.duration_ms, request.folder.string());
}

// Asks the server, and returns its answer.
absl::StatusOr<tensorflow::ProfileResponse> Ask(const CaptureRequest& request) {
  using std::chrono::nanoseconds, std::chrono::steady_clock;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto until_start =
      std::max(nanoseconds(0), nanoseconds(request.start_epoch_ns) - nanoseconds(now));
  const auto begin = steady_clock::now();
  const std::string message = RequestOf(request).SerializeAsString();
  GrpcAnswer answer = Call(
      {.address = request.address,
       .path = kFunction,
       .request = message,
       .most_bytes = request.most_bytes,
       .deadline = begin + until_start + std::chrono::milliseconds(request.duration_ms) + kPatience,
       .stop = request.stop});
  if (answer.end != CallEnd::kAnswered)
    return ErrorOf(request, answer, steady_clock::now() - begin);
  tensorflow::ProfileResponse response;
  if (!response.ParseFromString(answer.message))
    return IoError("{}: the server's answer cannot be read: it is not a profile", request.address);
  return response;
}

absl::StatusOr<Captured> KeepAnswer(const CaptureRequest& request) {
  XP_TRY(const tensorflow::ProfileResponse response, Ask(request));
  if (!response.xspace().empty()) return Keep(request, response.xspace());
  for (const tensorflow::ProfileToolData& tool : response.tool_data()) {
    if (std::string_view(tool.name()).ends_with("xplane.pb") && !tool.data().empty())
      return Keep(request, tool.data());
  }
  if (response.empty_trace())
    return NotFound(
        "{}: nothing happened in {} ms. Capture while steps run, and for longer (--duration)",
        request.address, request.duration_ms);
  return Written(request);
}

}  // namespace

absl::StatusOr<Captured> Capture(const CaptureRequest& request) {
  try {
    return KeepAnswer(request);
  } catch (const std::bad_alloc&) {  // the answers of other hosts may still be kept
    return NoMemory(request);
  }
}

}  // namespace xlaprof

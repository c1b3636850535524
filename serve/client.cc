#include "serve/client.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "base/escape.h"
#include "serve/profiler_service.grpc.pb.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// The time to wait beyond the captured time, because a large job collects its events for minutes.
constexpr auto kPatience = std::chrono::minutes(10);
constexpr const char* kSession = "capture";
constexpr std::string_view kSuffix = ".xplane.pb";
// gRPC says this if a message is larger than it may be.
constexpr const char* kTooLarge = "Received message larger than max";

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

// Returns in a few words why the connection failed, or "" if there was a connection.
std::string NoConnection(const std::string& said) {
  auto has = [&](const char* words) { return said.find(words) != said.npos; };
  if (has("Connection refused")) return "connection refused";
  if (has("DNS resolution failed")) return "no such host";
  if (has("http1") || has("Failed parsing HTTP/2"))
    return "the program that listens there does not speak gRPC";
  if (has("imeout occurred") || has("imed out")) return "no reply";
  constexpr std::string_view kLast = "last error: ";
  if (!has("failed to connect")) return "";
  const size_t at = said.find(kLast);
  return at == said.npos ? said : said.substr(at + kLast.size());
}

absl::Status TooLarge(const CaptureRequest& request) {
  return absl::OutOfRangeError(fmt::format(
      "{}: the answer has more than {} MB, so it is not kept. Capture for a shorter time (--duration), or allow more (--max-answer)",
      request.address, request.most_bytes / 1'000'000));
}

// Returns an error that says what went wrong, as far as gRPC reports it, and what to try.
absl::Status ErrorOf(const CaptureRequest& request, const grpc::Status& status,
                     std::chrono::steady_clock::duration passed) {
  std::string said = Printable(status.error_message());
  if (said.ends_with('.')) said.pop_back();
  const std::string& address = request.address;
  switch (status.error_code()) {
    case grpc::UNAVAILABLE:
      if (const std::string why = NoConnection(said); !why.empty()) {
        return IoError(
            "{}: no profiler server answers there: {}. Start one in the program, before its first "
            "step: xp.start_server(PORT), jax.profiler.start_server(PORT), XLAPROF_SERVE=PORT",
            address, why);
      }
      return IoError(
          "{}: the connection to the program was lost after {:.1f} s of the capture ({}). Check that it still runs, and capture for a shorter time (--duration)",
          address, std::chrono::duration<double>(passed).count(), said);
    case grpc::UNIMPLEMENTED:
      return Unsupported(
          "{}: this server is not a profiler server ({}). Use the port of xp.start_server or jax.profiler.start_server",
          address, said);
    case grpc::DEADLINE_EXCEEDED:
      return absl::DeadlineExceededError(fmt::format(
          "{}: the server has not answered {} minutes after the end of the capture. Check whether the program hangs",
          address, kPatience.count()));
    case grpc::CANCELLED:
      if (!request.stop.stop_requested()) break;
      return absl::CancelledError(
          fmt::format("{}: did not answer within {:.1f} s, so xlaprof stopped waiting", address,
                      std::chrono::duration<double>(passed).count()));
    case grpc::ALREADY_EXISTS:
    case grpc::RESOURCE_EXHAUSTED:
      if (said.find(kTooLarge) != said.npos) return TooLarge(request);
      return absl::AlreadyExistsError(
          fmt::format("{}: {}. Try again later, or with --retry 3", address, said));
    default:
      break;
  }
  return IoError("{}: the server could not capture: {}", address, said);
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

}  // namespace

absl::StatusOr<Captured> Capture(const CaptureRequest& request) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(int(std::min<int64_t>(request.most_bytes, INT32_MAX)));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // With a shared pool, a second attempt of this program would inherit the first one's failure.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto stub = tensorflow::ProfilerService::NewStub(
      grpc::CreateCustomChannel(request.address, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  const auto now = std::chrono::system_clock::now();
  const int64_t now_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  context.set_deadline(
      now + std::chrono::milliseconds(request.duration_ms) + kPatience +
      std::chrono::nanoseconds(std::max<int64_t>(0, request.start_epoch_ns - now_ns)));
  const std::stop_callback stop(request.stop, [&] { context.TryCancel(); });
  tensorflow::ProfileResponse response;
  const auto begin = std::chrono::steady_clock::now();
  const grpc::Status status = stub->Profile(&context, RequestOf(request), &response);
  if (!status.ok()) return ErrorOf(request, status, std::chrono::steady_clock::now() - begin);
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

}  // namespace xlaprof

#include "serve/server.h"

#include <grpcpp/grpcpp.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>

#include "base/clock_ns.h"
#include "base/temporary_folder.h"
#include "base/unfinished_file.h"
#include "serve/profile_request.h"
#include "serve/profiler_service.grpc.pb.h"
#include "serve/recorder.h"
#include "serve/window.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using serve::ProfilePlan;
using Clock = std::chrono::steady_clock;

constexpr int kMaxRequestBytes = 1 << 20;
constexpr int kMaxThreads = 32;
// A capture checks at this interval whether its client is still there.
constexpr auto kPollTime = std::chrono::milliseconds(20);
// protobuf cannot hold larger messages.
constexpr uintmax_t kMaxAnswerBytes = INT32_MAX - 1024;

int64_t EpochNs() { return ClockNs(CLOCK_REALTIME); }

grpc::Status ToGrpc(const absl::Status& status) {
  return {grpc::StatusCode(int(status.code())), std::string(Message(status))};
}

class Service final : public tensorflow::ProfilerService::Service {
 public:
  grpc::Status Profile(grpc::ServerContext* context, const tensorflow::ProfileRequest* request,
                       tensorflow::ProfileResponse* response) override {
    auto plan = serve::PlanOf(*request, EpochNs());
    if (!plan.ok()) return ToGrpc(plan.status());
    if (absl::Status begun = Begin(*plan); !begun.ok()) return ToGrpc(begun);
    absl::Status status = Capture(*context, *plan, *response);
    {
      std::lock_guard lock(mutex_);
      is_busy_ = false;
    }
    return ToGrpc(status);
  }

  grpc::Status Terminate(grpc::ServerContext*, const tensorflow::TerminateRequest* request,
                         tensorflow::TerminateResponse*) override {
    std::lock_guard lock(mutex_);
    if (is_busy_ && (request->session_id().empty() || request->session_id() == session_id_))
      is_ended_ = true;
    wake_.notify_all();
    return grpc::Status::OK;
  }

  // Reports what is being recorded, and how fast events arrive.
  grpc::Status Monitor(grpc::ServerContext* context, const tensorflow::MonitorRequest* request,
                       tensorflow::MonitorResponse* response) override {
    constexpr uint64_t kMaxMonitorMs = 10'000;
    const uint64_t duration_ms = std::min(request->duration_ms(), kMaxMonitorMs);
    auto before = serve::Commit();
    if (before.ok() && !*before) {
      response->set_data(fmt::format("process {}: nothing is being recorded\n", getpid()));
      return grpc::Status::OK;
    }
    if (!before.ok()) return ToGrpc(before.status());
    const auto until = Clock::now() + std::chrono::milliseconds(duration_ms);
    while (Clock::now() < until && !context->IsCancelled()) {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kPollTime, [&] { return is_stopping_; })) break;
    }
    auto committed = duration_ms > 0 ? serve::Commit() : before;
    if (!committed.ok()) return ToGrpc(committed.status());
    const serve::Recorded& begin = **before;
    const serve::Recorded& end = committed->has_value() ? **committed : begin;
    std::string text = fmt::format(
        "process {}: recording to {} since {:.1f} s\n{} events of {} threads, {} dropped\n",
        getpid(), end.path.string(), double(end.now_ns) / 1e9, end.stats.events, end.stats.threads,
        end.stats.dropped);
    if (const int64_t passed_ns = end.now_ns - begin.now_ns; passed_ns > 0)
      text += fmt::format("{:.0f} events/s, {} dropped in {:.1f} s\n",
                          double(end.stats.events - begin.stats.events) * 1e9 / double(passed_ns),
                          end.stats.dropped - begin.stats.dropped, double(passed_ns) / 1e9);
    std::error_code error;
    if (const auto bytes = fs::file_size(end.path, error); !error)
      text += fmt::format("{} bytes in the store\n", bytes);
    response->set_data(text);
    return grpc::Status::OK;
  }

  void Stop() {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    wake_.notify_all();
  }

 private:
  absl::Status Begin(const ProfilePlan& plan) {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return absl::UnavailableError("the program is ending");
    if (is_busy_) {
      const int64_t left_ns = end_epoch_ns_ - EpochNs();
      return absl::AlreadyExistsError(
          fmt::format("another capture of this process is under way, {}",
                      left_ns > 0 ? fmt::format("for {:.1f} s more", double(left_ns) / 1e9)
                                  : "complete but not yet written"));
    }
    is_busy_ = true;
    is_ended_ = false;
    session_id_ = plan.session_id;
    end_epoch_ns_ = (plan.start_epoch_ns != 0 ? plan.start_epoch_ns : EpochNs()) + plan.duration_ns;
    return absl::OkStatus();
  }

  // Waits until the time is over, or the capture is to end early. Returns an error if the client is
  // gone or the program ends.
  absl::Status Wait(grpc::ServerContext& context, Clock::time_point until) {
    std::unique_lock lock(mutex_);
    while (!is_ended_ && Clock::now() < until) {
      if (is_stopping_) return absl::UnavailableError("the program ended during the capture");
      if (context.IsCancelled()) return absl::CancelledError("the client disconnected");
      wake_.wait_until(lock, std::min(until, Clock::now() + kPollTime));
    }
    return absl::OkStatus();
  }

  absl::Status Capture(grpc::ServerContext& context, const ProfilePlan& plan,
                       tensorflow::ProfileResponse& response) {
    if (!plan.records) {
      response.set_empty_trace(true);
      return absl::OkStatus();
    }
    const int64_t delay_ns =
        plan.start_epoch_ns == 0 ? 0 : std::max<int64_t>(0, plan.start_epoch_ns - EpochNs());
    XP_TRY(Wait(context, Clock::now() + std::chrono::nanoseconds(delay_ns)));
    XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("serve"));
    const fs::path file = folder.path() / "window.xplane.pb";
    XP_TRY(int64_t events, serve::CaptureWindow(folder.path(), file, [&] {
             return Wait(context, Clock::now() + std::chrono::nanoseconds(plan.duration_ns));
           }));
    response.set_empty_trace(events == 0);
    if (events == 0) return absl::OkStatus();
    return plan.file.empty() ? Answer(file, response) : Keep(file, plan.file);
  }

  static absl::Status Answer(const fs::path& file, tensorflow::ProfileResponse& response) {
    std::error_code error;
    const uintmax_t bytes = fs::file_size(file, error);
    if (error) return IoError("{}: cannot be read: {}", file.string(), error.message());
    if (bytes > kMaxAnswerBytes)
      return absl::ResourceExhaustedError(fmt::format(
          "the capture has {} bytes, more than an answer can hold. Request a shorter one, or set repository_root",
          bytes));
    std::string& text = *response.mutable_xspace();
    text.resize(bytes);
    std::ifstream in(file, std::ios::binary);
    if (!in.read(text.data(), std::streamsize(bytes)))
      return IoError("{}: cannot be read", file.string());
    return absl::OkStatus();
  }

  // Copies the file and gives it its name only when it is whole. A link of that name is replaced,
  // not followed.
  static absl::Status Keep(const fs::path& file, const fs::path& to) {
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (!error) {
      XP_TRY(UnfinishedFile kept, UnfinishedFile::Create(to));
      fs::copy_file(file, kept.path(), fs::copy_options::overwrite_existing, error);
      if (!error) return kept.Finish();
    }
    return IoError(
        "{}: this process cannot write there: {}. Choose another folder, or set emit_xspace",
        to.string(), error.message());
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_busy_ = false, is_ended_ = false, is_stopping_ = false;
  std::string session_id_;    // the id of the capture under way
  int64_t end_epoch_ns_ = 0;  // when that capture should be over
};

// Returns in words why nobody can listen there. gRPC would write the reason only to its log.
absl::Status CheckPort(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return Invalid("{}: is not a numeric address, such as 127.0.0.1 or ::", address);
  const int probe = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool is_free =
      probe >= 0 && bind(probe, found->ai_addr, found->ai_addrlen) == 0 && listen(probe, 1) == 0;
  const int error = errno;
  freeaddrinfo(found);
  if (probe >= 0) close(probe);
  if (is_free) return absl::OkStatus();
  return IoError("{}, port {}: cannot listen there: {}. Port 0 selects a free one", address, port,
                 std::strerror(error));
}

}  // namespace

struct ProfilerServer::Impl {
  Service service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
  const pid_t pid = getpid();
};

ProfilerServer::ProfilerServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ProfilerServer::~ProfilerServer() {
  if (impl_->pid != getpid()) {  // a forked child lacks the threads that would end the server
    (void)impl_.release();
    return;
  }
  impl_->service.Stop();
  impl_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  impl_->server->Wait();
}

int ProfilerServer::port() const { return impl_->port; }

absl::StatusOr<std::unique_ptr<ProfilerServer>> StartServer(int port, ServerOptions options) {
  if (port < 0 || port > 65535)
    return Invalid("{}: is not a port. Choose a number up to 65535", port);
  XP_TRY(CheckPort(options.address, port));
  auto impl = std::make_unique<ProfilerServer::Impl>();
  const bool is_v6 = options.address.find(':') != options.address.npos;
  const std::string address =
      fmt::format(fmt::runtime(is_v6 ? "[{}]:{}" : "{}:{}"), options.address, port);
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("xlaprof");
  quota.SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder.SetMaxSendMessageSize(-1);
  // Otherwise two servers could share a port, and take turns.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &impl->port);
  builder.RegisterService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || impl->port == 0)
    return IoError("{}: cannot listen there. Port 0 selects a free one", address);
  return std::unique_ptr<ProfilerServer>(new ProfilerServer(std::move(impl)));
}

}  // namespace xlaprof

// Tests the answers of the server that captures programs, to known clients and to strangers.
#include "serve/server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "profiler/record/current.h"
#include "serve/profiler_service.grpc.pb.h"
#include "tests/serve/busy_program.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using tensorflow::ProfileRequest;
using tensorflow::ProfileResponse;
using testing::HasSubstr;

class Server : public testing::Test {
 protected:
  Server() : server_(*StartServer(0)) {
    stub_ = tensorflow::ProfilerService::NewStub(
        grpc::CreateChannel(AddressOf(server_->port()), grpc::InsecureChannelCredentials()));
  }
  ProfileRequest Request(uint64_t duration_ms) {
    ProfileRequest request;
    request.set_duration_ms(duration_ms);
    request.set_emit_xspace(true);
    return request;
  }
  grpc::Status Profile(const ProfileRequest& request, ProfileResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return stub_->Profile(&context, request, response);
  }
  absl::StatusOr<Captured> CaptureFor(int64_t duration_ms) {
    return Capture({.address = AddressOf(server_->port()),
                    .duration_ms = duration_ms,
                    .folder = folder_.path()});
  }
  // Returns false if no recording began within a minute, or if it is over.
  static bool WaitForRecording() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (absl::IsNotFound(CommitRecording().status())) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  TemporaryFolder folder_ = *TemporaryFolder::Make("test");
  std::unique_ptr<ProfilerServer> server_;
  std::unique_ptr<tensorflow::ProfilerService::Stub> stub_;
};

TEST_F(Server, RecordsTheWindow) {
  BusyProgram program;
  auto captured = CaptureFor(300);
  ASSERT_TRUE(captured.ok()) << captured.status();
  EXPECT_GT(Count(captured->file, "SELECT count(*) FROM step"), 3);
  EXPECT_GT(Count(captured->file,
                  "SELECT count(*) FROM event WHERE name = 'forward' AND category "
                  "= 'scope'"),
            3);
  EXPECT_GT(Count(captured->file, "SELECT count(*) FROM counter_sample"), 3);
  // No recording goes on afterwards.
  EXPECT_TRUE(StartRecording(folder_.path() / "own.xlaprof").ok());
}

TEST_F(Server, TakesTheWindowOfARunningRecording) {
  BusyProgram program;
  const fs::path path = folder_.path() / "run.xlaprof";
  auto recording = StartRecording(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const int before = program.steps();
  auto captured = CaptureFor(200);
  const int after = program.steps();
  ASSERT_TRUE(captured.ok()) << captured.status();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  const int64_t steps = Count(captured->file, "SELECT count(*) FROM step");
  EXPECT_GT(steps, 3);
  EXPECT_LE(steps, after - before + 2);
  EXPECT_GE(Count(captured->file, "SELECT min(number) FROM step"), before - 1);
  // The recording itself has everything.
  Store store = *Store::Open(path);
  EXPECT_EQ(*store.One<int64_t>("SELECT (SELECT count(*) FROM event) + "
                                "(SELECT count(*) FROM counter_sample)"),
            stats->events);
  EXPECT_LT(**store.One<int64_t>("SELECT min(number) FROM step"), before);
}

// Sends the request that torch_xla's client sends.
TEST_F(Server, WritesIntoARepository) {
  BusyProgram program;
  ProfileRequest request;
  request.mutable_opts()->set_version(1);
  request.mutable_opts()->set_host_tracer_level(2);
  request.mutable_opts()->set_duration_ms(300);
  request.set_repository_root((folder_.path() / "plugins/profile").string());
  request.set_session_id("2026_11_21_03_04_55");
  request.set_host_name("127.0.0.1:9012");
  ProfileResponse response;
  const grpc::Status status = Profile(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_FALSE(response.empty_trace());
  EXPECT_TRUE(response.xspace().empty());
  const fs::path run = folder_.path() / "plugins/profile/2026_11_21_03_04_55";
  EXPECT_GT(Count(run / "127.0.0.1_9012.xplane.pb", "SELECT count(*) FROM step"), 3);
  EXPECT_EQ(std::distance(fs::directory_iterator(run), {}), 1);
}

TEST_F(Server, ASecondCaptureIsToldToWaitAndTerminateEndsTheFirst) {
  BusyProgram program;
  ProfileResponse response;
  ProfileRequest request = Request(60'000);
  request.set_session_id("long");
  auto first = std::async(std::launch::async, [&] { return Profile(request, &response); });
  ASSERT_TRUE(WaitForRecording());
  ProfileResponse unused;
  const grpc::Status second = Profile(Request(1), &unused);
  EXPECT_EQ(second.error_code(), grpc::ALREADY_EXISTS);
  EXPECT_THAT(second.error_message(),
              HasSubstr("another capture of this process is under way, for "));
  auto terminate = [&](const char* session) {
    grpc::ClientContext context;
    tensorflow::TerminateRequest terminate;
    terminate.set_session_id(session);
    tensorflow::TerminateResponse ended;
    EXPECT_TRUE(stub_->Terminate(&context, terminate, &ended).ok());
  };
  terminate("of somebody else");
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  terminate("long");
  const grpc::Status status = first.get();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_FALSE(response.xspace().empty());
}

TEST_F(Server, NothingHappened) {
  ProfileResponse response;
  ASSERT_TRUE(Profile(Request(10), &response).ok());
  EXPECT_TRUE(response.empty_trace());
  EXPECT_TRUE(absl::IsNotFound(CaptureFor(10).status())) << CaptureFor(10).status();
}

TEST_F(Server, ClientThatIsGoneEndsItsCapture) {
  BusyProgram program;
  grpc::ClientContext context;
  auto asked = std::async(std::launch::async, [&] {
    ProfileResponse response;
    return stub_->Profile(&context, Request(60'000), &response);
  });
  ASSERT_TRUE(WaitForRecording());
  context.TryCancel();
  EXPECT_EQ(asked.get().error_code(), grpc::CANCELLED);
  absl::StatusOr<Captured> next = absl::UnknownError("");
  for (int tries = 0; tries < 500 && !next.ok(); ++tries) {
    next = CaptureFor(50);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(next.ok()) << next.status();
}

TEST_F(Server, EndsInTheMiddleOfACapture) {
  auto asked = std::async(std::launch::async, [&] { return CaptureFor(60'000); });
  ASSERT_TRUE(WaitForRecording());
  server_.reset();
  auto captured = asked.get();
  EXPECT_TRUE(absl::IsUnavailable(captured.status())) << captured.status();
  EXPECT_THAT(std::string(Message(captured.status())),
              HasSubstr("the connection to the program was lost"));
}

TEST_F(Server, MonitorTellsWhatIsRecorded) {
  auto monitor = [&] {
    grpc::ClientContext context;
    tensorflow::MonitorRequest request;
    request.set_duration_ms(100);
    tensorflow::MonitorResponse response;
    EXPECT_TRUE(stub_->Monitor(&context, request, &response).ok());
    return response.data();
  };
  EXPECT_THAT(monitor(), HasSubstr("nothing is being recorded"));
  BusyProgram program;
  auto recording = StartRecording(folder_.path() / "run.xlaprof");
  ASSERT_TRUE(recording.ok());
  const std::string text = monitor();
  EXPECT_THAT(text, HasSubstr("recording to " + (folder_.path() / "run.xlaprof").string()));
  EXPECT_THAT(text, HasSubstr(" events/s, 0 dropped in 0."));
}

TEST_F(Server, RefusesWhatCannotBeMeant) {
  auto said = [&](auto&& change) {
    ProfileRequest request = Request(10);
    request.set_emit_xspace(false);
    request.set_repository_root(folder_.path().string());
    request.set_session_id("run");
    request.set_host_name("host");
    change(request);
    ProfileResponse response;
    const grpc::Status status = Profile(request, &response);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << request.ShortDebugString();
    return status.error_message();
  };
  for (std::string name : {"", "..", ".", "a/b", "../../etc/cron.d/x", "/etc/passwd", "a\nb"}) {
    EXPECT_THAT(said([&](auto& request) { request.set_session_id(name); }),
                HasSubstr("session_id: "));
    EXPECT_THAT(said([&](auto& request) { request.set_host_name(name); }),
                HasSubstr("host_name: "));
  }
  const std::string nul("a\0b", 3), longest(5000, 'x');
  for (const std::string& name : {nul, longest}) {
    said([&](auto& request) { request.set_session_id(name); });
    said([&](auto& request) { request.set_host_name(name); });
    said([&](auto& request) { request.set_repository_root(name); });
  }
  EXPECT_THAT(said([](auto& request) { request.set_repository_root("gs://bucket/x"); }),
              HasSubstr("is not a folder on this machine"));
  EXPECT_THAT(said([](auto& request) { request.set_duration_ms(0); }),
              HasSubstr("duration_ms: 0 is not between 1 and 3600000 (an hour)"));
  said([](auto& request) { request.set_duration_ms(UINT64_MAX); });
  said([](auto& request) { request.mutable_opts()->set_duration_ms(1ull << 63); });
  said([](auto& request) { request.mutable_opts()->set_start_timestamp_ns(UINT64_MAX); });
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(Server, RepositoryThatCannotBeWritten) {
  BusyProgram program;
  ProfileRequest request = Request(20);
  request.set_emit_xspace(false);
  request.set_repository_root("/proc/nowhere");
  request.set_session_id("run");
  request.set_host_name("host");
  ProfileResponse response;
  const grpc::Status status = Profile(request, &response);
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("/proc/nowhere/run/host.xplane.pb: this process "
                                                "cannot write there"));
}

// Strangers send bytes that are not gRPC, connections that stay silent, and a request that is too
// large.
TEST_F(Server, StrangersDoNotDisturbIt) {
  std::vector<int> sockets;
  for (int i = 0; i < 20; ++i) {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(uint16_t(server_->port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    const std::string text = i % 2 == 0 ? "" : "GET / HTTP/1.1\r\n\r\n" + std::string(4096, '\xff');
    (void)!write(client, text.data(), text.size());
    sockets.push_back(client);
  }
  ProfileRequest request = Request(10);
  request.set_repository_root(std::string(4 << 20, 'x'));
  ProfileResponse response;
  EXPECT_EQ(Profile(request, &response).error_code(), grpc::RESOURCE_EXHAUSTED);
  BusyProgram program;
  EXPECT_TRUE(CaptureFor(50).ok());
  for (int client : sockets) close(client);
}

TEST_F(Server, PortThatIsTaken) {
  auto second = StartServer(server_->port());
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(Message(second.status())),
              HasSubstr("cannot listen there: Address already in use"));
  EXPECT_TRUE(absl::IsInvalidArgument(StartServer(0, {.address = "my-host"}).status()));
  // "::1" is a valid address whether or not this machine has IPv6.
  EXPECT_FALSE(absl::IsInvalidArgument(StartServer(0, {.address = "::1"}).status()));
  EXPECT_FALSE(StartServer(70000).ok());
}

TEST_F(Server, ForkedChildEndsWithoutIt) {
  const pid_t child = fork();
  if (child == 0) {
    server_.reset();
    _exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace xlaprof

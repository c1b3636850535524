// Tests the client against servers that are old, broken or absent.
#include "serve/client.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/read_file.h"
#include "tests/serve/busy_program.h"
#include "tests/serve/fake_server.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
class Client : public testing::Test {
 protected:
  absl::StatusOr<Captured> CaptureFrom(const std::string& address) {
    return Capture({.address = address, .duration_ms = 50, .folder = folder_.path()});
  }
  std::string Error(const std::string& address, absl::StatusCode code) {
    auto captured = CaptureFrom(address);
    EXPECT_EQ(captured.status().code(), code) << captured.status();
    EXPECT_TRUE(std::string(Message(captured.status())).starts_with(address + ": "));
    return std::string(Message(captured.status()));
  }
  std::string Error(int port, absl::StatusCode code) { return Error(AddressOf(port), code); }
  TemporaryFolder folder_ = *TemporaryFolder::Make("test");
};

// A server that does not know emit_xspace writes the file itself and sends an empty answer.
TEST_F(Client, TakesTheFileOfAnOldServer) {
  FakeServer server([](const tensorflow::ProfileRequest& request, tensorflow::ProfileResponse&) {
    const fs::path run = fs::path(request.repository_root()) / request.session_id();
    fs::create_directories(run);
    std::string host = request.host_name();
    std::replace(host.begin(), host.end(), ':', '_');
    std::ofstream(run / (host + ".xplane.pb")) << "the profile";
    return grpc::Status::OK;
  });
  auto captured = CaptureFrom(AddressOf(server.port()));
  ASSERT_TRUE(captured.ok()) << captured.status();
  EXPECT_EQ(ReadFile(captured->file), "the profile");
}

TEST_F(Client, TakesTheToolDataOfAnOlderServer) {
  FakeServer server([](const tensorflow::ProfileRequest&, tensorflow::ProfileResponse& response) {
    auto* other = response.add_tool_data();
    other->set_name("overview_page.json");
    other->set_data("{}");
    auto* data = response.add_tool_data();
    data->set_name("xplane.pb");
    data->set_data("the profile");
    return grpc::Status::OK;
  });
  auto captured = CaptureFrom(AddressOf(server.port()));
  ASSERT_TRUE(captured.ok()) << captured.status();
  EXPECT_EQ(ReadFile(captured->file), "the profile");
}

TEST_F(Client, TakesProfilesOfManyMegabytes) {
  FakeServer server([](const tensorflow::ProfileRequest&, tensorflow::ProfileResponse& response) {
    response.mutable_xspace()->assign(size_t(64) << 20, 'x');
    return grpc::Status::OK;
  });
  auto captured = CaptureFrom(AddressOf(server.port()));
  ASSERT_TRUE(captured.ok()) << captured.status();
  EXPECT_EQ(fs::file_size(captured->file), size_t(64) << 20);
}

// Regression: the answer of a hostile server had no bound.
TEST_F(Client, AnAnswerThatIsTooLargeIsNotKept) {
  FakeServer server(
      [](const tensorflow::ProfileRequest& request, tensorflow::ProfileResponse& response) {
        if (request.repository_root().find("large") != std::string::npos) {
          fs::create_directories(request.repository_root());
          std::ofstream(fs::path(request.repository_root()) / "x.xplane.pb")
              << std::string(2'000'000, 'x');
        } else {
          response.set_xspace(std::string(2'000'000, 'x'));
        }
        return grpc::Status::OK;
      });
  CaptureRequest request{
      .address = AddressOf(server.port()), .duration_ms = 50, .folder = folder_.path()};
  for (const char* name : {"answer", "large"}) {
    request.folder = folder_.path() / name;
    fs::create_directory(request.folder);
    request.most_bytes = 1'000'000;
    const auto refused = Capture(request);
    EXPECT_TRUE(absl::IsOutOfRange(refused.status())) << refused.status();
    EXPECT_THAT(std::string(Message(refused.status())), HasSubstr("more than 1 MB"));
    request.most_bytes = 3'000'000;
    EXPECT_TRUE(Capture(request).ok());
  }
}

TEST_F(Client, AnswersWithoutAProfile) {
  FakeServer empty([](const tensorflow::ProfileRequest&, tensorflow::ProfileResponse& response) {
    response.set_empty_trace(true);
    return grpc::Status::OK;
  });
  EXPECT_THAT(Error(empty.port(), absl::StatusCode::kNotFound),
              HasSubstr("nothing happened in 50 ms. Capture while steps run"));
  FakeServer nothing([](auto&, auto&) { return grpc::Status::OK; });
  EXPECT_THAT(Error(nothing.port(), absl::StatusCode::kNotFound),
              HasSubstr("the server answered without a profile"));
}

TEST_F(Client, ErrorsOfTheServerAreTold) {
  FakeServer busy([](auto&, auto&) {
    return grpc::Status(grpc::ALREADY_EXISTS, "Another profiling session active.");
  });
  EXPECT_THAT(Error(busy.port(), absl::StatusCode::kAlreadyExists),
              HasSubstr("Another profiling session active. Try again later"));
  FakeServer hostile(
      [](auto&, auto&) { return grpc::Status(grpc::INTERNAL, "no \x1b[31mtracer"); });
  EXPECT_THAT(Error(hostile.port(), absl::StatusCode::kUnavailable),
              HasSubstr("the server could not capture: no \\x1b[31mtracer"));
}

TEST_F(Client, NobodyListens) {
  PlainServer refusing(nullptr);
  EXPECT_THAT(Error(refusing.port(), absl::StatusCode::kUnavailable),
              AllOf(HasSubstr("no profiler server answers there: connection refused"),
                    HasSubstr("xp.start_server(PORT)")));
  EXPECT_THAT(Error("nowhere.invalid:9012", absl::StatusCode::kUnavailable),
              HasSubstr("no profiler server answers there: no such host"));
}

TEST_F(Client, WhatListensIsNoProfiler) {
  PlainServer http([](int fd) {
    SendAll(fd, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    usleep(50'000);
  });
  EXPECT_THAT(Error(http.port(), absl::StatusCode::kUnavailable), HasSubstr("does not speak gRPC"));
  FakeServer other(nullptr);
  EXPECT_THAT(Error(other.port(), absl::StatusCode::kUnimplemented),
              HasSubstr("this server is not a profiler server"));
}

TEST(Address, HostAndPort) {
  for (const char* good : {"localhost:9012", "10.0.0.1:1", "vm-0.zone_a:65535", "[::1]:9012"})
    EXPECT_TRUE(CheckAddress(good).ok()) << good;
  for (const char* bad : {"", ":", "localhost", "localhost:", ":9012", "localhost:0", "a:65536",
                          "a:90x", "unix:/tmp/x:1", "a b:1", "::1:9012", "a:1:2", "ipv4:1.2.3.4:5"})
    EXPECT_FALSE(CheckAddress(bad).ok()) << bad;
}

}  // namespace
}  // namespace xlaprof

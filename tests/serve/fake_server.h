// Servers that answer as a test wants, on a free port of this machine.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "serve/profiler_service.grpc.pb.h"

namespace xlaprof {

using ServerAnswer =
    std::function<grpc::Status(const tensorflow::ProfileRequest&, tensorflow::ProfileResponse&)>;

// Answers with the function that it is given; without one, it serves something else.
class FakeServer final : public tensorflow::ProfilerService::Service {
 public:
  explicit FakeServer(ServerAnswer answer) : answer_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    if (answer_) {
      builder.RegisterService(this);
    } else {
      builder.RegisterCallbackGenericService(&other_);
    }
    builder.SetMaxSendMessageSize(-1);
    server_ = builder.BuildAndStart();
  }
  int port() const { return port_; }

 private:
  grpc::Status Profile(grpc::ServerContext*, const tensorflow::ProfileRequest* request,
                       tensorflow::ProfileResponse* response) override {
    return answer_(*request, *response);
  }
  const ServerAnswer answer_;
  grpc::CallbackGenericService other_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Listens, and runs `talk` with the socket of each connection, which it closes afterwards. Without
// `talk`, it refuses connections.
class PlainServer {
 public:
  explicit PlainServer(std::function<void(int)> talk) : talk_(std::move(talk)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    socklen_t size = sizeof at;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    if (!talk_) return;
    listen(socket_, 8);
    thread_ = std::thread([this] {
      while (true) {
        const int client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        talk_(client);
        close(client);
      }
    });
  }
  // Waits for the end of a connection, so the client must have closed it, or `talk` must return.
  ~PlainServer() {
    shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(socket_);
  }
  int port() const { return port_; }

 private:
  const std::function<void(int)> talk_;
  int socket_ = -1, port_ = 0;
  std::thread thread_;
};

// Sends all bytes. Returns whether the other side took them.
inline bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(size_t(sent));
  }
  return true;
}

// Waits until the other side closes the connection.
inline void AwaitClose(int fd) {
  char bytes[4096];
  while (recv(fd, bytes, sizeof bytes, 0) > 0) {
  }
}

}  // namespace xlaprof

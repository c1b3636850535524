// A server in the recorded program. Others capture profiles of the running program through it:
// `xlaprof capture`, XProf and TensorBoard, and the clients of torch_xla and JAX (gRPC,
// tensorflow.ProfilerService).
//
//   #include "serve/server.h"      // link xlaprof_serve
//
//   int main() {
//     auto server = xlaprof::StartServer(9012);   // or run with XLAPROF_SERVE=9012
//     ...
//   }
//
// A capture records all threads for its time. If the program is being recorded already, the capture
// is that part of the running recording. It never blocks the program. While a capture records by
// itself, StartRecording fails as it does during any other recording.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace xlaprof {

struct ServerOptions {
  // Numeric address to listen on. There is no authentication: anyone who reaches the address may
  // record the program, and have a profile written to any directory that the program may write to.
  std::string address = "127.0.0.1";
};

// Serves until it is destroyed. A capture under way ends then, and its client gets an error. Any
// thread may use it.
class ProfilerServer {
 public:
  ~ProfilerServer();
  ProfilerServer(const ProfilerServer&) = delete;
  int port() const;

  struct Impl;  // defined in server.cc

 private:
  friend absl::StatusOr<std::unique_ptr<ProfilerServer>> StartServer(int, ServerOptions);
  explicit ProfilerServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Starts a server; port 0 finds a free one. Returns Unavailable if the port is taken.
absl::StatusOr<std::unique_ptr<ProfilerServer>> StartServer(int port, ServerOptions options = {});

namespace serve {
// Does what XLAPROF_SERVE asks for, from before main until after it.
bool StartFromEnvironment();
inline const bool started_from_environment = StartFromEnvironment();
}  // namespace serve

}  // namespace xlaprof

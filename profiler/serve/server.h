// A server in the recorded program, by which others take profiles of it while it runs: `xlaprof
// capture`, XProf and TensorBoard, torch_xla's and JAX's clients (gRPC,
// tensorflow.ProfilerService).
//
//   #include "profiler/serve/server.h"      // link xlaprof_serve
//
//   int main() {
//     auto server = xlaprof::StartServer(9012);   // or run with XLAPROF_SERVE=9012
//     ...
//   }
//
// A capture records all threads for its time, or, where the program is being recorded anyway, takes
// that time of the running recording. It never blocks the program. While it records for itself,
// StartRecording fails as it does beside any other recording.
#pragma once

#include <memory>
#include <string>

#include "core/base/status.h"

namespace xlaprof {

struct ServerOptions {
  // Numeric address to listen on. Whoever reaches it may record the program, and have a profile
  // written into any folder that the program may write to: there is no authentication.
  std::string address = "127.0.0.1";
};

// Serves until it is destroyed; a capture under way ends then, and its client is told. Any thread.
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

// Starts a server; port 0: one that is free. Unavailable where the port is taken.
absl::StatusOr<std::unique_ptr<ProfilerServer>> StartServer(int port, ServerOptions options = {});

namespace serve {
// What XLAPROF_SERVE asks for, from before main until after it.
bool StartFromEnvironment();
inline const bool started_from_environment = StartFromEnvironment();
}  // namespace serve

}  // namespace xlaprof

// Lets others capture profiles of the running program: `xlaprof capture`, XProf and TensorBoard,
// and the clients of torch_xla and JAX (gRPC, tensorflow.ProfilerService). Link xlaprof::serve
// (CMake), which needs the libraries of gRPC, and xlaprof::record.
//
//   #include <xlaprof/serve.h>
//
//   int main() {
//     auto server = xlaprof::start_server(9012);  // or run with XLAPROF_SERVE=9012
//     ...
//   }
//
//   $ xlaprof capture localhost:9012
//
// A capture records all threads for its time, with all that the recorder and the lazy runtime tell.
// If the program is being recorded already, the capture is that part of the running recording. It
// never blocks the program. Any thread may call the functions.
#ifndef XLAPROF_SERVE_H
#define XLAPROF_SERVE_H

#include <xlaprof/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xlaprof_server xlaprof_server;

// Starts a server at a numeric address and a port; NULL is 127.0.0.1, and port 0 finds a free one.
// There is no authentication: anyone who reaches the address may record the program, and have a
// profile written to any directory that the program may write to. Returns NULL if it cannot listen
// there; xlaprof_serve_error then says why.
XLAPROF_API xlaprof_server* xlaprof_serve_start(const char* address, int port);
XLAPROF_API int xlaprof_serve_port(const xlaprof_server* server);
// Ends the server, and frees it. The client of a capture under way gets an error.
XLAPROF_API void xlaprof_serve_stop(xlaprof_server* server);
// Returns why the calling thread's last xlaprof_serve_start failed, or "". The text is valid until
// the thread's next call of it.
XLAPROF_API const char* xlaprof_serve_error(void);
// Does what XLAPROF_SERVE asks for, from before main until after it. Programs that include this
// header call it. Returns 1 if a server was started.
XLAPROF_API int xlaprof_serve_from_environment(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#if defined(__cplusplus) && !defined(XLAPROF_INSIDE_SERVER)

#include <stdexcept>
#include <utility>

namespace xlaprof {
inline namespace linked {

// Serves until it is destroyed.
class ProfilerServer {
 public:
  explicit ProfilerServer(xlaprof_server* server) : server_(server) {}
  ProfilerServer(ProfilerServer&& other) noexcept
      : server_(std::exchange(other.server_, nullptr)) {}
  ProfilerServer& operator=(ProfilerServer&& other) noexcept {
    std::swap(server_, other.server_);
    return *this;
  }
  ~ProfilerServer() {
    if (server_ != nullptr) xlaprof_serve_stop(server_);
  }
  int port() const { return xlaprof_serve_port(server_); }

 private:
  xlaprof_server* server_;
};

// Starts a server for clients on this machine, as torch_xla.debug.profiler.start_server does; port
// 0 finds a free one. Throws std::runtime_error if it cannot listen there.
[[nodiscard]] inline ProfilerServer start_server(int port) {
  xlaprof_server* server = xlaprof_serve_start(nullptr, port);
  if (server == nullptr) throw std::runtime_error(xlaprof_serve_error());
  return ProfilerServer(server);
}

inline const bool served_from_environment = xlaprof_serve_from_environment() != 0;

}  // namespace linked

// Programs of the lazy runtime find it beside its other functions.
namespace lazy {
using xlaprof::start_server;
}

}  // namespace xlaprof

#endif  // __cplusplus
#endif  // XLAPROF_SERVE_H

// The C functions of include/xlaprof/serve.h.
#include <string>

#define XLAPROF_INSIDE_SERVER  // only the C functions, because the classes here have the same names
#include "include/xlaprof/serve.h"
#include "serve/server.h"

struct xlaprof_server {
  std::unique_ptr<xlaprof::ProfilerServer> server;
};

namespace xlaprof {
namespace {

std::string& LastServeError() {
  thread_local std::string error;
  return error;
}

}  // namespace

extern "C" {

xlaprof_server* xlaprof_serve_start(const char* address, int port) {
  LastServeError().clear();
  ServerOptions options;
  if (address != nullptr) options.address = address;
  auto server = StartServer(port, std::move(options));
  if (server.ok()) return new xlaprof_server{*std::move(server)};
  LastServeError() = Message(server.status());
  return nullptr;
}
int xlaprof_serve_port(const xlaprof_server* server) { return server->server->port(); }
void xlaprof_serve_stop(xlaprof_server* server) { delete server; }
const char* xlaprof_serve_error(void) { return LastServeError().c_str(); }
int xlaprof_serve_from_environment(void) { return serve::StartFromEnvironment(); }

}  // extern "C"

}  // namespace xlaprof

#include "profiler/serve/local_server.h"

#include <sys/random.h>

#include <chrono>

#include "core/base/escape.h"

namespace xlaprof {
namespace {

constexpr const char* kAddress = "127.0.0.1";
constexpr size_t kThreads = 8;  // a browser keeps six connections open

absl::StatusOr<std::string> Secret() {
  char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != ssize_t(sizeof bytes))
    return absl::InternalError("the kernel returned no random bytes for the server's address");
  return Hex({bytes, sizeof bytes});
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalServer>> LocalServer::Bind(Options options) {
  std::unique_ptr<LocalServer> local(new LocalServer(std::move(options)));
  XP_TRY(const std::string secret, Secret());
  local->secret_path_ = "/" + secret + "/";
  httplib::Server& server = local->server_;
  const int wanted = local->options_.port;
  // By default the library would share the port with a program that already listens there.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int port = wanted != 0 ? (server.bind_to_port(kAddress, wanted) ? wanted : -1)
                               : server.bind_to_any_port(kAddress);
  if (port <= 0)
    return IoError(
        "{}:{}: cannot listen there, because another program already does. End that program, or choose another port",
        kAddress, wanted);
  local->host_ = fmt::format("{}:{}", kAddress, port);
  local->local_host_ = fmt::format("localhost:{}", port);
  local->origin_ = "http://" + local->host_;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_pre_routing_handler(
      [local = local.get()](const httplib::Request& request, httplib::Response& response) {
        return local->Admit(request, response);
      });
  return local;
}

httplib::Server::HandlerResponse LocalServer::Admit(const httplib::Request& request,
                                                    httplib::Response& response) const {
  const std::string host = request.get_header_value("Host");
  const std::string origin = request.get_header_value("Origin");
  const bool is_guest = !options_.guest.empty() && origin == options_.guest;
  if ((host != host_ && host != local_host_) ||
      (request.has_header("Origin") && !is_guest && origin != "http://" + host)) {
    response.status = 403;
    response.set_content("xlaprof: open the address that xlaprof printed\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  }
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  if (!is_guest) return httplib::Server::HandlerResponse::Unhandled;
  response.set_header("Access-Control-Allow-Origin", origin);
  response.set_header("Vary", "Origin");
  if (request.method != "OPTIONS") return httplib::Server::HandlerResponse::Unhandled;
  // Browsers send a preflight request before a page from the internet may read from this machine.
  response.set_header("Access-Control-Allow-Methods", "GET");
  response.set_header("Access-Control-Allow-Private-Network", "true");
  response.status = 204;
  return httplib::Server::HandlerResponse::Handled;
}

void LocalServer::Start() {
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  // Waits, because the server cannot be stopped before it runs.
  while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

LocalServer::~LocalServer() {
  server_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace xlaprof

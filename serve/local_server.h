// A web server for browsers on this machine.
#pragma once

#include <httplib.h>

#include <memory>
#include <string>
#include <thread>

#include "base/status.h"

namespace xlaprof {

// Answers on 127.0.0.1 from its own threads. Refuses requests for a host other than 127.0.0.1 or
// localhost (DNS rebinding), and requests of pages from other origins, except one that options may
// admit. Connections that are idle or slow do not keep others waiting.
class LocalServer {
 public:
  struct Options {
    int port = 0;       // 0: any free port
    std::string guest;  // an origin whose pages may read the answers; empty: none
  };
  // Binds the port exclusively. Fails if another program has it.
  static absl::StatusOr<std::unique_ptr<LocalServer>> Bind(Options options);
  // Waits for requests that are being answered.
  ~LocalServer();

  // The server. Add its answers before Start.
  httplib::Server& server() { return *server_; }
  void Start();

  const std::string& origin() const { return origin_; }  // http://127.0.0.1:PORT
  // Returns a secret path, which is different each time: /32 hex digits/
  const std::string& secret_path() const { return secret_path_; }

 private:
  explicit LocalServer(Options options) : options_(std::move(options)) {}
  // Refuses a request, or answers it, before anything else looks at it.
  httplib::Server::HandlerResponse Admit(const httplib::Request& request,
                                         httplib::Response& response) const;

  Options options_;
  std::unique_ptr<httplib::Server> server_;
  std::string origin_, host_, local_host_, secret_path_;
  std::thread thread_;
};

}  // namespace xlaprof

// A web server for browsers on this machine.
#pragma once

#include <httplib.h>

#include <memory>
#include <string>
#include <thread>

#include "core/base/status.h"

namespace xlaprof {

// Answers on 127.0.0.1 from threads of its own. Requests by another name than that or localhost
// (DNS rebinding) are refused, and those of pages from other origins, but for one that may be let
// in.
class LocalServer {
 public:
  struct Options {
    int port = 0;       // 0: any that is free
    std::string guest;  // an origin whose pages may read the answers; empty: none
  };
  // Nobody else has the port then. Errors: another program has it.
  static absl::StatusOr<std::unique_ptr<LocalServer>> Bind(Options options);
  // Waits for requests that are being answered.
  ~LocalServer();

  // What it answers is added to this before Start.
  httplib::Server& server() { return server_; }
  void Start();

  const std::string& origin() const { return origin_; }  // http://127.0.0.1:PORT
  // A path that only those know who were told, different each time: /32 hex digits/
  const std::string& secret_path() const { return secret_path_; }

 private:
  explicit LocalServer(Options options) : options_(std::move(options)) {}
  // What a request is refused or answered with before anything else is looked at.
  httplib::Server::HandlerResponse Admit(const httplib::Request& request,
                                         httplib::Response& response) const;

  Options options_;
  httplib::Server server_;
  std::string origin_, host_, local_host_, secret_path_;
  std::thread thread_;
};

}  // namespace xlaprof

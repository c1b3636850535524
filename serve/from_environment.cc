// Starts a server if XLAPROF_SERVE is set, without a change of the program's code.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/numbers.h"
#include "serve/server.h"

namespace xlaprof::serve {
namespace {

void Say(std::string_view what) {
  std::fprintf(stderr, "xlaprof: %.*s\n", int(what.size()), what.data());
}

std::unique_ptr<ProfilerServer> FromEnvironment() {
  const char* text = std::getenv("XLAPROF_SERVE");
  if (text == nullptr || *text == 0) return nullptr;
  const std::string_view word = text;
  const std::optional<int> port = ParseInteger<int>(word);
  if (!port) {
    Say(fmt::format("no profiler server was started: XLAPROF_SERVE={} is not a port, such as 9012",
                    word));
    return nullptr;
  }
  auto server = StartServer(*port);
  if (!server.ok()) {
    Say(fmt::format("no profiler server was started: {}", std::string(Message(server.status()))));
    return nullptr;
  }
  Say(fmt::format("ready to capture: xlaprof capture localhost:{}", (*server)->port()));
  return *std::move(server);
}

}  // namespace

bool StartFromEnvironment() {
  static const std::unique_ptr<ProfilerServer> server = FromEnvironment();
  return server != nullptr;
}

}  // namespace xlaprof::serve

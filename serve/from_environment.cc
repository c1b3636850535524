// Starts a server if XLAPROF_SERVE is set, without a change of the program's code.
#include <cstdlib>
#include <string_view>

#include "base/numbers.h"
#include "base/say.h"
#include "serve/server.h"

namespace xlaprof::serve {
namespace {

void Tell(std::string_view what) { Say(fmt::format("xlaprof: {}\n", what)); }

std::unique_ptr<ProfilerServer> FromEnvironment() {
  const char* text = std::getenv("XLAPROF_SERVE");
  if (text == nullptr || *text == 0) return nullptr;
  const std::string_view word = text;
  const std::optional<int> port = ParseInteger<int>(word);
  if (!port) {
    Tell(fmt::format("no profiler server was started: XLAPROF_SERVE={} is not a port, such as 9012",
                     word));
    return nullptr;
  }
  auto server = StartServer(*port);
  if (!server.ok()) {
    Tell(fmt::format("no profiler server was started: {}", std::string(Message(server.status()))));
    return nullptr;
  }
  Tell(fmt::format("ready to capture: xlaprof capture localhost:{}", (*server)->port()));
  return *std::move(server);
}

}  // namespace

bool StartFromEnvironment() {
  static const std::unique_ptr<ProfilerServer> server = FromEnvironment();
  return server != nullptr;
}

}  // namespace xlaprof::serve

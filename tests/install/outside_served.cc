// outside_served PORT_FILE trains on the lazy runtime until it is captured, or for a minute. It
// starts a server, and writes its port to PORT_FILE.
#include <xlaprof/lazy.h>
#include <xlaprof/serve.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

int main(int, char** argv) {
  using namespace xlaprof::lazy;
  auto server = start_server(0);
  const std::string port_file = argv[1], done_file = port_file + ".done";
  std::ofstream(port_file + ".part") << server.port();
  std::filesystem::rename(port_file + ".part", port_file);
  nn::Linear layer(4, 2);
  optim::SGD optimizer(layer.parameters(), /*lr=*/0.1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!std::filesystem::exists(done_file) && std::chrono::steady_clock::now() < end) {
    XLAPROF_TRACE("user's step");
    optimizer.zero_grad();
    Tensor loss = sum(layer(ones({8, 4})));
    loss.backward();
    optimizer_step(optimizer, /*barrier=*/true);
  }
  sync(/*wait=*/true);
  try {
    auto other = start_server(server.port());
  } catch (const std::runtime_error& error) {
    std::printf("%s\n", error.what());
  }
}

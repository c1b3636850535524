// served_training SECONDS trains a small network with the lazy runtime, and can be captured
// meanwhile (XLAPROF_SERVE=PORT).
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "serve/server.h"

int main(int argc, char** argv) {
  using namespace xlaprof::lazy;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(int(1000 * std::atof(argc > 1 ? argv[1] : "1")));
  nn::Linear net(64, 10);
  optim::SGD optimizer(net.parameters(), 0.1);
  int steps = 0;
  for (; std::chrono::steady_clock::now() < end; ++steps) {
    optimizer.zero_grad();
    mean(square(net(rand({32, 64})))).backward();
    optimizer_step(optimizer, /*barrier=*/true);
  }
  std::printf("%d steps\n", steps);
}

// ended_program MODE [STEPS] queues STEPS steps that nobody waits for, and ends as MODE says. Its
// exit status is 7, except that of `throw`.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/step.h"
#include "serve/server.h"

namespace xlaprof::lazy {
namespace {

// Has a destructor that uses the runtime when static objects are destroyed.
struct Last {
  Tensor computed, recorded;
  ~Last() {
    std::printf("computed %g\n", computed.item());
    try {
      std::printf("recorded %g\n", recorded.item());
    } catch (const Error& error) {
      std::printf("%s\n", error.what());
    }
  }
};

void Train(int64_t steps) {
  nn::Linear net(64, 10);
  optim::SGD optimizer(net.parameters(), 0.1);
  for (int64_t i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    mean(square(net(rand({32, 64})))).backward();
    optimizer_step(optimizer, /*barrier=*/true);
  }
}

int Main(std::string_view mode, int64_t steps) {
  if (mode == "static") {
    static Last last;  // older than what the first execution makes
    last.computed = ones({}) + 1;
    Train(steps);
    last.recorded = last.computed + 1;
    return 7;
  }
  if (mode == "thread") {
    std::thread([&] {
      Train(steps);
      std::exit(7);
    }).join();
  }
  if (mode == "signal") {  // exit() is called inside of whatever the main thread does
    std::signal(SIGALRM, [](int) { std::exit(7); });
    const itimerval soon{{}, {0, 100'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    Train(INT64_MAX);
  }
  Train(steps);
  if (mode == "throw") throw std::runtime_error("nobody catches it");
  if (mode == "fork") {
    const pid_t child = fork();
    if (child == 0) return 7;  // a copy of the queue is not its own
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return 1;
  }
  return 7;
}

}  // namespace
}  // namespace xlaprof::lazy

int main(int argc, char** argv) {
  return xlaprof::lazy::Main(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 30);
}

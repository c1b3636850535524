// served_program SECONDS runs empty training steps, and can be captured meanwhile
// (XLAPROF_SERVE=PORT).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "profiler/record/record.h"
#include "serve/server.h"

int main(int argc, char** argv) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(int(1000 * std::atof(argc > 1 ? argv[1] : "1")));
  xlaprof::NameThread("main");
  int steps = 0;
  for (; std::chrono::steady_clock::now() < end; ++steps) {
    XLAPROF_STEP("train", steps);
    {
      XLAPROF_TRACE("input");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    xlaprof::Trace forward("forward");
    forward.Arg("layers", 12).FlowOut(uint64_t(steps) + 1);
    std::thread([steps] {
      xlaprof::NameThread("worker");
      xlaprof::Trace("optimizer").FlowIn(uint64_t(steps) + 1);
    }).join();
    XLAPROF_COUNTER("loss", 1.0 / (steps + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("%d steps\n", steps);
}

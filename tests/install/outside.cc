// outside [PATH] records events of each kind, from two threads and a forked child. It records to PATH if that is given,
// and otherwise to what XLAPROF_RECORD says.
#include <sys/wait.h>
#include <unistd.h>
#include <xlaprof/record.h>

#include <cstdio>
#include <cstring>
#include <future>
#include <string>
#include <thread>

static void Step(int step) {
  XLAPROF_STEP("train", step);
  XLAPROF_TRACE("forward", "layer", 7, "ratio", 0.5, "what", std::string("conv"));
  XLAPROF_TRACE_IN("io", "read", "bytes", 4096u);
  XLAPROF_TRACE_IN("net", "send");
  XLAPROF_COUNTER("loss", 1.0 / (step + 1));
}

int main(int argc, char** argv) {
  xlaprof::Recording recording;
  if (argc > 1) recording = xlaprof::Recording(argv[1]);
  if (argc > 1 && !recording) return std::fprintf(stderr, "%s\n", xlaprof_error()), 1;
  xlaprof::NameThread("main");
  Step(0);
  xlaprof_switch_categories("-net");
  Step(1);

  // A request begins here and ends on the other thread.
  xlaprof::AsyncTrace request(XLAPROF_HERE("request"));
  request.Arg("id", 12);
  const xlaprof::Track queue("queue");
  std::thread worker([request = std::move(request), queue]() mutable {
    xlaprof::NameThread("worker");
    XLAPROF_TRACE("work");
    XLAPROF_TRACE_ON(queue, "job", "number", 3);
    request.Arg("status", "done").End();
  });
  worker.join();

  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 5; ++i) {
      XLAPROF_TRACE("in the child");
    }
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (argc > 1) {
    xlaprof_stats stats{};
    stats.struct_bytes = sizeof stats;
    if (!recording.Stop(&stats)) return std::fprintf(stderr, "%s\n", xlaprof_error()), 1;
    std::printf("%lld events, %lld dropped, %lld forked\n", static_cast<long long>(stats.events),
                static_cast<long long>(stats.dropped), static_cast<long long>(stats.forked));
  }
  return status;
}

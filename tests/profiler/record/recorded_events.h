// Records events of each kind with the macros and classes that both headers of the recorder have:
// profiler/record/record.h, with inline classes, and include/xlaprof/record.h, whose classes call
// the library. Include one of them first. Each file that includes this has its own copy.
#pragma once

#include <string>
#include <thread>

namespace {

enum class Mode { kFast = 3 };

inline void RecordEvents() {
  using namespace xlaprof;
  NameThread("main");
  for (int step = 0; step < 2; ++step) {
    XLAPROF_STEP("train", step);
    XLAPROF_TRACE("forward", "layer", 7, "ratio", 0.5, "what", "conv", "big", ~uint64_t{0});
    XLAPROF_INSTANT("here");
    XLAPROF_COUNTER("loss", 0.5 * step);
  }
  {
    Trace named(std::string("named"));
    named.Arg("mode", Mode::kFast).Arg("text", std::string("of its own")).FlowOut(42);
  }
  for (int i = 0; i < 2; ++i) {
    XLAPROF_TRACE_IN("io", "read", "bytes", 4096);
    if (i == 0) continue;
    XLAPROF_TRACE_IN("net", "send");
  }
  Counter("by name", 2);
  Instant("moment");
  AsyncTrace request(XLAPROF_HERE("request"));
  request.Arg("id", 1);
  const Track queue("queue");
  AsyncTrace queued("queued", queue);
  {
    XLAPROF_TRACE_ON(queue, "runs", "slot", 2u);
  }
  std::thread([request = std::move(request), queued = std::move(queued)]() mutable {
    NameThread("worker");
    Trace("flows in").FlowIn(42);
    request.Arg("status", "done").End();
    request.End();
    queued = AsyncTrace("second", Track("queue"));
  }).join();
  AsyncTrace never_begun;
  never_begun.End();
}

}  // namespace

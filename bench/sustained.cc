// sustained MILLIONS_A_SECOND SECONDS records scopes at that rate from one thread, and prints as
// JSON the time that the recorder's own thread needed. At rate 0 it records bursts at full speed,
// each followed by a pause in which only the recorder's thread runs.
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "profiler/record/record.h"

namespace xlaprof {
namespace {

using Clock = std::chrono::steady_clock;

// Imitates the scopes of a training step: three levels, four names, and lengths that vary.
void Work(int64_t i) {
  XLAPROF_TRACE("step");
  for (int64_t layer = 0; layer < 4; ++layer) {
    XLAPROF_TRACE("layer");
    {
      XLAPROF_TRACE("matmul");
      for (int64_t k = 0; k < (i ^ layer) % 16; ++k) asm volatile("" ::: "memory");
    }
    XLAPROF_TRACE("add");
  }
}
constexpr int64_t kEventsOfWork = 13, kBurstEvents = 1'000'000;
constexpr std::chrono::milliseconds kPause{120};

int Main(double millions_a_second, double seconds) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("sustained." + std::to_string(getpid()) + ".xlaprof");
  auto recording = StartRecording(path, {.ring_bytes = size_t(64) << 20});
  if (!recording.ok()) {
    std::fprintf(stderr, "%s\n", recording.status().ToString().c_str());
    return 2;
  }
  const auto begin = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  int64_t completed = 0;
  for (int64_t i = 0; elapsed() < seconds; i += 64) {
    for (int64_t k = i; k < i + 64; ++k) Work(k);
    completed += 64 * kEventsOfWork;
    if (millions_a_second == 0) {
      if (completed % kBurstEvents < 64 * kEventsOfWork) std::this_thread::sleep_for(kPause);
      continue;
    }
    const double ahead_s = double(completed) / (millions_a_second * 1e6) - elapsed();
    if (ahead_s > 1e-3) std::this_thread::sleep_for(std::chrono::duration<double>(ahead_s));
  }
  const double recorded_s = elapsed();
  auto stats = recording->Stop();
  if (!stats.ok()) {
    std::fprintf(stderr, "%s\n", stats.status().ToString().c_str());
    return 2;
  }
  std::filesystem::remove(path);
  const double drain_s = double(stats->drain_cpu_ns) / 1e9;
  std::printf(
      "{\"cpu_s\": %.3f, \"wall_s\": %.3f, \"completed\": %lld, \"events\": %lld, \"dropped\": %lld, "
      "\"million_events_a_cpu_s\": %.1f, \"ns_an_event\": %.1f, \"one\": 1, \"core_percent\": %.1f, \"bytes_an_event\": %.2f}\n",
      drain_s, recorded_s, static_cast<long long>(completed), static_cast<long long>(stats->events),
      static_cast<long long>(stats->dropped), double(stats->events) / drain_s / 1e6,
      drain_s * 1e9 / double(stats->events), 100 * drain_s / recorded_s,
      double(stats->committed_bytes) / double(stats->events));
  return 0;
}

}  // namespace
}  // namespace xlaprof

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: sustained MILLIONS_A_SECOND SECONDS\n");
    return 2;
  }
  return xlaprof::Main(std::atof(argv[1]), std::atof(argv[2]));
}

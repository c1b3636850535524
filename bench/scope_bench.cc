// scope_bench [MILLIONS]: what recording costs, beside the clock that it reads; ns each, the least of ten runs, as JSON.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "profiler/record/record.h"

namespace xlaprof {
namespace {

double NsOf(int64_t count, const std::function<void(int64_t)>& run) {
  double best = 1e18;
  for (int i = 0; i < 10; ++i) {
    timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    run(count);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    best = std::min(best, double(end.tv_sec - begin.tv_sec) * 1e9 + double(end.tv_nsec - begin.tv_nsec));
  }
  return best / double(count);
}

void Scopes(int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    XLAPROF_TRACE("scope");
    asm volatile("" ::: "memory");
  }
}
void Args(int64_t n) {
  static const uint32_t key = RecordedString("i");
  static constinit Site site(Site::kScope, "with an argument");
  for (int64_t i = 0; i < n; ++i) {
    Trace scope(site);
    scope.Arg(key, i);
    asm volatile("" ::: "memory");
  }
}
void Counters(int64_t n) {
  for (int64_t i = 0; i < n; ++i) XLAPROF_COUNTER("counter", double(i));
}
void Clock(int64_t n) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += record::Now();
    asm volatile("" : "+r"(sum)::"memory");
  }
}

int Main(int argc, char** argv) {
  // A burst that fits the ring: the thread that empties it then takes turns with the one that is measured, on few cores.
  const int64_t n = argc > 1 ? std::atoll(argv[1]) * 1'000'000 : 400'000;
  const double off = NsOf(n, Scopes);
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "scope_bench.xlaprof";
  std::filesystem::remove(path);
  auto recording = StartRecording(path, {.ring_bytes = size_t(64) << 20});
  if (!recording.ok()) {
    std::fprintf(stderr, "%s\n", recording.status().ToString().c_str());
    return 2;
  }
  Scopes(1'000'000);
  const double read = NsOf(n, Clock), scope = NsOf(n, Scopes), args = NsOf(n, Args), counter = NsOf(n, Counters);
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  auto stats = recording->Stop();
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (!stats.ok()) return 2;
  std::printf("{\"off_ns\": %.2f, \"clock_ns\": %.2f, \"scope_ns\": %.2f, \"arg_ns\": %.2f, \"counter_ns\": %.2f, "
              "\"events\": %lld, \"dropped\": %lld, \"drain_ns_per_event\": %.1f, \"bytes_per_event\": %.2f}\n",
              off, read, scope, args, counter, static_cast<long long>(stats->events),
              static_cast<long long>(stats->dropped), double(stats->drain_cpu_ns) / double(stats->events),
              double(stats->committed_bytes) / double(stats->events));
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace xlaprof

int main(int argc, char** argv) { return xlaprof::Main(argc, argv); }

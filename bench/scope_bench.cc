// scope_bench measures what recording costs the recorded thread, beside the clock that it reads.
// Prints ns as JSON.
#include <cstdlib>
#include <filesystem>

#include "bench/scope_cost.h"
#include "profiler/record/record.h"

#include "bench/scope_loops.h"  // needs the recorder's header

namespace xlaprof {
namespace {

void Args(int64_t count) {
  static const uint32_t key = RecordedString("i");
  for (int64_t i = 0; i < count; ++i) {
    XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, "with an argument", nullptr);
    Trace scope(site);
    scope.Arg(key, i);
    asm volatile("" ::: "memory");
  }
}
void Nothing(int64_t count) {
  for (int64_t i = 0; i < count; ++i) asm volatile("" ::: "memory");
}

int Main() {
  constexpr std::chrono::milliseconds kNoPause{0}, kPause{3};
  const std::string off = bench::Costs({{"off", Scopes}, {"empty", Nothing}}, kNoPause);
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("scope_bench." + std::to_string(getpid()) + ".xlaprof");
  auto recording = StartRecording(path);
  if (!recording.ok()) {
    std::fprintf(stderr, "%s\n", recording.status().ToString().c_str());
    return 2;
  }
  const std::string on = bench::Costs(
      {{"clock", bench::ReadClock}, {"scope", Scopes}, {"arg", Args}, {"counter", Counters}},
      kPause);
  const double two_threads = bench::OnTwoThreadsNs(Scopes, kPause);
  auto stats = recording->Stop();
  std::filesystem::remove(path);
  if (!stats.ok()) {
    std::fprintf(stderr, "%s\n", stats.status().ToString().c_str());
    return 2;
  }
  std::printf("{%s, %s, \"two_threads_ns\": %.2f, \"events\": %lld, \"dropped\": %lld}\n",
              off.c_str(), on.c_str(), two_threads, static_cast<long long>(stats->events),
              static_cast<long long>(stats->dropped));
  return 0;
}

}  // namespace
}  // namespace xlaprof

int main() { return xlaprof::Main(); }

// scope_library_bench measures what recording costs a program that uses the installed header and the
// shared library, as scope_bench does for code inside xlaprof. Prints ns as JSON.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "bench/scope_cost.h"
#include "include/xlaprof/record.h"

#include "bench/scope_loops.h"  // needs the recorder's header

namespace {

void InCategory(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    XLAPROF_TRACE_IN("io", "in a category");
    asm volatile("" ::: "memory");
  }
}
void Args(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    XLAPROF_TRACE("with an argument", "i", i);
    asm volatile("" ::: "memory");
  }
}
void Slices(int64_t count) {
  static const xlaprof::Track track("track");
  for (int64_t i = 0; i < count; ++i) {
    XLAPROF_TRACE_ON(track, "slice");
    asm volatile("" ::: "memory");
  }
}

}  // namespace

int main() {
  constexpr std::chrono::milliseconds kNoPause{0}, kPause{3};
  const std::string off = bench::Costs({{"off", Scopes}}, kNoPause);
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("scope_bench." + std::to_string(getpid()) + ".xlaprof");
  xlaprof::Recording recording(path.c_str());
  if (!recording) return std::fprintf(stderr, "%s\n", xlaprof_error()), 2;
  std::string on = bench::Costs({{"clock", bench::ReadClock},
                                 {"scope", Scopes},
                                 {"category", InCategory},
                                 {"arg", Args},
                                 {"slice", Slices},
                                 {"counter", Counters}},
                                kPause);
  xlaprof_switch_categories("-io");
  on += ", " + bench::Costs({{"category_off", InCategory}}, kPause);
  xlaprof_stats stats{};
  stats.struct_bytes = sizeof stats;
  const bool stopped = recording.Stop(&stats);
  std::filesystem::remove(path);
  if (!stopped) return std::fprintf(stderr, "%s\n", xlaprof_error()), 2;
  std::printf("{%s, %s, \"events\": %lld, \"dropped\": %lld}\n", off.c_str(), on.c_str(),
              static_cast<long long>(stats.events), static_cast<long long>(stats.dropped));
}

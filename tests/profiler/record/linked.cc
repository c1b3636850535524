// A file of C++17 that uses the installed header. It contains no header of the project's.
#include "include/xlaprof/record.h"
#include "tests/profiler/record/recorded_events.h"

static_assert(__cplusplus == 201703L);

void RecordEventsThroughLibrary() { RecordEvents(); }

// Returns what xlaprof_error says after a recording that could not start, and after one of a wrong
// size of ring.
std::string ErrorOfRecording(const char* path) {
  xlaprof_options options{};
  options.struct_bytes = sizeof options;
  options.ring_bytes = 4097;
  xlaprof::Recording recording(path, options);
  return recording || recording.Stop() ? "none" : xlaprof_error();
}

xlaprof_stats StatsOfRecording(const char* path) {
  xlaprof_options options{};
  options.struct_bytes = sizeof options;
  options.label = "of the library";
  xlaprof::Recording first(path, options);
  xlaprof::Recording recording(std::move(first));
  RecordEvents();
  xlaprof_stats stats{};
  stats.struct_bytes = sizeof stats;
  if (first.Stop() || !recording.Stop(&stats)) stats.events = -1;
  return stats;
}

// Assigns the numbers and names that a store's processes and tracks have in a timeline, in Chrome's
// format or Perfetto's. In these a process is a group of threads. Each process of the run is one,
// each of its devices is one, and xlaprof's additions (steps, findings) are one, at the top.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <string>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

struct TimelineProcess {
  int64_t pid;
  std::string name, labels;  // labels: host, rank, process id; may be empty
};

struct TimelineTrack {
  int64_t track_id = 0;  // ref track
  int64_t pid = 0, tid = 0;
  std::string name;
  bool is_async = false;  // events that belong to no thread
};

class TimelineLayout {
 public:
  // Makes the layout of the tracks in the chosen part of the run, in display order. Devices come
  // after their host.
  static absl::StatusOr<TimelineLayout> Make(const Store& store);

  const std::vector<TimelineProcess>& processes() const { return processes_; }
  const std::vector<TimelineTrack>& tracks() const { return tracks_; }
  const std::vector<TimelineTrack>& counters() const { return counters_; }
  // Returns the process of xlaprof's additions.
  int64_t own_pid() const { return processes_.front().pid; }
  // Returns the number of a thread that no track has.
  int64_t NewTid();

 private:
  // Returns `wanted` if it is valid and free, otherwise another free number.
  int64_t Number(OptInt wanted);
  int64_t Tid(int64_t pid, OptInt wanted);
  absl::Status ReadTracks(const Store& store);

  std::vector<TimelineProcess> processes_;
  std::vector<TimelineTrack> tracks_, counters_;
  // Thread numbers are unique over all processes, because some readers look only at the tid.
  // Perfetto takes the thread with its process's number for the main thread.
  absl::flat_hash_set<int64_t> numbers_, main_threads_;
  int64_t last_number_ = 0;
};

}  // namespace xlaprof

// Which numbers and names a store's processes and tracks have in a timeline, of Chrome's format or
// Perfetto's. There a process is a group of threads: each process of the run is one, each of its
// devices is one, and what xlaprof adds (steps, findings) is one, on top.
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
  bool is_async = false;  // events of no thread
};

class TimelineLayout {
 public:
  // Tracks that the store's slice holds, in order of display, devices behind the host that they
  // belong to.
  static absl::StatusOr<TimelineLayout> Make(const Store& store);

  const std::vector<TimelineProcess>& processes() const { return processes_; }
  const std::vector<TimelineTrack>& tracks() const { return tracks_; }
  const std::vector<TimelineTrack>& counters() const { return counters_; }
  // The process of what xlaprof adds.
  int64_t own_pid() const { return processes_.front().pid; }
  // A thread that no track has.
  int64_t NewTid();

 private:
  // `wanted` where it can be had, else one that is free.
  int64_t Number(OptInt wanted);
  int64_t Tid(int64_t pid, OptInt wanted);
  absl::Status ReadTracks(const Store& store);

  std::vector<TimelineProcess> processes_;
  std::vector<TimelineTrack> tracks_, counters_;
  // Threads are numbered over all processes: some readers look at the tid alone, and Perfetto takes
  // the thread that has its process's number for the main one.
  absl::flat_hash_set<int64_t> numbers_, main_threads_;
  int64_t last_number_ = 0;
};

}  // namespace xlaprof

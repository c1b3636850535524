// Keeps the processes and tracks of a trace. Rows are made when an event needs them; names and order
// are written when all metadata has been seen.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/import/importer.h"
#include "profiler/import/trace/trace_kind.h"

namespace xlaprof {

struct TraceProcess {
  OptInt pid;
  std::string text;  // a pid that is not a number
  std::string name, labels;
  OptInt sort;
  int64_t id = 0;          // row; 0: none yet
  int64_t order = 0;       // order of appearance
  bool is_device = false;  // XProf: a plane of a device; Kineto: has a stream
};

struct TraceTrack {
  TraceProcess* process = nullptr;
  OptInt tid;
  std::string text;  // a tid that is not a number
  std::string name;
  OptInt sort;
  int64_t id = 0;  // row; 0: only metadata so far
  int64_t order = 0;
  Category device_category = Category::kHost;  // XProf: category of a device's line
  bool is_device = false;
  std::string_view device_type;  // Kineto: that of its first device event; may be empty
  bool front = false;            // a thread that runs the user's code, by its name
  uint64_t events = 0;
};

class TraceTracks {
 public:
  TraceTracks(ImportContext& context, TraceWriter writer) : context_(context), writer_(writer) {}

  // These return a process, or a track of a process, without a row. Valid as long as this object.
  TraceProcess* AddProcess();
  TraceTrack* AddTrack(TraceProcess* process);
  // These name a process or a track. The name says whether it is a device's, or runs the user's
  // code.
  void Name(TraceProcess& process, std::string name) const;
  static void Name(TraceTrack& track, std::string name);
  // Gives a track its row, unless it has one.
  absl::Status MakeRow(TraceTrack& track);
  // Returns the track of a counter, or of asynchronous events, called `name` in a process.
  absl::StatusOr<int64_t> Counter(TraceProcess& process, const std::string& name);
  absl::StatusOr<int64_t> Async(TraceProcess& process, const std::string& name);
  // Kineto: notes the `type` of device of a category (DeviceTypeOf). Kernels have the same category
  // on all devices.
  void KernelsMayBeOf(std::string_view type) {
    if (!type.empty()) kernel_device_type_ = type;
  }
  // Returns the number of processes with a row that are not a device's.
  int64_t host_processes() const;
  // Writes names, devices and order of all rows. `host` and `rank` are the file's.
  absl::Status Finish(OptText host, OptInt rank);

 private:
  absl::StatusOr<int64_t> ProcessId(TraceProcess& process);
  absl::StatusOr<int64_t> Other(TraceProcess& process, TrackKind kind, const std::string& name,
                                int64_t& id);
  absl::Status FinishProcesses(const OptText& host, OptInt rank);
  absl::StatusOr<int64_t> DeviceTrack(const std::string& device, int64_t process_id);

  ImportContext& context_;
  const TraceWriter writer_;
  std::string_view kernel_device_type_ = "GPU";
  std::deque<TraceProcess> processes_;
  std::deque<TraceTrack> tracks_;
  std::map<std::pair<TraceProcess*, std::string>, int64_t> counters_, asyncs_;
  std::map<std::string, int64_t> devices_;
};

}  // namespace xlaprof

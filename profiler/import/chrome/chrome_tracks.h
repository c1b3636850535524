// Keeps the processes and tracks of a Chrome trace, which its events name by `pid` and `tid`. Rows
// are made when an event needs them; names and order are written when all metadata has been seen.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/chrome/chrome_kind.h"
#include "profiler/import/importer.h"
#include "profiler/import/odd_input.h"

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

class ChromeTracks {
 public:
  ChromeTracks(ImportContext& context, ChromeWriter writer) : context_(context), writer_(writer) {}

  // Returns the track of an event's pid and tid, which has a row. Valid as long as this object.
  absl::StatusOr<TraceTrack*> Of(const ChromeEvent& event) {
    const uint32_t numbers = NumbersOf(event);
    const Recent& recent = recent_[PlaceOf(numbers)];
    if (recent.track != nullptr && recent.numbers == numbers && recent.track->id != 0) [[likely]]
      return recent.track;
    return Make(event);
  }
  absl::StatusOr<int64_t> Counter(const ChromeEvent& event, const std::string& name);
  // Returns the track of asynchronous events called `name` in the event's process.
  absl::StatusOr<int64_t> Async(const ChromeEvent& event, const std::string& name);
  // Takes a metadata event (phase M). Returns false if its kind is not known.
  bool TakeMetadata(const ChromeEvent& event);
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
  using Key = std::pair<std::string_view, std::string_view>;

  TraceProcess* ProcessOf(const json::Value& pid);
  TraceTrack* TrackOf(const ChromeEvent& event);
  absl::StatusOr<TraceTrack*> Make(const ChromeEvent& event);
  absl::StatusOr<int64_t> ProcessId(TraceProcess& process);
  absl::Status FinishProcesses(const OptText& host, OptInt rank);
  absl::StatusOr<int64_t> DeviceTrack(const std::string& device, int64_t process_id);

  ImportContext& context_;
  const ChromeWriter writer_;
  std::string_view kernel_device_type_ = "GPU";
  std::deque<TraceProcess> processes_;
  std::deque<TraceTrack> tracks_;
  absl::flat_hash_map<std::string_view, TraceProcess*> process_of_;
  absl::flat_hash_map<Key, TraceTrack*> track_of_;
  // Threads take turns, so a few are remembered, by the numbers of the texts of pid and tid.
  struct Recent {
    uint32_t numbers = 0;
    TraceTrack* track = nullptr;
  };
  // Without a tid the process is its own thread, as in Perfetto.
  static const json::Value& TidOf(const ChromeEvent& event) {
    return event.tid.kind() == json::Kind::kNone ? event.pid : event.tid;
  }
  static uint32_t NumbersOf(const ChromeEvent& event) {
    return uint32_t(event.pid.number()) << 16 | TidOf(event).number();
  }
  size_t PlaceOf(uint32_t numbers) const { return (numbers >> 16 ^ numbers) % recent_.size(); }
  std::array<Recent, 64> recent_{};
  std::map<std::pair<TraceProcess*, std::string>, int64_t> counters_, asyncs_;
  std::map<std::string, int64_t> devices_;
};

}  // namespace xlaprof

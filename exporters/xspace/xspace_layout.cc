#include "exporters/xspace/xspace_layout.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>
#include <set>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// Made-up line ids and process numbers begin here.
constexpr int64_t kFirstLineId = int64_t(1) << 32;
constexpr int64_t kFirstPid = 1'000'000'000;
// XProf treats this line as counters, not as a thread.
constexpr const char* kCounterLine = "_counters_";

struct Track : TrackRow {
  std::string category;  // category of the first event, for a device's track
};

// Returns whether XProf knows a device line by this name, so that it keeps it.
bool IsKnownLine(std::string_view name) {
  for (std::string_view known :
       {"Steps", "XLA Modules", "XLA Ops", "Async XLA Ops", "XLA TraceMe", "Framework Name Scope",
        "Framework Ops", "Source code", "Source Code", "Launch Stats", "Host Offload Ops",
        "Overlay", "Sparse Core Steps", "Sparse Core Modules", "Sparse Core Ops"}) {
    if (name == known) return true;
  }
  return name.starts_with("Stream #") || name.starts_with("XLA Ops - ") ||
         name.starts_with("XLA Modules - ");
}

const char* LineOfCategory(std::string_view category) {
  return category == TextOf(Category::kStep)      ? "Steps"
         : category == TextOf(Category::kModule)  ? "XLA Modules"
         : category == TextOf(Category::kOp)      ? "XLA Ops"
         : category == TextOf(Category::kAsyncOp) ? "Async XLA Ops"
                                                  : "";
}

class Layout {
 public:
  explicit Layout(const Store& store) : store_(store) {}

  absl::StatusOr<std::vector<XSpacePlane>> Make() {
    XP_TRY(ReadProcesses());
    XP_TRY(ReadTracks());
    NamePlanes();
    for (const Track& track : tracks_) {
      if (track.kind != TrackKind::kCounter) AddLine(track);
    }
    for (const Track& track : tracks_) {
      if (track.kind == TrackKind::kCounter) AddCounter(track);
    }
    std::erase_if(planes_, [](const XSpacePlane& plane) {
      return plane.lines.empty() && plane.counters.empty();
    });
    std::stable_sort(
        planes_.begin(), planes_.end(),
        [](const XSpacePlane& a, const XSpacePlane& b) { return a.is_device < b.is_device; });
    return std::move(planes_);
  }

 private:
  std::string Where(const char* column) const {
    auto process = store_.slice().process_id;
    return process ? fmt::format(" WHERE {0} = {1} OR {0} IS NULL", column, *process) : "";
  }

  // Reads the processes' numbers. A single process without a number needs none. Several processes
  // are distinguished by their numbers, or by made-up ones.
  absl::Status ReadProcesses() {
    std::vector<std::pair<int64_t, OptInt>> found;
    XP_TRY(store_.Each("SELECT id, pid FROM process" + Where("id") + " ORDER BY id",
                       [&](int64_t id, OptInt pid) { found.emplace_back(id, pid); }));
    absl::flat_hash_set<int64_t> taken;
    int64_t next = kFirstPid;
    for (auto [id, pid] : found) {
      const bool clear = pid && *pid >= 0 && taken.insert(*pid).second;
      if (!clear) pid = found.size() > 1 ? OptInt(next++) : OptInt();
      pids_.emplace(id, pid);
      if (!first_process_) first_process_ = id;
    }
    return absl::OkStatus();
  }

  absl::Status ReadTracks() {
    XP_TRY(std::vector<TrackRow> rows,
           store_.Rows<TrackRow>(Where("process_id") + " ORDER BY device IS NOT NULL, sort, id"));
    for (TrackRow& row : rows) {
      if (!row.process_id) row.process_id = first_process_;
      tracks_.push_back({std::move(row), ""});
    }
    for (Track& track : tracks_) {
      if (!track.device || track.kind == TrackKind::kCounter || IsKnownLine(track.name)) continue;
      XP_TRY(auto category,
             store_.One<std::string>("SELECT category FROM event WHERE track_id = ?1 LIMIT 1",
                                     track.id));
      track.category = category.value_or("");
    }
    return absl::OkStatus();
  }

  // Names the planes. XProf analyses devices named TPU or GPU. If a run has neither, its devices
  // are written as TPUs and keep their own name in a statistic.
  void NamePlanes() {
    auto is_real = [](const std::string& device) {
      return device.starts_with("TPU:") || device.starts_with("GPU:");
    };
    bool any_real = false;
    for (const Track& track : tracks_) any_real |= track.device && is_real(*track.device);
    int64_t number = 0;
    for (const Track& track : tracks_) {
      auto [place, is_new] = plane_of_.emplace(
          std::pair(track.process_id.value_or(0), track.device.value_or("")), planes_.size());
      if (!is_new) continue;
      XSpacePlane& plane = planes_.emplace_back();
      plane.process_id = track.process_id;
      if (auto pid = pids_.find(track.process_id.value_or(0)); pid != pids_.end())
        plane.pid = pid->second;
      plane.is_device = track.device.has_value();
      plane.name = "/host:CPU";
      if (!track.device) continue;
      plane.name = "/device:" + *track.device;
      if (is_real(*track.device) || track.device->starts_with("CUSTOM:")) continue;
      plane.name = any_real ? fmt::format("/device:CUSTOM:{}", *track.device)
                            : fmt::format("/device:TPU:{}", number++);
      plane.device = *track.device;
    }
  }

  size_t PlaneOf(const Track& track) {
    return plane_of_[{track.process_id.value_or(0), track.device.value_or("")}];
  }

  // Adds a line. A device's own track is only a plane unless its first event has a category.
  void AddLine(const Track& track) {
    if (track.kind == TrackKind::kDevice && track.category.empty()) return;
    XSpacePlane& plane = planes_[PlaneOf(track)];
    Taken& taken = taken_[PlaneOf(track)];
    XSpaceLine line{.track_id = track.id,
                    .id = track.tid.value_or(next_line_id_),
                    .name = track.name,
                    .is_async = track.kind == TrackKind::kAsync};
    if (!track.tid || !taken.ids.insert(line.id).second) {
      // In a line with the same id, the events would belong to the same thread.
      if (track.tid) line.display_id = *track.tid;
      taken.ids.insert(line.id = next_line_id_++);
    }
    if (plane.is_device && !IsKnownLine(track.name)) {
      line.display_name = track.name;
      const std::string known = LineOfCategory(track.category);
      if (plane.is_gpu()) {
        line.name = fmt::format("Stream #{}(Compute)", track.tid.value_or(0));
      } else if (!known.empty() && !taken.names.contains(known)) {
        line.name = known;
      }
    }
    if (plane.is_device) taken.names.insert(line.name);
    taken.line_of_track[track.id] = plane.lines.size();
    plane.has_steps |= line.name == "Steps";
    plane.lines.push_back(std::move(line));
  }

  // Adds a counter. Names distinguish the counters of one line.
  void AddCounter(const Track& track) {
    XSpacePlane& plane = planes_[PlaneOf(track)];
    Taken& taken = taken_[PlaneOf(track)];
    auto parent = taken.line_of_track.find(track.parent_id.value_or(0));
    if (parent != taken.line_of_track.end() &&
        taken.counters.emplace(parent->first, track.name).second) {
      const XSpaceLine& line = plane.lines[parent->second];
      plane.counters.push_back({track.id, line.id, line.name, track.name});
    } else {
      plane.counters.push_back({track.id, next_line_id_++, kCounterLine, track.name});
    }
  }

  // The ids and names in use in one plane.
  struct Taken {
    absl::flat_hash_set<int64_t> ids;  // ids of lines
    std::set<std::string> names;       // names of a device's lines
    absl::flat_hash_map<int64_t, size_t> line_of_track;
    std::set<std::pair<int64_t, std::string>> counters;  // by line and name
  };

  const Store& store_;
  std::map<int64_t, OptInt> pids_;
  OptInt first_process_;  // gets the tracks that have no process
  std::vector<Track> tracks_;
  std::vector<XSpacePlane> planes_;
  std::map<std::pair<int64_t, std::string>, size_t> plane_of_;
  std::map<size_t, Taken> taken_;  // by plane
  int64_t next_line_id_ = kFirstLineId;
};

}  // namespace

absl::StatusOr<std::vector<XSpacePlane>> XSpaceLayout(const Store& store) {
  return Layout(store).Make();
}

}  // namespace xlaprof

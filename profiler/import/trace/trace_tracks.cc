#include "profiler/import/trace/trace_tracks.h"

#include <algorithm>
#include <tuple>

#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

constexpr std::string_view kDevicePlane = "/device:";

bool IsFrontThread(std::string_view name) {
  const std::string_view thread = name.substr(0, name.find('/'));
  return thread == "python" || thread == "python3" || thread == "main" || thread == "MainThread";
}

}  // namespace

TraceProcess* TraceTracks::AddProcess() {
  TraceProcess& process = processes_.emplace_back();
  process.order = int64_t(processes_.size());
  return &process;
}

TraceTrack* TraceTracks::AddTrack(TraceProcess* process) {
  TraceTrack& track = tracks_.emplace_back();
  track.process = process;
  track.order = int64_t(tracks_.size());
  return &track;
}

void TraceTracks::Name(TraceProcess& process, std::string name) const {
  process.name = std::move(name);
  if (writer_ == TraceWriter::kXprof || writer_ == TraceWriter::kXlaprof)
    process.is_device = process.name.starts_with(kDevicePlane);
}

void TraceTracks::Name(TraceTrack& track, std::string name) {
  track.name = std::move(name);
  track.front = IsFrontThread(track.name);
}

absl::Status TraceTracks::MakeRow(TraceTrack& track) {
  if (track.id != 0) return absl::OkStatus();
  XP_TRY(int64_t process_id, ProcessId(*track.process));
  XP_TRY(track.id,
         context_.store.Add(TrackRow{.process_id = process_id, .kind = TrackKind::kHostThread}));
  track.is_device = track.process->is_device;
  if (track.is_device && writer_ != TraceWriter::kKineto)
    track.device_category = ClassifyDeviceLine(track.name).category;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TraceTracks::ProcessId(TraceProcess& process) {
  if (process.id != 0) return process.id;
  const bool first = std::all_of(processes_.begin(), processes_.end(),
                                 [](const TraceProcess& other) { return other.id == 0; });
  // Our own export gives a host and its devices the same labels, and no two hosts the same.
  if (writer_ == TraceWriter::kXlaprof) {
    for (const TraceProcess& other : processes_) {
      if (other.id != 0 && other.labels == process.labels && (other.is_device || process.is_device))
        return process.id = other.id;
    }
  }
  if (writer_ == TraceWriter::kKineto || writer_ == TraceWriter::kXprof || first) {
    XP_TRY(process.id, context_.ProcessId());
  } else {
    XP_TRY(process.id, context_.NewProcess({}, process.pid, {}));
  }
  return process.id;
}

absl::StatusOr<int64_t> TraceTracks::Other(TraceProcess& process, TrackKind kind,
                                           const std::string& name, int64_t& id) {
  if (id == 0) {
    XP_TRY(int64_t process_id, ProcessId(process));
    XP_TRY(id, context_.store.Add(
                   TrackRow{.process_id = process_id, .kind = kind, .name = ToUtf8(name)}));
  }
  return id;
}

absl::StatusOr<int64_t> TraceTracks::Counter(TraceProcess& process, const std::string& name) {
  return Other(process, TrackKind::kCounter, name, counters_[{&process, name}]);
}

absl::StatusOr<int64_t> TraceTracks::Async(TraceProcess& process, const std::string& name) {
  return Other(process, TrackKind::kAsync, name, asyncs_[{&process, name}]);
}

absl::StatusOr<int64_t> TraceTracks::DeviceTrack(const std::string& device, int64_t process_id) {
  int64_t& id = devices_[device];
  if (id == 0) {
    XP_TRY(id, context_.store.Add(TrackRow{.process_id = process_id,
                                           .kind = TrackKind::kDevice,
                                           .name = device,
                                           .device = device}));
  }
  return id;
}

absl::Status TraceTracks::FinishProcesses(const OptText& host, OptInt rank) {
  const char* kSql =
      "UPDATE process SET host = coalesce(?2, host), pid = "
      "?3, rank = coalesce(?4, rank), name = ?5 WHERE id = ?1";
  auto name_of = [](const TraceProcess& process) {
    return process.name.empty() ? (process.text.empty() ? OptText() : OptText(process.text))
                                : OptText(process.name);
  };
  if (writer_ == TraceWriter::kOther || writer_ == TraceWriter::kXlaprof) {
    for (const TraceProcess& process : processes_) {
      if (process.id == 0 || process.is_device) continue;
      XP_TRY(context_.store.Run(kSql, process.id, host, process.pid, rank, name_of(process)));
    }
    return absl::OkStatus();
  }
  // There is one process: the host's process with the most events.
  std::map<const TraceProcess*, uint64_t> events;
  for (const TraceTrack& track : tracks_) {
    if (!track.is_device && !track.process->is_device && track.process->pid)
      events[track.process] += track.events;
  }
  const TraceProcess* main = nullptr;
  for (const TraceProcess& process : processes_) {
    auto found = events.find(&process);
    if (found != events.end() && (main == nullptr || found->second > events[main])) main = &process;
  }
  if (main == nullptr || main->id == 0) return absl::OkStatus();
  // XProf numbers planes itself, and calls the host's plane /host:CPU.
  const bool kineto = writer_ == TraceWriter::kKineto;
  // Torch's log gives the process 0 to events that do not know theirs.
  const bool knows_pid = kineto && main->pid != 0;
  return context_.store.Run(kSql, main->id, host, knows_pid ? main->pid : OptInt(), rank,
                            kineto ? name_of(*main) : OptText());
}

int64_t TraceTracks::host_processes() const {
  return std::ranges::count_if(processes_, [](const TraceProcess& process) {
    return process.id != 0 && !process.is_device;
  });
}

absl::Status TraceTracks::Finish(OptText host, OptInt rank) {
  for (TraceTrack& track : tracks_) {
    if (track.is_device) track.process->is_device = true;
  }
  XP_TRY(FinishProcesses(host, rank));
  // Hosts are above devices; then the file's order counts, then the order of appearance.
  std::vector<TraceTrack*> order;
  for (TraceTrack& track : tracks_) {
    if (track.id != 0) order.push_back(&track);
  }
  auto key = [](const TraceTrack* track) {
    const TraceProcess& process = *track->process;
    return std::tuple(track->is_device, process.sort.value_or(0), process.order, !track->front,
                      track->sort.value_or(0), track->order);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const TraceTrack* a, const TraceTrack* b) { return key(a) < key(b); });
  int64_t sort = 0;
  for (const TraceTrack* track : order) {
    const TraceProcess& process = *track->process;
    std::string name = track->name.empty() ? track->text : track->name;
    OptText device;
    OptInt parent;
    if (track->is_device) {
      if (process.name.starts_with(kDevicePlane) && writer_ != TraceWriter::kKineto) {
        device = process.name.substr(kDevicePlane.size());
        device = device->substr(0, device->find(' '));
      } else {
        const std::string_view type =
            track->device_type.empty() ? kernel_device_type_ : track->device_type;
        device = fmt::format("{}:{}", type, process.pid.value_or(0));
      }
      XP_TRY(parent, DeviceTrack(*device, process.id));
      XP_TRY(context_.store.Run("UPDATE track SET sort = ?2 WHERE id = ?1 AND sort = 0", *parent,
                                ++sort));
      if (name.empty()) name = fmt::format("stream {}", track->tid.value_or(0));
    } else if (name.empty()) {
      name = track->tid ? fmt::format("thread {}", *track->tid) : "thread";
    }
    XP_TRY(context_.store.Run(
        "UPDATE track SET kind = ?2, name = ?3, tid = ?4, device = ?5, parent_id = ?6, sort = ?7 "
        "WHERE id = ?1",
        track->id, track->is_device ? TrackKind::kDeviceStream : TrackKind::kHostThread, name,
        track->tid, device, parent, ++sort));
  }
  for (const auto* others : {&asyncs_, &counters_}) {
    for (const auto& [key, id] : *others)
      XP_TRY(context_.store.Run("UPDATE track SET sort = ?2 WHERE id = ?1", id, ++sort));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof

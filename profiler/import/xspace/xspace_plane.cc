#include "profiler/import/xspace/xspace_plane.h"

#include <algorithm>

#include "base/numbers.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using wire::Reader;

// line.timestamp_ns counts from 1970 if it is this large (1970-01-12), and otherwise from the start
// of the profile.
constexpr int64_t kEpochNs = 1'000'000'000'000'000;
// Ids up to this many times the size of their table are looked up in an array.
constexpr size_t kDenseFactor = 8;
// The description of the statistics that our own exporter adds.
constexpr std::string_view kAddedStat = "added by xlaprof export";

}  // namespace

absl::StatusOr<StringId> XFile::Intern(std::string_view text) {
  size_t valid = ValidUtf8Prefix(text);
  if (valid == text.size()) return context.store.Intern(text);
  XP_TRY(context.Issue("invalid_utf8", Severity::kWarning,
                       "Names are not valid UTF-8. Invalid bytes were replaced by U+FFFD.",
                       Offset(text.data() + valid)));
  return context.store.Intern(ToUtf8(text));
}

void XPlane::Ids::Add(int64_t id, uint32_t index) { sparse_[id] = index; }

void XPlane::Ids::Pack() {
  int64_t limit = int64_t(sparse_.size() * kDenseFactor + 1024);
  for (auto [id, index] : sparse_) {
    if (id < 0 || id >= limit) continue;
    if (dense_.size() <= size_t(id)) dense_.resize(size_t(id) + 1, UINT32_MAX);
    dense_[size_t(id)] = index;
  }
  absl::erase_if(sparse_,
                 [&](const auto& entry) { return entry.first >= 0 && entry.first < limit; });
}

XPlane::Key XPlane::KeyOf(std::string_view name) {
  static const auto* keys =
      new absl::flat_hash_map<std::string_view, Key>{{"_pt", Key::kProducerType},
                                                     {"_p", Key::kProducerId},
                                                     {"_ct", Key::kConsumerType},
                                                     {"_c", Key::kConsumerId},
                                                     {"_r", Key::kRoot},
                                                     {"step_num", Key::kStepNumber},
                                                     {"graph_hash", Key::kGraphHash},
                                                     {"name", Key::kModuleName},
                                                     {"module", Key::kModuleName},
                                                     {"size", Key::kSize},
                                                     {"bytes_transferred", Key::kSize},
                                                     {"run_id", Key::kRunId},
                                                     {"device_ordinal", Key::kDeviceOrdinal},
                                                     {"hlo_op", Key::kHloOp},
                                                     {"correlation_id", Key::kCorrelation},
                                                     {"program_id", Key::kProgramId},
                                                     {"counter_value", Key::kCounterValue},
                                                     {"device_offset_ps", Key::kDeviceOffset},
                                                     {"device_duration_ps", Key::kDeviceDuration},
                                                     {"xlaprof_category", Key::kCategory},
                                                     {"xlaprof_endless", Key::kEndless}};
  auto found = keys->find(name);
  return found == keys->end() ? Key::kOther : found->second;
}

XPlane::XPlane(std::string_view bytes, bool cut, XFile& file)
    : bytes_(bytes), cut_(cut), file_(file) {
  Reader in(bytes);
  while (in.Next()) {
    if (in.type() != wire::kBytes) continue;
    if (in.number() == 2) name_ = in.bytes();
    if (in.number() == 3) {
      has_lines_ = true;
      // The fields before the events are enough here.
      Reader line(in.bytes());
      int64_t id = 0;
      while (line.Next() && line.number() <= 3) {
        if (line.Is(1, wire::kVarint)) id = line.int64();
        if (line.Is(2, wire::kBytes) && line.bytes() == "XLA Modules") has_modules_line_ = true;
        if (line.Is(3, wire::kVarint) && line.int64() > kEpochNs)
          first_epoch_ns_ = std::min(first_epoch_ns_, line.int64());
      }
      ++lines_left_[id];
    }
    if (in.number() == 4 || in.number() == 5) {
      wire::MapEntry entry;
      wire::Decode(in.bytes(), &entry);
      if (in.number() == 4) {
        wire::EventMetadata metadata;
        wire::Decode(entry.value, &metadata);
        EventMetadata event{
            .message = entry.value, .name = metadata.name, .display_name = metadata.display_name};
        event_ids_.Add(entry.key, uint32_t(events_.size()));
        events_.push_back(event);
      } else {
        wire::StatMetadata metadata;
        wire::Decode(entry.value, &metadata);
        stat_ids_.Add(entry.key, uint32_t(stats_.size()));
        stats_.push_back({.name = metadata.name,
                          .key = KeyOf(metadata.name),
                          .is_ours = metadata.description == kAddedStat});
      }
    }
    if (in.number() == 6) {
      wire::Stat stat;
      wire::Decode(in.bytes(), &stat);
      plane_stats_.push_back(stat);
    }
  }
  if (in.cut() && in.number() == 3) has_lines_ = true;
  stat_ids_.Pack();
  event_ids_.Pack();
}

int64_t XPlane::IntStat(std::string_view key) const {
  for (const wire::Stat& stat : plane_stats_) {
    uint32_t index = stat_ids_.Find(stat.metadata_id);
    if (index != UINT32_MAX && stats_[index].name == key &&
        (stat.kind == wire::Stat::kUint || stat.kind == wire::Stat::kInt))
      return stat.int64();
  }
  return -1;
}

// Reads what our own exporter says of the plane.
absl::Status XPlane::ReadStats() {
  for (const wire::Stat& stat : plane_stats_) {
    const StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr || !key->is_ours) continue;
    if (key->name == "xlaprof_added_line") added_lines_.insert(stat.int64());
    if (key->name == "xlaprof_async_line") async_lines_.insert(stat.int64());
    if (key->name == "xlaprof_device") {
      XP_TRY(device_, file_.Intern(stat.bytes));
    }
  }
  return absl::OkStatus();
}

std::vector<XPlane::HloProto> XPlane::HloProtos() const {
  std::vector<HloProto> found;
  for (const EventMetadata& event : events_) {
    Reader in(event.message);
    while (in.Next()) {
      if (!in.Is(5, wire::kBytes)) continue;
      wire::Stat stat;
      wire::Decode(in.bytes(), &stat);
      uint32_t index = stat_ids_.Find(stat.metadata_id);
      if (index == UINT32_MAX || stat.kind != wire::Stat::kBytes) continue;
      if (stats_[index].name == "Hlo Proto" || stats_[index].name == "hlo_proto")
        found.push_back({event.name, stat.bytes});
    }
  }
  return found;
}

XPlane::StatName* XPlane::StatOf(int64_t metadata_id) {
  uint32_t index = stat_ids_.Find(metadata_id);
  return index == UINT32_MAX ? nullptr : &stats_[index];
}

absl::StatusOr<XPlane::EventMetadata*> XPlane::AddNameless(int64_t metadata_id) {
  XP_TRY(file_.context.Issue(
      "nameless_events", Severity::kWarning,
      "The names of some events are missing from the capture, because it is cut or damaged. These events are called #ID."));
  XP_TRY(StringId id, file_.context.store.Intern(fmt::format("#{}", metadata_id)));
  const uint32_t index = uint32_t(events_.size());
  events_.push_back({.what = {Category::kHost, XRole::kNone, true}, .resolved = true, .id = id});
  event_ids_.Add(metadata_id, index);
  return &events_[index];
}

absl::Status XPlane::Damaged(const Reader& in, std::string_view where) {
  return file_.context.Issue(
      "damaged_message", Severity::kWarning,
      fmt::format(
          "Bytes inside {} are not a protobuf message. The rest of it was skipped. Copy the file again.",
          where),
      file_.Offset(in.position()));
}

absl::Status XPlane::Read(int64_t process_id, int64_t index, XFacts& facts) {
  if (!has_lines_) return absl::OkStatus();
  process_id_ = process_id;
  // Host threads are above devices, and devices are in the order of the file.
  constexpr int64_t kLinesAPlane = 10'000;
  sort_base_ = (is_device() ? 1 + index : 0) * kLinesAPlane;
  FindDifferingNames();
  XP_TRY(ReadStats());
  if (is_device()) {
    std::string_view device = std::string_view(name_).substr(std::string_view("/device:").size());
    if (device_ == 0) {
      XP_TRY(device_, file_.Intern(device));
    }
    size_t digits = device.find_last_not_of("0123456789") + 1;
    device_ordinal_ = ParseCount(device.substr(digits)).value_or(-1);
  } else {
    Survey();
  }
  Reader in(bytes_);
  size_t number = 0;
  while (in.Next()) {
    if (in.Is(3, wire::kBytes)) XP_TRY(ReadLine(in.bytes(), false, number++, facts));
  }
  if (in.cut() && cut_) {
    if (in.number() == 3) XP_TRY(ReadLine(in.rest(), true, number++, facts));
  } else if (in.cut() || in.bad()) {
    XP_TRY(Damaged(in, fmt::format("plane {}", name_)));
  }
  return absl::OkStatus();
}

absl::Status XPlane::ReadLine(std::string_view bytes, bool cut, size_t number, XFacts& facts) {
  wire::Line header;
  wire::Decode(bytes, &header);
  file_.context.progress(size_t(file_.Offset(bytes.data())));
  const bool is_last_of_id = --lines_left_[header.id] == 0;
  if (header.events == 0 || added_lines_.contains(header.id)) return absl::OkStatus();
  LineState line;
  line.name = header.name;
  line.tid = header.display_id != 0 ? header.display_id : header.id;
  line.timestamp_ns = header.timestamp_ns;
  line.shift_ns = header.timestamp_ns > kEpochNs ? file_.epoch_offset_ns : file_.relative_offset_ns;
  line.device = is_device();
  line.front = number < front_.size() && front_[number];
  line.facts = &facts;
  TrackRow track{.process_id = process_id_, .kind = TrackKind::kHostThread, .tid = line.tid};
  if (async_lines_.contains(header.id)) track.kind = TrackKind::kAsync;
  XP_TRY(StringId shown,
         file_.Intern(header.display_name.empty() ? header.name : header.display_name));
  track.name = file_.context.store.Text(shown);
  if (line.device) {
    XLineKind kind = ClassifyDeviceLine(header.name);
    line.category = kind.category;
    std::string device(file_.context.store.Text(device_));
    if (device_track_id_ == 0) {
      XP_TRY(device_track_id_, file_.context.store.Add(TrackRow{.process_id = process_id_,
                                                                .kind = TrackKind::kDevice,
                                                                .name = device,
                                                                .device = device,
                                                                .sort = sort_base_}));
    }
    track.kind = TrackKind::kDeviceStream;
    track.device = device;
    track.parent_id = device_track_id_;
    track.sort = sort_base_ + kind.sort;
  } else {
    constexpr int64_t kBehindUserThreads = 5'000;
    track.sort = sort_base_ + int64_t(number) + (line.front ? 0 : kBehindUserThreads);
  }
  // Lines with the same id and name are one timeline; a line of counters alone is none.
  const bool is_counters = header.name == "_counters_";
  int64_t& track_id = tracks_[{header.id, track.name}];
  line.track = std::move(track);
  line.track_id = track_id != 0 ? track_id : -1 - int64_t(number);
  if (!is_counters) XP_TRY(AddTrack(line));

  Reader in(bytes);
  while (in.Next()) {
    if (in.Is(4, wire::kBytes)) [[likely]]
      XP_TRY(ReadEvent(in.bytes(), line, facts));
  }
  if ((in.cut() && !cut) || in.bad())
    XP_TRY(Damaged(in, fmt::format("line {} of plane {}", line.track.name, name_)));
  track_id = line.track_id;
  return is_last_of_id && track_id > 0 ? file_.context.events.Finish(track_id) : absl::OkStatus();
}

absl::Status XPlane::AddTrack(LineState& line) {
  if (line.track_id > 0) return absl::OkStatus();
  XP_TRY(line.track_id, file_.context.store.Add(line.track));
  file_.track_ids.push_back(line.track_id);
  return absl::OkStatus();
}

}  // namespace xlaprof

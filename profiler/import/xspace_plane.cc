#include "profiler/import/xspace_plane.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>

#include "profiler/import/utf8.h"

namespace xlaprof {
namespace {

using wire::Reader;

// line.timestamp_ns counts from 1970 when it is this large (1970-01-12), else from the start of the
// profile.
constexpr int64_t kEpochNs = 1'000'000'000'000'000;
// Times beyond are damage, and differences of theirs would overflow: thirty-six years.
constexpr int64_t kMaxTimeNs = int64_t(1) << 60;
// A compressed text that grows beyond this is hostile.
constexpr size_t kMaxInflatedBytes = size_t(1) << 20;
// Larger values of a statistic are whole files (HLO, symbol maps), not arguments.
constexpr size_t kMaxArgumentBytes = size_t(1) << 20;
// Ids up to this many times the size of their table are looked up in an array.
constexpr size_t kDenseFactor = 8;

int64_t FloorToNs(int64_t ps) {
  int64_t ns = ps / 1000;
  return ps % 1000 < 0 ? ns - 1 : ns;
}

std::string Inflate(std::string_view bytes) {
  std::string out;
  z_stream stream = {};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(std::min<size_t>(bytes.size(), UINT32_MAX));
  int result = Z_OK;
  while (result == Z_OK && out.size() < kMaxInflatedBytes) {
    size_t before = out.size();
    out.resize(std::min(kMaxInflatedBytes, before + 4096));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = uInt(out.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (stream.avail_in == 0 && stream.avail_out != 0) break;
  }
  inflateEnd(&stream);
  return out;
}

// The program id of "jit_f(1234)"; -1 without one.
int64_t ProgramIdOf(std::string_view name) {
  size_t open = name.rfind('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return -1;
  uint64_t value = 0;
  const char* last = name.data() + name.size() - 1;
  auto [end, error] = std::from_chars(name.data() + open + 1, last, value);
  return error == std::errc() && end == last ? int64_t(value) : -1;
}

// A statistic that only the runtime writes: an event that has it is not the user's.
bool OnlyFromRuntime(std::string_view key) {
  return key == "_src" || key == "_pt" || key == "_p" || key == "_ct" || key == "_c" ||
         key == "_a" || key == "hlo_op" || key == "correlation_id";
}

// What an event is called: its instruction's name when its name is a whole HLO text.
std::string_view ShownName(std::string_view name, std::string_view display_name) {
  if (name.empty()) return display_name;
  if (std::string_view instruction = ShortHloName(name); !instruction.empty()) return instruction;
  // name#key=value,...#: a TraceMe that its tracer did not take apart.
  if (size_t hash = name.find('#');
      hash != std::string_view::npos && hash > 0 && name.ends_with('#'))
    return name.substr(0, hash);
  return name;
}

bool IsFrontThread(std::string_view line) {
  std::string_view thread = line.substr(0, line.find('/'));
  return thread == "python" || thread == "python3" || thread == "main" || thread == "MainThread";
}

}  // namespace

absl::StatusOr<StringId> XFile::Intern(std::string_view text) {
  size_t valid = ValidUtf8Prefix(text);
  if (valid == text.size()) return context.store.Intern(text);
  XP_TRY(context.Issue("invalid_utf8", "warning",
                       "names that are not valid UTF-8: what is invalid was replaced by U+FFFD",
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
                                                     {"program_id", Key::kProgramId},
                                                     {"counter_value", Key::kCounterValue},
                                                     {"device_offset_ps", Key::kDeviceOffset},
                                                     {"device_duration_ps", Key::kDeviceDuration}};
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
      while (line.Next() && line.number() <= 3) {
        if (line.Is(2, wire::kBytes) && line.bytes() == "XLA Modules") has_modules_line_ = true;
        if (line.Is(3, wire::kVarint) && line.int64() > kEpochNs)
          first_epoch_ns_ = std::min(first_epoch_ns_, line.int64());
      }
    }
    if (in.number() == 4 || in.number() == 5) {
      wire::MapEntry entry;
      wire::Decode(in.bytes(), &entry);
      if (in.number() == 4) {
        wire::EventMetadata metadata;
        wire::Decode(entry.value, &metadata);
        EventName event{
            .message = entry.value, .name = metadata.name, .display_name = metadata.display_name};
        event_ids_.Add(entry.key, uint32_t(events_.size()));
        events_.push_back(event);
      } else {
        wire::StatMetadata metadata;
        wire::Decode(entry.value, &metadata);
        stat_ids_.Add(entry.key, uint32_t(stats_.size()));
        stats_.push_back({.name = metadata.name, .key = KeyOf(metadata.name)});
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

std::vector<XPlane::HloProto> XPlane::HloProtos() const {
  std::vector<HloProto> found;
  for (const EventName& event : events_) {
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

absl::StatusOr<XPlane::EventName*> XPlane::EventOf(int64_t metadata_id) {
  uint32_t index = event_ids_.Find(metadata_id);
  if (index != UINT32_MAX) [[likely]]
    return &events_[index];
  XP_TRY(file_.context.Issue(
      "nameless_events", "warning",
      "events whose name is not in the capture (it is cut, or damaged): they are called #ID"));
  XP_TRY(StringId id, file_.context.store.Intern(fmt::format("#{}", metadata_id)));
  index = uint32_t(events_.size());
  events_.push_back({.what = {XCategory::kHost, XRole::kNone, true}, .resolved = true, .id = id});
  event_ids_.Add(metadata_id, index);
  return &events_[index];
}

absl::StatusOr<StringId> XPlane::KeyId(StatName& stat) {
  if (stat.id == 0) {
    XP_TRY(stat.id, file_.Intern(stat.name.empty() ? "?" : stat.name));
  }
  return stat.id;
}

// Name and arguments that all events of this table entry share. A device's ops are named by their
// whole HLO text: those are called by the instruction's name, and keep the text as `long_name`.
absl::Status XPlane::Resolve(EventName& event) {
  event.resolved = true;
  if (!ShortHloName(event.name).empty()) {
    XP_TRY(event.long_name, file_.Intern(event.name));
  }
  XP_TRY(event.id, file_.Intern(ShownName(event.name, event.display_name)));
  Reader in(event.message);
  while (in.Next()) {
    if (!in.Is(5, wire::kBytes)) continue;
    event.has_stats = true;
    wire::Stat stat;
    wire::Decode(in.bytes(), &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr) continue;
    if (key->key == Key::kHloOp) event.has_op = true;
    if (key->key == Key::kProgramId &&
        (stat.kind == wire::Stat::kUint || stat.kind == wire::Stat::kInt))
      event.program_id = stat.int64();
  }
  return absl::OkStatus();
}

// Two entries of the table can come to one name (an op of two programs) with other values.
// Arguments by name would then be wrong for one of them, so such entries give theirs to each event.
void XPlane::FindDifferingNames() {
  absl::flat_hash_map<std::string_view, uint32_t> first;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    EventName& event = events_[i];
    std::string_view name = ShownName(event.name, event.display_name);
    auto [it, is_new] = first.emplace(name, i);
    if (is_new) continue;
    event.per_event = events_[it->second].per_event = true;
  }
}

absl::StatusOr<bool> XPlane::Value(const wire::Stat& stat, ArgValue* value) {
  switch (stat.kind) {
    case wire::Stat::kNone:
      return false;
    case wire::Stat::kDouble:
      *value = stat.real();
      return true;
    case wire::Stat::kUint:
      *value = stat.number;
      return true;
    case wire::Stat::kInt:
      *value = stat.int64();
      return true;
    case wire::Stat::kRef: {
      StatName* text = StatOf(stat.int64());
      if (text == nullptr) return false;
      if (text->value == 0) {
        XP_TRY(text->value, file_.Intern(text->name));
      }
      *value = Text{text->value};
      return true;
    }
    case wire::Stat::kGzip: {
      XP_TRY(StringId id, file_.Intern(Inflate(stat.bytes)));
      *value = Text{id};
      return true;
    }
    case wire::Stat::kText:
    case wire::Stat::kBytes:
      if (stat.bytes.size() > kMaxArgumentBytes) {
        XP_TRY(file_.context.Issue("large_argument", "info",
                                   "arguments of more than 1 MiB were left out",
                                   file_.Offset(stat.bytes.data())));
        return false;
      }
      if (stat.kind == wire::Stat::kText) {
        XP_TRY(StringId id, file_.Intern(stat.bytes));
        *value = Text{id};
      } else {
        XP_TRY(StringId id, file_.context.store.Intern(stat.bytes, /*bytes=*/true));
        *value = Bytes{id};
      }
      return true;
  }
  return false;
}

absl::Status XPlane::GiveNameArguments(EventName& event, int64_t track_id) {
  EventWriter& events = file_.context.events;
  auto give = [&](StringId key, const ArgValue& value) {
    if (event.per_event) {
      events.Arg(key, value);
    } else {
      events.NameArg(track_id, event.id, key, value);
    }
  };
  if (event.long_name != 0) {
    XP_TRY(StringId key, file_.context.store.Intern("long_name"));
    give(key, Text{event.long_name});
  }
  Reader in(event.message);
  while (event.has_stats && in.Next()) {
    if (!in.Is(5, wire::kBytes)) continue;
    wire::Stat stat;
    wire::Decode(in.bytes(), &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr) continue;
    ArgValue value;
    XP_TRY(bool there, Value(stat, &value));
    if (!there) continue;
    XP_TRY(StringId id, KeyId(*key));
    give(id, value);
  }
  return absl::OkStatus();
}

// Which names are the user's annotations (xp.Trace, TraceAnnotation)? Nothing in the file says so,
// so: a name is the user's when it is seen on a thread that runs the user's code (called python or
// main, or that syncs, calls jitted functions, steps or has Python calls) and
//   - it is not the runtime's (xspace_names.cc: known names, and all with "::"),
//   - it is never seen on another thread, nor inside an event of the runtime in which no user code
//   runs (a compile, a
//     sync, a call of a jitted function): HLO passes and PJRT's small steps are,
//   - it never carries a statistic that only the runtime writes (_pt, _src, hlo_op, ...),
//   - it does not stand among the stages of a compilation that was open when the capture began or
//   ended: that event
//     itself is missing then, and the stages have nothing around them.
// An event with _r is the user's in any case: it marks a step.
void XPlane::Survey() {
  Reader in(bytes_);
  size_t number = 0;
  for (EventName& event : events_) {
    event.what = ClassifyHostName(event.name);
    event.stage = IsCompilerStage(event.name);
  }

  while (in.Next()) {
    if (in.Is(3, wire::kBytes)) SurveyLine(in.bytes(), number++);
  }
  if (in.cut() && in.number() == 3) SurveyLine(in.rest(), number++);
  for (EventName& event : events_)
    event.user = !event.what.known && event.seen_as_user && !event.seen_as_runtime;
}

void XPlane::SurveyLine(std::string_view bytes, size_t number) {
  wire::Line line;
  wire::Decode(bytes, &line);
  bool front = IsFrontThread(line.name);
  int64_t runtime_until_ps = INT64_MIN;
  // Unknown names outside of everything, in order; a compiler stage is nullptr, an event with a
  // role ends the zone.
  std::vector<EventName*> outside;
  size_t first_stage = SIZE_MAX, last_stage = 0;
  auto close_zone = [&](size_t end) {
    for (size_t i = first_stage; i < end; ++i) {
      if (outside[i] != nullptr) outside[i]->seen_as_runtime = true;
    }
    first_stage = SIZE_MAX;
  };
  std::vector<EventName*> inside;
  wire::Event event;
  Reader in(bytes);
  while (in.Next()) {
    if (!in.Is(4, wire::kBytes)) continue;
    // Python's calls are most of a capture that has them, and tell nothing more: the id, which
    // comes first, is enough.
    Reader id(in.bytes());
    if (id.Next() && id.Is(1, wire::kVarint)) {
      uint32_t index = event_ids_.Find(id.int64());
      if (index != UINT32_MAX && events_[index].what.category == XCategory::kPython) {
        front = true;
        continue;
      }
    }
    wire::Decode(in.bytes(), &event);
    uint32_t index = event_ids_.Find(event.metadata_id);
    if (index == UINT32_MAX) continue;
    EventName& name = events_[index];
    bool enclosed = event.offset_ps < runtime_until_ps;
    if (name.what.known) {
      XRole role = name.what.role;
      front |= role == XRole::kStepMark || role == XRole::kSync || role == XRole::kCall ||
               role == XRole::kJaxCompile;
      int64_t end_ps = 0;
      if (!HoldsUserCode(name.what) &&
          !__builtin_add_overflow(event.offset_ps, event.duration_ps, &end_ps)) {
        runtime_until_ps = std::max(runtime_until_ps, end_ps);
      }
      if (enclosed) continue;
      if (name.stage) {
        if (first_stage == SIZE_MAX) first_stage = outside.size();
        last_stage = outside.size();
        outside.push_back(nullptr);
      } else if (role != XRole::kNone && first_stage != SIZE_MAX) {
        close_zone(last_stage);
      }
      continue;
    }
    bool from_runtime = false, root = false;
    Reader stats(event.stats);
    while (stats.Next()) {
      if (!stats.Is(4, wire::kBytes)) continue;
      wire::Stat stat;
      wire::Decode(stats.bytes(), &stat);
      StatName* key = StatOf(stat.metadata_id);
      if (key == nullptr) continue;
      from_runtime |= OnlyFromRuntime(key->name);
      root |= key->key == Key::kRoot;
    }
    if (root) {
      front = true;
      continue;
    }
    if (enclosed || from_runtime) {
      if (inside.empty() || inside.back() != &name) inside.push_back(&name);
    } else {
      outside.push_back(&name);
    }
  }
  if (first_stage != SIZE_MAX) close_zone(outside.size());
  for (EventName* name : inside) name->seen_as_runtime = true;
  for (EventName* name : outside) {
    if (name != nullptr) (front ? name->seen_as_user : name->seen_as_runtime) = true;
  }
  if (front_.size() <= number) front_.resize(number + 1);
  front_[number] = front;
}

struct XPlane::LineState {
  int64_t track_id = 0, tid = 0;
  std::string_view name;
  int64_t timestamp_ns = 0, shift_ns = 0;
  XCategory category = XCategory::kHost;  // of a device's line
  bool device = false, front = false;
  XFacts* facts = nullptr;
};

absl::Status XPlane::Damaged(const Reader& in, std::string_view where) {
  return file_.context.Issue("damaged_message", "warning",
                             fmt::format("bytes inside {} that are no protobuf message: the rest "
                                         "of it was skipped. Copy the file again",
                                         where),
                             file_.Offset(in.position()));
}

absl::Status XPlane::Read(int64_t process_id, int64_t index, XFacts& facts) {
  if (!has_lines_) return absl::OkStatus();
  process_id_ = process_id;
  // Host threads above devices, devices in the order of the file.
  constexpr int64_t kLinesAPlane = 10'000;
  sort_base_ = (is_device() ? 1 + index : 0) * kLinesAPlane;
  FindDifferingNames();
  if (is_device()) {
    std::string_view device = std::string_view(name_).substr(std::string_view("/device:").size());
    XP_TRY(device_, file_.Intern(device));
    size_t digits = device.find_last_not_of("0123456789") + 1;
    std::from_chars(device.data() + digits, device.data() + device.size(), device_ordinal_);
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
  if (header.events == 0) return absl::OkStatus();
  LineState line;
  line.name = header.name;
  line.tid = header.display_id != 0 ? header.display_id : header.id;
  line.timestamp_ns = header.timestamp_ns;
  line.shift_ns = header.timestamp_ns > kEpochNs ? file_.epoch_offset_ns : file_.relative_offset_ns;
  line.device = is_device();
  line.front = number < front_.size() && front_[number];
  line.facts = &facts;
  TrackRow track{.process_id = process_id_, .kind = "host_thread", .tid = line.tid};
  XP_TRY(StringId shown,
         file_.Intern(header.display_name.empty() ? header.name : header.display_name));
  track.name = file_.context.store.Text(shown);
  if (line.device) {
    XLineKind kind = ClassifyDeviceLine(header.name);
    line.category = kind.category;
    std::string device(file_.context.store.Text(device_));
    if (device_track_id_ == 0) {
      XP_TRY(device_track_id_, file_.context.store.Add(TrackRow{.process_id = process_id_,
                                                                .kind = "device",
                                                                .name = device,
                                                                .device = device,
                                                                .sort = sort_base_}));
    }
    track.kind = "device_stream";
    track.device = device;
    track.parent_id = device_track_id_;
    track.sort = sort_base_ + kind.sort;
  } else {
    constexpr int64_t kBehindUserThreads = 5'000;
    track.sort = sort_base_ + int64_t(number) + (line.front ? 0 : kBehindUserThreads);
  }
  // Lines with one id and name are one timeline.
  int64_t& track_id = tracks_[{header.id, track.name}];
  if (track_id == 0) {
    XP_TRY(track_id, file_.context.store.Add(track));
    file_.track_ids.push_back(track_id);
  }
  line.track_id = track_id;

  Reader in(bytes);
  while (in.Next()) {
    if (in.Is(4, wire::kBytes)) [[likely]]
      XP_TRY(ReadEvent(in.bytes(), line, facts));
  }
  if ((in.cut() && !cut) || in.bad())
    XP_TRY(Damaged(in, fmt::format("line {} of plane {}", track.name, name_)));
  return absl::OkStatus();
}

void XPlane::Note(StatName& name, const wire::Stat& stat, Said* said) {
  switch (name.key) {
    case Key::kOther:
      break;
    case Key::kProducerType:
      said->producer_type = stat.int64();
      break;
    case Key::kProducerId:
      said->produces = true;
      said->producer_id = stat.number;
      break;
    case Key::kConsumerType:
      said->consumer_type = stat.int64();
      break;
    case Key::kConsumerId:
      said->consumes = true;
      said->consumer_id = stat.number;
      break;
    case Key::kRoot:
      said->is_root = stat.number != 0;
      break;
    case Key::kStepNumber:
      said->step_number = stat.int64();
      break;
    case Key::kSize:
      said->size = stat.int64();
      break;
    case Key::kRunId:
      said->run_id = stat.int64();
      break;
    case Key::kDeviceOrdinal:
      said->device_ordinal = stat.int64();
      break;
    case Key::kHloOp:
      said->has_op = true;
      break;
    case Key::kProgramId:
      said->program_id = stat.int64();
      break;
    case Key::kCounterValue:
      said->has_counter = true;
      said->counter = stat.kind == wire::Stat::kDouble ? stat.real()
                      : stat.kind == wire::Stat::kInt  ? double(stat.int64())
                                                       : double(stat.number);
      break;
    case Key::kDeviceOffset:
    case Key::kDeviceDuration:
      break;
    case Key::kGraphHash:
    case Key::kModuleName:
      break;  // texts: looked at where they are interned
  }
}

absl::StatusOr<int64_t> XPlane::CounterTrack(const LineState& line, StringId name,
                                             std::string_view unit) {
  std::string full = fmt::format("{}{}", file_.context.store.Text(name), unit);
  int64_t& id = counters_[{line.track_id, full}];
  if (id != 0) return id;
  TrackRow track{.process_id = process_id_,
                 .kind = "counter",
                 .name = full,
                 .parent_id = line.track_id,
                 .sort = sort_base_ + 9'000};
  if (device_ != 0) track.device = std::string(file_.context.store.Text(device_));
  XP_TRY(id, file_.context.store.Add(track));
  return id;
}

absl::Status XPlane::ReadEvent(std::string_view bytes, LineState& line, XFacts& facts) {
  wire::Event in;
  if (!wire::Decode(bytes, &in)) [[unlikely]] {
    return file_.context.Issue("damaged_event", "warning",
                               "events that are no protobuf message were left out",
                               file_.Offset(bytes.data()));
  }
  XP_TRY(EventName * name, EventOf(in.metadata_id));
  if (!name->resolved) XP_TRY(Resolve(*name));

  int64_t ts_ns = 0, end_ns = 0, end_ps = 0, origin_ns = 0;
  if (in.duration_ps < 0) [[unlikely]] {
    in.duration_ps = 0;
    XP_TRY(file_.context.Issue("negative_duration", "warning",
                               "events of negative length were taken as instants",
                               file_.Offset(bytes.data())));
  }
  bool far = __builtin_add_overflow(line.timestamp_ns, line.shift_ns, &origin_ns) ||
             __builtin_add_overflow(in.offset_ps, in.duration_ps, &end_ps) ||
             __builtin_add_overflow(origin_ns, FloorToNs(in.offset_ps), &ts_ns) ||
             __builtin_add_overflow(origin_ns, FloorToNs(end_ps), &end_ns);
  if (far || ts_ns < -kMaxTimeNs || end_ns > kMaxTimeNs) [[unlikely]] {
    return file_.context.Issue(
        "time_out_of_range", "warning",
        "events with times that cannot be (decades away) were left out",
        file_.Offset(bytes.data()));
  }

  Said said;
  arguments_.clear();
  Reader stats(in.stats);
  while (stats.Next()) {
    if (!stats.Is(4, wire::kBytes)) continue;
    wire::Stat stat;
    wire::Decode(stats.bytes(), &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr) [[unlikely]]
      continue;
    Note(*key, stat, &said);
    // The number of a flow is kept as the event's flow, and what only repeats the event's own time
    // as that.
    bool repeats = key->key == Key::kProducerId || key->key == Key::kConsumerId ||
                   (key->key == Key::kDeviceOffset && stat.int64() == in.offset_ps) ||
                   (key->key == Key::kDeviceDuration && stat.int64() == in.duration_ps);
    if (!repeats) arguments_.emplace_back(key, stat);
  }
  EventWriter& events = file_.context.events;
  if (in.aggregated) {
    // Many occurrences without times: two samples of counters, not an event.
    XP_TRY(int64_t count_track, CounterTrack(line, name->id, " (occurrences)"));
    XP_TRY(int64_t time_track, CounterTrack(line, name->id, " (ns in all)"));
    XP_TRY(events.Counter(count_track, origin_ns, double(in.occurrences)));
    ++file_.event_count;
    return events.Counter(time_track, origin_ns, double(in.duration_ps) / 1000);
  }
  if (said.has_counter) {
    XP_TRY(int64_t track, CounterTrack(line, name->id, ""));
    ++file_.event_count;
    return events.Counter(track, ts_ns, said.counter);
  }

  bool is_step = said.is_root && !name->what.known && !line.device;
  bool is_op = said.has_op || name->has_op;
  XCategory category = line.device  ? line.category
                       : is_step    ? XCategory::kStep
                       : is_op      ? XCategory::kOp
                       : name->user ? XCategory::kScope
                                    : name->what.category;
  Event event{.ts_ns = ts_ns,
              .dur_ns = end_ns - ts_ns,
              .name = name->id,
              .category = file_.categories[size_t(category)]};
  if (said.produces) event.flow_out = file_.Flow(said.producer_type, said.producer_id);
  if (said.consumes) event.flow_in = file_.Flow(said.consumer_type, said.consumer_id);
  XP_TRY(events.Add(line.track_id, event));
  ++file_.event_count;
  if (category == XCategory::kPython) ++file_.python_count;
  if (name->last_track != line.track_id || name->per_event) {
    name->last_track = line.track_id;
    if (name->has_stats || name->long_name != 0) XP_TRY(GiveNameArguments(*name, line.track_id));
  }
  for (auto& [key, stat] : arguments_) {
    ArgValue value;
    XP_TRY(bool there, Value(stat, &value));
    if (!there) continue;
    XP_TRY(StringId id, KeyId(*key));
    events.Arg(id, value);
    if (const Text* text = std::get_if<Text>(&value)) {
      if (key->key == Key::kGraphHash) said.hash = text->id;
      if (key->key == Key::kModuleName) said.module = text->id;
    }
  }

  // Facts.
  int64_t offset = 0;
  auto where = [&] { return offset != 0 ? offset : offset = file_.Offset(bytes.data()); };
  if (line.device) {
    if (line.category == XCategory::kModule) {
      facts.Add(XModule{.ts_ns = ts_ns,
                        .end_ns = end_ns,
                        .program_id = ProgramIdOf(name->name),
                        .run_id = said.run_id,
                        .device_ordinal = device_ordinal_,
                        .device = device_,
                        .name = name->name,
                        .offset = where()});
    } else if (line.category == XCategory::kStep) {
      facts.AddDeviceStep(ts_ns, end_ns, name->id, where(), device_);
    } else if (line.category == XCategory::kOp && !has_modules_line_ && is_op) {
      int64_t program = said.program_id >= 0 ? said.program_id : name->program_id;
      facts.Add(XOp{.ts_ns = ts_ns,
                    .end_ns = end_ns,
                    .name = name->id,
                    .program = facts.Program(program, device_),
                    .run_id = said.run_id});
    }
    return absl::OkStatus();
  }
  if (is_op) {
    StringId device = 0;
    if (said.device_ordinal > 0) {
      XP_TRY(device, file_.context.store.Intern(fmt::format("CPU:{}", said.device_ordinal)));
    }
    int64_t program = said.program_id >= 0 ? said.program_id : name->program_id;
    facts.Add(XOp{.ts_ns = ts_ns,
                  .end_ns = end_ns,
                  .name = name->id,
                  .program = facts.Program(program, device),
                  .flow = event.flow_out,
                  .run_id = said.run_id});
    return absl::OkStatus();
  }
  if (event.flow_in != 0 && name->name.starts_with("end: ")) facts.EndOf(event.flow_in, end_ns);
  XRole role = is_step ? XRole::kStep : name->user ? XRole::kScope : name->what.role;
  if (role == XRole::kNone) return absl::OkStatus();
  facts.Add(XMark{.ts_ns = ts_ns,
                  .end_ns = end_ns,
                  .role = role,
                  .name = name->id,
                  .text = role == XRole::kGraphCompile ? said.hash : said.module,
                  .number = role == XRole::kStep      ? said.step_number
                            : role == XRole::kEnqueue ? said.run_id
                                                      : said.size,
                  .device = said.device_ordinal,
                  .track_id = line.track_id,
                  .offset = where(),
                  .front = line.front});
  return absl::OkStatus();
}

}  // namespace xlaprof

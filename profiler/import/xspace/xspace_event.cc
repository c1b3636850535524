// Reads one event of a line: its time, category and flows, and what it says of the run.
#include "base/array_bytes.h"
#include "profiler/import/xspace/program_id.h"
#include "profiler/import/xspace/xspace_plane.h"

namespace xlaprof {
namespace {

// Times beyond this (thirty-six years) are damage, and their differences would overflow.
constexpr int64_t kMaxTimeNs = int64_t(1) << 60;

int64_t FloorToNs(int64_t ps) {
  int64_t ns = ps / 1000;
  return ps % 1000 < 0 ? ns - 1 : ns;
}

struct EventTimes {
  int64_t ts_ns = 0, end_ns = 0;
  int64_t origin_ns = 0;  // of the line
};

// Returns false if the times of an event are impossible.
bool TimesOf(const wire::Event& in, int64_t timestamp_ns, int64_t shift_ns, EventTimes* times) {
  int64_t end_ps = 0;
  const bool overflows =
      __builtin_add_overflow(timestamp_ns, shift_ns, &times->origin_ns) ||
      __builtin_add_overflow(in.offset_ps, in.duration_ps, &end_ps) ||
      __builtin_add_overflow(times->origin_ns, FloorToNs(in.offset_ps), &times->ts_ns) ||
      __builtin_add_overflow(times->origin_ns, FloorToNs(end_ps), &times->end_ns);
  return !overflows && times->ts_ns >= -kMaxTimeNs && times->end_ns <= kMaxTimeNs;
}

}  // namespace

void XPlane::Note(StatName& name, const wire::Stat& stat, EventStats* stats) {
  switch (name.key) {
    case Key::kOther:
      break;
    case Key::kProducerType:
      stats->producer_type = stat.int64();
      break;
    case Key::kProducerId:
      stats->produces = true;
      stats->producer_id = stat.number;
      break;
    case Key::kConsumerType:
      stats->consumer_type = stat.int64();
      break;
    case Key::kConsumerId:
      stats->consumes = true;
      stats->consumer_id = stat.number;
      break;
    case Key::kRoot:
      stats->is_root = stat.number != 0;
      break;
    case Key::kStepNumber:
      stats->step_number = stat.int64();
      break;
    case Key::kSize:
      stats->size = stat.int64();
      break;
    case Key::kRunId:
      stats->run_id = stat.int64();
      break;
    case Key::kDeviceOrdinal:
      stats->device_ordinal = stat.int64();
      break;
    case Key::kHloOp:
      stats->has_op = true;
      break;
    case Key::kCorrelation:
      stats->is_call = true;
      break;
    case Key::kProgramId:
      stats->program_id = stat.int64();
      break;
    case Key::kCounterValue:
      stats->has_counter = true;
      stats->counter = stat.kind == wire::Stat::kDouble ? stat.real()
                       : stat.kind == wire::Stat::kInt  ? double(stat.int64())
                                                        : double(stat.number);
      break;
    case Key::kEndless:
      stats->is_endless = name.is_ours;
      break;
    case Key::kDeviceOffset:
    case Key::kDeviceDuration:
    case Key::kCategory:
      break;
    case Key::kGraphHash:
    case Key::kModuleName:
      break;  // texts are read where they are interned
  }
}

absl::StatusOr<int64_t> XPlane::CounterTrack(const LineState& line, StringId name,
                                             std::string_view unit) {
  std::string full = fmt::format("{}{}", file_.context.store.Text(name), unit);
  int64_t& id = counters_[{line.track_id, full}];
  if (id != 0) return id;
  TrackRow track{.process_id = process_id_,
                 .kind = TrackKind::kCounter,
                 .name = full,
                 .sort = sort_base_ + 9'000};
  if (line.track_id > 0) track.parent_id = line.track_id;
  if (device_ != 0) track.device = std::string(file_.context.store.Text(device_));
  XP_TRY(id, file_.context.store.Add(track));
  return id;
}

// Returns the category of an event. The category that our own exporter wrote takes precedence.
// Otherwise it follows from a device's line, or from the name and place.
Category XPlane::CategoryOf(const EventMetadata& event, const LineState& line, bool is_root,
                            bool is_op, bool is_launch) const {
  if (event.has_category) {
    if (event.category != Category::kNone) return event.category;
    return line.device ? line.category : Category::kHost;
  }
  const bool is_step = is_root && !event.what.known && !line.device;
  return line.device  ? line.category
         : is_step    ? Category::kStep
         : is_launch  ? Category::kExecute
         : is_op      ? Category::kOp
         : event.user ? Category::kScope
                      : event.what.category;
}

absl::StatusOr<StringId> XPlane::CategoryId(EventMetadata& event, Category category) {
  if (!event.has_category) return file_.categories[size_t(category)];
  if (event.category_id == 0 && !event.category_text.empty()) {
    XP_TRY(event.category_id, file_.Intern(event.category_text));
  }
  return event.category_id;
}

absl::Status XPlane::ReadEvent(std::string_view bytes, LineState& line, XFacts& facts) {
  wire::Event in;
  EventStats stats;
  arguments_.clear();
  const bool sound = wire::Decode(bytes, &in, [&](std::string_view message) {
    wire::Stat stat;
    wire::Decode(message, &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr) [[unlikely]]
      return;
    Note(*key, stat, &stats);
    arguments_.emplace_back(key, stat);
  });
  if (!sound) [[unlikely]] {
    return file_.context.Issue("damaged_event", Severity::kWarning,
                               "Events that are not protobuf messages were left out.",
                               file_.Offset(bytes.data()));
  }
  const uint32_t index = event_ids_.Find(in.metadata_id);
  EventMetadata* metadata = nullptr;
  if (index != UINT32_MAX) [[likely]] {
    metadata = &events_[index];
  } else {
    XP_TRY(metadata, AddNameless(in.metadata_id));
  }
  if (!metadata->resolved) XP_TRY(Resolve(*metadata));

  if (in.duration_ps < 0) [[unlikely]] {
    in.duration_ps = 0;
    XP_TRY(file_.context.Issue("negative_duration", Severity::kWarning,
                               "Events of negative duration were read as instants.",
                               file_.Offset(bytes.data())));
  }
  EventTimes times;
  if (!TimesOf(in, line.timestamp_ns, line.shift_ns, &times)) [[unlikely]] {
    return file_.context.Issue("time_out_of_range", Severity::kWarning,
                               "Events with impossible times (decades away) were left out.",
                               file_.Offset(bytes.data()));
  }
  if (in.aggregated) return AddTotals(in, times.origin_ns, line, metadata->id);
  EventWriter& events = file_.context.events;
  if (stats.has_counter) {
    XP_TRY(int64_t track, CounterTrack(line, metadata->id, ""));
    ++file_.event_count;
    return events.Counter(track, times.ts_ns, stats.counter);
  }

  // A host thread that calls a GPU's driver names the op that it launches. Only a CPU's client runs
  // ops on host threads, and these carry no number of a call.
  const bool has_op = stats.has_op || metadata->has_op;
  const bool is_launch = has_op && stats.is_call && !line.device;
  const bool is_op = has_op && !is_launch;
  const Category category = CategoryOf(*metadata, line, stats.is_root, is_op, is_launch);
  if (line.track_id < 0) [[unlikely]]
    XP_TRY(AddTrack(line));
  Event event{.ts_ns = times.ts_ns,
              .dur_ns = stats.is_endless ? kUnknownDuration : times.end_ns - times.ts_ns,
              .name = metadata->id};
  XP_TRY(event.category, CategoryId(*metadata, category));
  if (stats.produces) event.flow_out = file_.Flow(stats.producer_type, stats.producer_id);
  if (stats.consumes) event.flow_in = file_.Flow(stats.consumer_type, stats.consumer_id);
  XP_TRY(events.Add(line.track_id, event));
  ++file_.event_count;
  if (category == Category::kPython) ++file_.python_count;
  if (metadata->last_track != line.track_id || metadata->per_event) {
    metadata->last_track = line.track_id;
    if (metadata->has_stats || metadata->long_name != 0)
      XP_TRY(WriteEntryArguments(*metadata, line.track_id));
  }
  XP_TRY(WriteArguments(in, metadata->has_category, &stats));

  const WrittenEvent written{.metadata = *metadata,
                             .stats = stats,
                             .event = event,
                             .end_ns = times.end_ns,
                             .category = category,
                             .is_op = is_op,
                             .offset = file_.Offset(bytes.data())};
  if (!line.device) return AddHostFacts(written, line, facts);
  AddDeviceFacts(written, facts);
  return absl::OkStatus();
}

// Writes an event that stands for many occurrences without times as two samples of counters.
absl::Status XPlane::AddTotals(const wire::Event& in, int64_t ts_ns, const LineState& line,
                               StringId name) {
  EventWriter& events = file_.context.events;
  XP_TRY(int64_t count_track, CounterTrack(line, name, " (occurrences)"));
  XP_TRY(int64_t time_track, CounterTrack(line, name, " (ns in all)"));
  XP_TRY(events.Counter(count_track, ts_ns, double(in.occurrences)));
  ++file_.event_count;
  return events.Counter(time_track, ts_ns, double(in.duration_ps) / 1000);
}

// Writes the statistics of the event that was written last as its arguments, and notes the texts
// that facts need. `is_ours` says that our own exporter wrote the event.
absl::Status XPlane::WriteArguments(const wire::Event& in, bool is_ours, EventStats* stats) {
  for (auto& [key, stat] : arguments_) {
    // The number of a flow is kept as the event's flow. A statistic that only repeats the event's
    // own time is left out (our own exporter left it out already).
    if (key->key == Key::kProducerId || key->key == Key::kConsumerId || key->is_ours ||
        (key->key == Key::kDeviceOffset && stat.int64() == in.offset_ps && !is_ours) ||
        (key->key == Key::kDeviceDuration && stat.int64() == in.duration_ps && !is_ours))
      continue;
    ArgValue value;
    if (stat.kind == wire::Stat::kInt) {
      value = stat.int64();
    } else if (stat.kind == wire::Stat::kUint) {
      value = stat.number;
    } else {
      XP_TRY(bool there, Value(stat, &value));
      if (!there) continue;
    }
    if (key->id == 0) [[unlikely]] {
      XP_TRY(key->id, KeyId(*key));
    }
    file_.context.events.Arg(key->id, value);
    if (const Text* text = std::get_if<Text>(&value)) {
      if (key->key == Key::kGraphHash) stats->hash = text->id;
      if (key->key == Key::kModuleName) stats->module = text->id;
      if (key->key == Key::kHloOp) stats->op = text->id;
    }
  }
  return absl::OkStatus();
}

void XPlane::AddDeviceFacts(const WrittenEvent& written, XFacts& facts) const {
  const auto& [metadata, stats, event, end_ns, category, is_op, offset] = written;
  // Our own exporter writes the kernels inside of a program to the program's line.
  if (category == Category::kModule || category == Category::kOp) facts.SawDeviceWork();
  if (category == Category::kModule) {
    facts.Add(XModule{.ts_ns = event.ts_ns,
                      .end_ns = end_ns,
                      .program_id = ProgramIdOf(metadata.name),
                      .run_id = stats.run_id,
                      .device_ordinal = device_ordinal_,
                      .device = device_,
                      .name = metadata.name,
                      .offset = offset});
  } else if (category == Category::kStep) {
    facts.AddDeviceStep(event.ts_ns, end_ns, metadata.id, offset, device_);
  } else if (category == Category::kOp && !has_modules_line_ && is_op) {
    const OptInt program = stats.program_id ? stats.program_id : metadata.program_id;
    facts.Add(XOp{.ts_ns = event.ts_ns,
                  .end_ns = end_ns,
                  .name = metadata.id,
                  .op = stats.op,
                  .program = facts.Program(program, device_),
                  .run_id = stats.run_id});
  }
}

absl::Status XPlane::AddHostFacts(const WrittenEvent& written, const LineState& line,
                                  XFacts& facts) {
  const auto& [metadata, stats, event, end_ns, category, is_op, offset] = written;
  const bool is_step = category == Category::kStep;
  if (is_op && !is_step) {
    StringId device = 0;
    if (stats.device_ordinal > 0) {
      XP_TRY(device, file_.context.store.Intern(fmt::format("CPU:{}", stats.device_ordinal)));
    }
    const OptInt program = stats.program_id ? stats.program_id : metadata.program_id;
    facts.Add(XOp{.ts_ns = event.ts_ns,
                  .end_ns = end_ns,
                  .name = metadata.id,
                  .op = stats.op,
                  .program = facts.Program(program, device),
                  .flow = event.flow_out,
                  .run_id = stats.run_id,
                  .on_host = true});
    return absl::OkStatus();
  }
  if (event.flow_in != 0 && metadata.name.starts_with("end: ")) facts.EndOf(event.flow_in, end_ns);
  const XRole role = is_step ? XRole::kStep : metadata.user ? XRole::kScope : metadata.what.role;
  if (role == XRole::kNone) return absl::OkStatus();
  const int64_t array_bytes =
      role == XRole::kHostBuffer ? ArrayBytes(std::string(ShapeInHostBuffer(metadata.name))) : 0;
  facts.Add(XMark{.ts_ns = event.ts_ns,
                  .end_ns = end_ns,
                  .role = role,
                  .name = metadata.id,
                  .text = role == XRole::kGraphCompile ? stats.hash : stats.module,
                  .number = role == XRole::kStep      ? stats.step_number
                            : role == XRole::kEnqueue ? stats.run_id
                            : array_bytes > 0         ? array_bytes
                                                      : stats.size,
                  .device = stats.device_ordinal,
                  .track_id = line.track_id,
                  .offset = offset,
                  .front = line.front});
  return absl::OkStatus();
}

}  // namespace xlaprof

// Reads one event of a line: its time, category and flows, and what it says of the run.
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

}  // namespace

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
    case Key::kCorrelation:
      said->is_call = true;
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
    case Key::kEndless:
      said->is_endless = name.added;
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
Category XPlane::CategoryOf(const EventName& event, const LineState& line, bool is_root, bool is_op,
                            bool is_launch) const {
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

absl::StatusOr<StringId> XPlane::CategoryId(EventName& event, Category category) {
  if (!event.has_category) return file_.categories[size_t(category)];
  if (event.category_id == 0 && !event.category_text.empty()) {
    XP_TRY(event.category_id, file_.Intern(event.category_text));
  }
  return event.category_id;
}

absl::Status XPlane::ReadEvent(std::string_view bytes, LineState& line, XFacts& facts) {
  wire::Event in;
  Said said;
  arguments_.clear();
  const bool sound = wire::Decode(bytes, &in, [&](std::string_view message) {
    wire::Stat stat;
    wire::Decode(message, &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr) [[unlikely]]
      return;
    Note(*key, stat, &said);
    arguments_.emplace_back(key, stat);
  });
  if (!sound) [[unlikely]] {
    return file_.context.Issue("damaged_event", Severity::kWarning,
                               "Events that are not protobuf messages were left out.",
                               file_.Offset(bytes.data()));
  }
  const uint32_t index = event_ids_.Find(in.metadata_id);
  EventName* name = nullptr;
  if (index != UINT32_MAX) [[likely]] {
    name = &events_[index];
  } else {
    XP_TRY(name, AddNameless(in.metadata_id));
  }
  if (!name->resolved) XP_TRY(Resolve(*name));

  int64_t ts_ns = 0, end_ns = 0, end_ps = 0, origin_ns = 0;
  if (in.duration_ps < 0) [[unlikely]] {
    in.duration_ps = 0;
    XP_TRY(file_.context.Issue("negative_duration", Severity::kWarning,
                               "Events of negative duration were read as instants.",
                               file_.Offset(bytes.data())));
  }
  bool far = __builtin_add_overflow(line.timestamp_ns, line.shift_ns, &origin_ns) ||
             __builtin_add_overflow(in.offset_ps, in.duration_ps, &end_ps) ||
             __builtin_add_overflow(origin_ns, FloorToNs(in.offset_ps), &ts_ns) ||
             __builtin_add_overflow(origin_ns, FloorToNs(end_ps), &end_ns);
  if (far || ts_ns < -kMaxTimeNs || end_ns > kMaxTimeNs) [[unlikely]] {
    return file_.context.Issue("time_out_of_range", Severity::kWarning,
                               "Events with impossible times (decades away) were left out.",
                               file_.Offset(bytes.data()));
  }

  EventWriter& events = file_.context.events;
  if (in.aggregated) {
    // This is many occurrences without times: it becomes two samples of counters, not an event.
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

  // A host thread that calls a GPU's driver names the op that it launches. Only a CPU's client runs
  // ops on host threads, and these carry no number of a call.
  const bool has_op = said.has_op || name->has_op;
  const bool is_launch = has_op && said.is_call && !line.device;
  const bool is_op = has_op && !is_launch;
  const Category category = CategoryOf(*name, line, said.is_root, is_op, is_launch);
  const bool is_step = category == Category::kStep && !line.device;
  if (line.track_id < 0) [[unlikely]]
    XP_TRY(AddTrack(line));
  Event event{.ts_ns = ts_ns,
              .dur_ns = said.is_endless ? kUnknownDuration : end_ns - ts_ns,
              .name = name->id};
  XP_TRY(event.category, CategoryId(*name, category));
  if (said.produces) event.flow_out = file_.Flow(said.producer_type, said.producer_id);
  if (said.consumes) event.flow_in = file_.Flow(said.consumer_type, said.consumer_id);
  XP_TRY(events.Add(line.track_id, event));
  ++file_.event_count;
  if (category == Category::kPython) ++file_.python_count;
  if (name->last_track != line.track_id || name->per_event) {
    name->last_track = line.track_id;
    if (name->has_stats || name->long_name != 0) XP_TRY(GiveNameArguments(*name, line.track_id));
  }
  for (auto& [key, stat] : arguments_) {
    // The number of a flow is kept as the event's flow. A statistic that only repeats the event's
    // own time is left out (our own exporter left it out already).
    if (key->key == Key::kProducerId || key->key == Key::kConsumerId || key->added ||
        (key->key == Key::kDeviceOffset && stat.int64() == in.offset_ps && !name->has_category) ||
        (key->key == Key::kDeviceDuration && stat.int64() == in.duration_ps && !name->has_category))
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
    events.Arg(key->id, value);
    if (const Text* text = std::get_if<Text>(&value)) {
      if (key->key == Key::kGraphHash) said.hash = text->id;
      if (key->key == Key::kModuleName) said.module = text->id;
      if (key->key == Key::kHloOp) said.op = text->id;
    }
  }

  // Facts follow.
  int64_t offset = 0;
  auto where = [&] { return offset != 0 ? offset : offset = file_.Offset(bytes.data()); };
  if (line.device) {
    // Our own exporter writes the kernels inside of a program to the program's line.
    if (category == Category::kModule || category == Category::kOp) facts.SawDeviceWork();
    if (category == Category::kModule) {
      facts.Add(XModule{.ts_ns = ts_ns,
                        .end_ns = end_ns,
                        .program_id = ProgramIdOf(name->name),
                        .run_id = said.run_id,
                        .device_ordinal = device_ordinal_,
                        .device = device_,
                        .name = name->name,
                        .offset = where()});
    } else if (category == Category::kStep) {
      facts.AddDeviceStep(ts_ns, end_ns, name->id, where(), device_);
    } else if (category == Category::kOp && !has_modules_line_ && is_op) {
      const OptInt program = said.program_id ? said.program_id : name->program_id;
      facts.Add(XOp{.ts_ns = ts_ns,
                    .end_ns = end_ns,
                    .name = name->id,
                    .op = said.op,
                    .program = facts.Program(program, device_),
                    .run_id = said.run_id});
    }
    return absl::OkStatus();
  }
  if (is_op && !is_step) {
    StringId device = 0;
    if (said.device_ordinal > 0) {
      XP_TRY(device, file_.context.store.Intern(fmt::format("CPU:{}", said.device_ordinal)));
    }
    const OptInt program = said.program_id ? said.program_id : name->program_id;
    facts.Add(XOp{.ts_ns = ts_ns,
                  .end_ns = end_ns,
                  .name = name->id,
                  .op = said.op,
                  .program = facts.Program(program, device),
                  .flow = event.flow_out,
                  .run_id = said.run_id,
                  .on_host = true});
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

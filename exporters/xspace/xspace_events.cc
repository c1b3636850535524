#include "exporters/xspace/xspace_events.h"

#include <algorithm>

#include "exporters/timeline/merged_arguments.h"

namespace xlaprof {
namespace {

// Field numbers of XPlane, XLine and XEvent.
constexpr uint32_t kLine = 3;
constexpr uint32_t kLineId = 1, kLineName = 2, kLineTimestamp = 3, kLineEvent = 4,
                   kLineDisplayId = 10, kLineDisplayName = 11;
constexpr uint32_t kEventName = 1, kEventOffset = 2, kEventDuration = 3, kEventStat = 4;

// Line timestamps from here on would be taken as Unix times.
constexpr int64_t kEpochNs = 1'000'000'000'000'000;
// The largest time in ns that fits into picoseconds.
constexpr int64_t kMaxNs = INT64_MAX / 1000;

// Statistics that readers expect on the event itself, not on its name: XProf joins events by some
// of them, and our importer reads facts from others.
constexpr std::string_view kOnEvent[] = {"_pt",
                                         "_ct",
                                         "_r",
                                         "step_num",
                                         "_a",
                                         "run_id",
                                         "size",
                                         "module",
                                         "name",
                                         "device_ordinal",
                                         "graph_hash",
                                         "bytes_transferred",
                                         "correlation_id",
                                         "correlation"};

}  // namespace

XSpaceEvents::XSpaceEvents(const Store& store, int64_t origin_ns, int64_t end_ns, ProtoFile& file,
                           OrderedEvents events)
    : store_(&store),
      origin_ns_(origin_ns),
      end_ns_(end_ns),
      file_(&file),
      events_(std::move(events)),
      kernels_(store),
      step_(store.Find(TextOf(Category::kStep))),
      root_key_(store.Find("_r")),
      step_key_(store.Find("step_num")),
      producer_key_(store.Find("_pt")),
      consumer_key_(store.Find("_ct")),
      correlation_key_(store.Find("correlation")) {
  for (std::string_view key : kOnEvent) {
    if (StringId id = store.Find(key)) keys_on_event_.insert(id);
  }
}

absl::StatusOr<XSpaceEvents> XSpaceEvents::Make(const Store& store, int64_t origin_ns,
                                                int64_t end_ns, ProtoFile& file) {
  XP_TRY(OrderedEvents events, OrderedEvents::Make(store, kAllEventColumns & ~kDepth, true));
  XSpaceEvents made(store, origin_ns, end_ns, file, std::move(events));
  XP_TRY(store.Each("SELECT process_id, ts_ns, dur_ns, number FROM step WHERE ts_ns IS NOT NULL",
                    [&](OptInt process_id, int64_t ts_ns, OptInt dur_ns, OptInt number) {
                      made.steps_.try_emplace(
                          {process_id.value_or(0), ts_ns, dur_ns.value_or(kUnknownDuration)},
                          Step{number});
                    }));
  return made;
}

void XSpaceEvents::BeginLine(const XSpaceLine& line, int64_t first_ns) {
  int64_t relative_ns;
  if (__builtin_sub_overflow(first_ns, origin_ns_, &relative_ns)) relative_ns = 0;
  relative_ns = std::clamp<int64_t>(relative_ns, 0, kEpochNs - 1);
  line_ns_ = origin_ns_ + relative_ns;
  file_->Begin(kLine);
  field_.Clear();
  field_.Varint(kLineId, uint64_t(line.id));
  field_.Bytes(kLineName, ProtoString(line.name));
  field_.Varint(kLineTimestamp, uint64_t(relative_ns));
  if (line.display_id != 0) field_.Varint(kLineDisplayId, uint64_t(line.display_id));
  if (!line.display_name.empty()) field_.Bytes(kLineDisplayName, ProtoString(line.display_name));
  file_->Write(field_);
}

void XSpaceEvents::PutEvent(int64_t name, int64_t ts_ns, int64_t dur_ns, std::string_view stats) {
  int64_t offset_ns, end_ns;
  if (__builtin_sub_overflow(ts_ns, line_ns_, &offset_ns) ||
      __builtin_add_overflow(offset_ns, dur_ns, &end_ns) || offset_ns < -kMaxNs ||
      std::max(dur_ns, end_ns) > kMaxNs) {
    ++too_far_;
    return;
  }
  event_.Clear();
  event_.Varint(kEventName, uint64_t(name));
  event_.Varint(kEventOffset, uint64_t(offset_ns * 1000));
  if (dur_ns > 0) event_.Varint(kEventDuration, uint64_t(dur_ns * 1000));
  field_.Clear();
  field_.BytesHead(kLineEvent, event_.bytes().size() + stats.size());
  file_->Write(field_);
  file_->Write(event_);
  file_->Write(stats);
}

absl::Status XSpaceEvents::Line(const XSpacePlane& plane, const XSpaceLine& line,
                                XSpaceTables& tables) {
  XP_TRY(events_.Open(line.track_id));
  names_ = {};
  EventBatch batch;
  const ChunkArguments* arguments = nullptr;
  bool begun = false;
  while (file_->ok()) {
    XP_TRY(bool more, events_.Next(&batch, &arguments));
    if (!more) break;
    if (!begun) BeginLine(line, batch.ts_ns[0]);
    begun = true;
    names_.Open(batch.chunk_id, arguments->name_count());
    Batch(plane, batch, *arguments, tables);
    event_count_ += int64_t(batch.size);
  }
  if (begun) EndLine();
  return absl::OkStatus();
}

const XSpaceEvents::NameOfChunk& XSpaceEvents::NameOf(const EventBatch& batch, size_t i,
                                                      const ChunkArguments& arguments,
                                                      XSpaceTables& tables) {
  const size_t index = arguments.NameIndex(size_t(batch.first_index) + i);
  NameOfChunk& name = names_[index];
  if (name.made && name.category == batch.category[i]) return name;
  name.made = true;
  name.category = batch.category[i];
  name.on_event.clear();
  std::vector<Argument> shared;
  for (const Argument& argument : arguments.OfName(index))
    (keys_on_event_.contains(argument.key) ? name.on_event : shared).push_back(argument);
  name.number = tables.Name(batch.name[i], name.category, shared);
  return name;
}

const Argument* XSpaceEvents::Find(StringId key) const {
  if (key == 0) return nullptr;
  for (const Argument& argument : all_) {
    if (argument.key == key) return &argument;
  }
  return nullptr;
}

// Adds the ends of flows. XProf draws an arrow only if the types of both ends are equal, too; they
// are 0 unless the store has them. XProf reads types and steps as int, and takes a uint for 0.
void XSpaceEvents::AddFlows(uint64_t flow_in, uint64_t flow_out, XSpaceTables& tables) {
  if (flow_out != 0) {
    if (Find(producer_key_) == nullptr) tables.PutInt(kEventStat, tables.Added("_pt"), 0, stats_);
    tables.PutUint(kEventStat, tables.Added("_p"), flow_out, stats_);
  }
  if (flow_in != 0) {
    if (Find(consumer_key_) == nullptr) tables.PutInt(kEventStat, tables.Added("_ct"), 0, stats_);
    tables.PutUint(kEventStat, tables.Added("_c"), flow_in, stats_);
  }
}

int64_t XSpaceEvents::unmarked_steps() const {
  return std::count_if(steps_.begin(), steps_.end(),
                       [](const auto& entry) { return !entry.second.is_marked; });
}

// Adds the statistics that make an event a step for XProf. A device's line of steps needs none.
void XSpaceEvents::AddStep(const XSpacePlane& plane, int64_t ts_ns, int64_t dur_ns,
                           XSpaceTables& tables) {
  auto step = steps_.find({plane.process_id.value_or(0), ts_ns, dur_ns});
  if (step != steps_.end()) step->second.is_marked = true;
  if (plane.is_device) return;
  if (Find(root_key_) == nullptr) tables.PutInt(kEventStat, tables.Added("_r"), 1, stats_);
  if (Find(step_key_) != nullptr || step == steps_.end()) return;
  if (OptInt number = step->second.number; number && *number >= 0)
    tables.PutInt(kEventStat, tables.Added("step_num"), *number, stats_);
}

void XSpaceEvents::Batch(const XSpacePlane& plane, const EventBatch& batch,
                         const ChunkArguments& arguments, XSpaceTables& tables) {
  for (size_t i = 0; i < batch.size; ++i) {
    const size_t index = size_t(batch.first_index) + i;
    const NameOfChunk& name = NameOf(batch, i, arguments, tables);
    int64_t number = name.number;
    const std::span<const Argument> own = arguments.Own(index);
    if (arguments.keys_clash() && !own.empty()) {
      // The event's own value hides that of its name, so the name must not have it.
      all_ = MergedArguments(arguments, index);
      number = tables.Name(batch.name[i], batch.category[i], {});
    } else {
      all_.assign(own.begin(), own.end());
      all_.insert(all_.end(), name.on_event.begin(), name.on_event.end());
    }
    stats_.Clear();
    for (const Argument& argument : all_) tables.Put(kEventStat, argument, stats_);
    const uint64_t flow_in = batch.flow_in[i], flow_out = batch.flow_out[i];
    if ((flow_in | flow_out) != 0) AddFlows(flow_in, flow_out, tables);
    const int64_t ts_ns = batch.ts_ns[i];
    int64_t dur_ns = batch.dur_ns[i];
    if (step_ != 0 && batch.category[i] == step_) AddStep(plane, ts_ns, dur_ns, tables);
    // The number that Kineto gives a kernel and its launch.
    if (const Argument* launch = Find(correlation_key_);
        launch != nullptr && launch->value.index() == 0 && std::get<0>(launch->value) > 0)
      tables.PutInt(kEventStat, tables.Added("correlation_id"), std::get<0>(launch->value), stats_);
    if (plane.is_gpu()) {
      if (const std::string details =
              kernels_.Of(all_, arguments.OfName(arguments.NameIndex(index)));
          !details.empty())
        tables.PutString(kEventStat, tables.Added("kernel_details"), details, stats_);
    }
    if (dur_ns < 0) {
      // The event lasts to the end of the timeline, and is marked as endless.
      if (__builtin_sub_overflow(end_ns_, ts_ns, &dur_ns) || dur_ns < 0) dur_ns = 0;
      tables.PutUint(kEventStat, tables.Added("xlaprof_endless"), 1, stats_);
    }
    PutEvent(number, ts_ns, dur_ns, stats_.bytes());
  }
}

absl::Status XSpaceEvents::Counters(const XSpacePlane& plane, XSpaceTables& tables) {
  if (plane.counters.empty()) return absl::OkStatus();
  absl::flat_hash_map<int64_t, const XSpaceCounter*> counters;
  for (const XSpaceCounter& counter : plane.counters) counters[counter.track_id] = &counter;
  const int64_t key = tables.Added("counter_value");
  return EachCounterBatch(*store_, [&](const CounterBatch& batch) {
    auto found = counters.find(batch.track_id);
    if (found == counters.end() || batch.ts_ns.empty()) return absl::OkStatus();
    const XSpaceCounter& counter = *found->second;
    const int64_t name = tables.Name(counter.name);
    BeginLine({.id = counter.line_id, .name = counter.line_name}, batch.ts_ns[0]);
    for (size_t i = 0; i < batch.ts_ns.size(); ++i) {
      ProtoText stat;
      stat.Varint(1, uint64_t(key));
      stat.Double(2, batch.value[i]);
      stats_.Clear();
      stats_.Bytes(kEventStat, stat.bytes());
      PutEvent(name, batch.ts_ns[i], 0, stats_.bytes());
    }
    EndLine();
    return absl::OkStatus();
  });
}

}  // namespace xlaprof

#include "exporters/chrome/chrome_events.h"

#include "base/escape.h"
#include "exporters/output/json_text.h"
#include "exporters/timeline/merged_arguments.h"
#include "exporters/timeline/track_events.h"

namespace xlaprof {
namespace {

// The phase's offset in ChromeLane::head.
constexpr ptrdiff_t kPhaseAt = 9;
constexpr char kBeforeArguments[] = ",\"args\":{";
// Room for the numbers and literals of an event's record.
constexpr size_t kBesidePieces = 2 * kIntegerBytes + 20;

}  // namespace

ChromeEvents::ChromeEvents(const Store& store, TimelineLayout& layout, const FlowPairs& flows,
                           int64_t origin_ns, JsonWriter& json)
    : store_(store),
      layout_(layout),
      flows_(flows),
      has_flows_(flows.pair_count() > 0),
      origin_ns_(origin_ns),
      json_(json),
      names_(store, ",\"name\":", ""),
      categories_(store, ",\"cat\":", ""),
      keys_(store, ",", ":"),
      texts_(store, "", "") {}

void ChromeEvents::Metadata(int64_t pid, int64_t tid, std::string_view what, std::string_view key,
                            std::string_view value) {
  json_.Raw(fmt::format(
      ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}}}", pid, tid,
      what, key, value));
}

void ChromeEvents::NameThread(const TimelineTrack& track, int64_t tid, size_t lane, int64_t sort) {
  std::string name = track.name;
  if (lane > 0) name += fmt::format(" ({})", lane + 1);
  Metadata(track.pid, tid, "thread_name", "name", JsonString(name));
  Metadata(track.pid, tid, "thread_sort_index", "sort_index", fmt::to_string(sort));
}

absl::Status ChromeEvents::Track(const TimelineTrack& track, uint32_t rank) {
  lanes_ = Lanes();
  open_lanes_.clear();
  async_lanes_.clear();
  XP_TRY(OpenEventsOf(store_, track.track_id, has_flows_, events_));
  EventBatch batch;
  const ChunkArguments* arguments = nullptr;
  while (json_.ok()) {
    XP_TRY(bool more, events_->Next(&batch, &arguments));
    if (!more) break;
    fragments_.Open(batch.chunk_id, arguments->name_count());
    if (track.is_async) {
      AsyncBatch(track, batch, *arguments);
    } else {
      Batch(track, rank, batch, *arguments);
    }
    event_count_ += int64_t(batch.size);
  }
  for (AsyncLane& lane : async_lanes_) EndAsyncs(track, INT64_MAX, lane);
  return absl::OkStatus();
}

void ChromeEvents::OpenLanes(const TimelineTrack& track, size_t count, int64_t sort) {
  while (open_lanes_.size() < count) {
    const size_t next = open_lanes_.size();
    const int64_t tid = next == 0 ? track.tid : layout_.NewTid();
    NameThread(track, tid, next, sort + int64_t(next));
    open_lanes_.push_back(
        {tid,
         OwnPiece(fmt::format(",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":", track.pid, tid))});
  }
}

void ChromeEvents::Batch(const TimelineTrack& track, uint32_t rank, const EventBatch& batch,
                         const ChunkArguments& arguments) {
  // Keeps the lanes of a track together.
  const int64_t sort = int64_t(rank) << 20;
  for (size_t i = 0; i < batch.size; ++i) {
    const int64_t ts = batch.ts_ns[i], dur = batch.dur_ns[i];
    int64_t end = INT64_MAX;
    if (dur >= 0 && __builtin_add_overflow(ts, dur, &end)) end = INT64_MAX;
    const size_t lane_index = lanes_.Place(ts, end);
    if (lane_index >= open_lanes_.size()) OpenLanes(track, lane_index + 1, sort);
    const ChromeLane& lane = open_lanes_[lane_index];
    const NameFragment& fragment = FragmentOf(batch, i, arguments);
    const size_t index = size_t(batch.first_index) + i;
    const bool has_own = !arguments.Own(index).empty();
    const bool flows = has_flows_ && (batch.flow_in[i] | batch.flow_out[i]) != 0;
    const Piece head = lane.head.get();
    const Piece text =
        has_own ? fragment.text.get().First(fragment.name_size) : fragment.text.get();
    char* to = Put(json_.Room(head.size() + text.size() + kBesidePieces), head);
    to[kPhaseAt - ptrdiff_t(head.size())] = dur > 0 ? 'X' : dur == 0 ? 'i' : 'B';
    to = PutMicros(to, RelativeNs(ts));
    if (dur > 0) {
      to = PutMicros(Put(to, ",\"dur\":"), uint64_t(dur));
    } else if (dur == 0) {
      to = Put(to, ",\"s\":\"t\"");
    }
    to = Put(to, text);
    if (has_own || flows) {
      json_.EndAt(to);
      if (has_own) Arguments(arguments, index, fragment);
      if (flows) BindArrow(rank, batch, i);
      to = json_.Room(kBesidePieces);
    }
    json_.EndAt(Put(to, "}"));
    if (flows) ArrowRecords(lane, RelativeNs(ts));
  }
}

// Writes events that belong to no thread, with phases b and e. The events of one outermost event
// share its number.
void ChromeEvents::AsyncBatch(const TimelineTrack& track, const EventBatch& batch,
                              const ChunkArguments& arguments) {
  for (size_t i = 0; i < batch.size; ++i) {
    const int64_t ts = batch.ts_ns[i], dur = batch.dur_ns[i];
    int64_t end = INT64_MAX;
    if (dur >= 0 && __builtin_add_overflow(ts, dur, &end)) end = INT64_MAX;
    AsyncLane own;
    AsyncLane* const place = PlaceAsync(track, ts, end, batch.name[i]);
    AsyncLane& lane = place != nullptr ? *place : own;
    if (lane.open.empty()) lane.id = ++async_count_;
    const uint64_t start_ns = RelativeNs(ts);
    AsyncRecord('b', track, lane.id, start_ns, batch.category[i], batch.name[i]);
    const NameFragment& fragment = FragmentOf(batch, i, arguments);
    const size_t index = size_t(batch.first_index) + i;
    if (arguments.Own(index).empty()) {
      json_.Raw(fragment.text.get().Behind(fragment.name_size));
    } else {
      Arguments(arguments, index, fragment);
    }
    json_.Raw("}");
    lane.open.push_back({end, dur < 0, start_ns + uint64_t(dur), batch.category[i], batch.name[i]});
    if (dur == 0) EndAsyncs(track, ts, lane);
    EndAsyncs(track, INT64_MAX, own);
  }
}

// Finds a lane for an event. Events that have the track's name nest in no other event, as when they
// were imported.
ChromeEvents::AsyncLane* ChromeEvents::PlaceAsync(const TimelineTrack& track, int64_t ts_ns,
                                                  int64_t end_ns, StringId name) {
  constexpr size_t kMaxLanes = 32;
  const bool outermost = store_.Text(name) == track.name;
  AsyncLane* free = nullptr;
  for (AsyncLane& lane : async_lanes_) {
    EndAsyncs(track, ts_ns, lane);
    if (lane.open.empty()) {
      if (free == nullptr) free = &lane;
    } else if (!outermost && end_ns <= lane.open.back().end_ns) {
      return &lane;
    }
  }
  return free != nullptr || async_lanes_.size() == kMaxLanes ? free : &async_lanes_.emplace_back();
}

// Ends the events of a lane that end by `ts_ns`, the innermost first.
void ChromeEvents::EndAsyncs(const TimelineTrack& track, int64_t ts_ns, AsyncLane& lane) {
  while (!lane.open.empty() && lane.open.back().end_ns <= ts_ns) {
    const OpenAsync& last = lane.open.back();
    if (!last.endless) {
      AsyncRecord('e', track, lane.id, last.relative_end_ns, last.category, last.name);
      json_.Raw("}");
    }
    lane.open.pop_back();
  }
}

void ChromeEvents::AsyncRecord(char phase, const TimelineTrack& track, int64_t id,
                               uint64_t relative_ns, StringId category, StringId name) {
  json_.Raw(phase == 'b' ? ",\n{\"ph\":\"b\",\"pid\":" : ",\n{\"ph\":\"e\",\"pid\":");
  json_.Integer(track.pid);
  json_.Raw(",\"tid\":");
  json_.Integer(track.tid);
  json_.Raw(",\"id\":");
  json_.Integer(id);
  json_.Raw(",\"ts\":");
  json_.Micros(relative_ns);
  if (category != 0) {
    json_.Raw(categories_.Of(category));
  } else {
    json_.Raw(",\"cat\":\"\"");
  }
  json_.Raw(names_.Of(name));
}

inline const ChromeEvents::NameFragment& ChromeEvents::FragmentOf(const EventBatch& batch, size_t i,
                                                                  const ChunkArguments& arguments) {
  const size_t name = arguments.NameIndex(size_t(batch.first_index) + i);
  NameFragment& fragment = fragments_[name];
  if (!fragment.made || fragment.category != batch.category[i])
    MakeFragment(batch.category[i], batch.name[i], arguments.OfName(name), fragment);
  return fragment;
}

void ChromeEvents::MakeFragment(StringId category, StringId name,
                                std::span<const Argument> arguments, NameFragment& fragment) {
  std::string text;
  if (category != 0) text = categories_.Of(category);
  text += names_.Of(name);
  fragment.made = true;
  fragment.category = category;
  fragment.name_size = text.size();
  if (!arguments.empty()) {
    StringSink sink;
    JsonWriter json(sink, /*buffer_bytes=*/512);
    json.Raw(kBeforeArguments);
    Pairs(arguments, json);
    json.Raw("}");
    (void)json.Finish();
    text += sink.text;
  }
  fragment.text = OwnPiece(std::move(text));
}

void ChromeEvents::Arguments(const ChunkArguments& arguments, size_t index,
                             const NameFragment& fragment) {
  json_.Raw(kBeforeArguments);
  if (arguments.keys_clash()) {
    Pairs(MergedArguments(arguments, index), json_);
    return json_.Raw("}");
  }
  Pairs(arguments.Own(index), json_);
  const Piece of_name = fragment.text.get().Behind(fragment.name_size);
  if (of_name.empty()) return json_.Raw("}");
  json_.Raw(",");
  json_.Raw(of_name.Behind(sizeof kBeforeArguments - 1));
}

// Writes the keys and values of an object, without a comma before the first.
void ChromeEvents::Pairs(std::span<const Argument> arguments, JsonWriter& json) {
  size_t comma = 1;
  int repeats = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    repeats = i > 0 && argument.key == arguments[i - 1].key ? repeats + 1 : 0;
    if (repeats == 0) {
      json.Raw(keys_.Of(argument.key).Behind(comma));
    } else {
      json.Raw(",");
      json.Raw(JsonString(fmt::format("{} ({})", store_.Text(argument.key), repeats + 1)));
      json.Raw(":");
    }
    comma = 0;
    Value(argument.value, json);
  }
}

inline void ChromeEvents::Value(const ArgValue& value, JsonWriter& json) {
  switch (value.index()) {
    case 0:
      return json.Integer(std::get<0>(value));
    case 1:
      return json.Unsigned(std::get<1>(value));
    case 2:
      return json.Real(std::get<2>(value));
    case 3:
      return json.Raw(texts_.Of(std::get<Text>(value).id));
    default:
      json.Raw("\"");
      json.Raw(Hex(store_.Text(std::get<Bytes>(value).id)));
      json.Raw("\"");
  }
}

void ChromeEvents::BindArrow(uint32_t rank, const EventBatch& batch, size_t i) {
  arrows_.clear();
  FlowPairs::End end{.flow = batch.flow_in[i],
                     .ts_ns = batch.ts_ns[i],
                     .track_rank = rank,
                     .is_target = true,
                     .event_id = batch.first_event_id + int64_t(i)};
  auto add = [&](char phase, FlowPairs::Arrow arrow) {
    if (arrow.number == 0) return;
    if (!arrow.on_event) return arrows_.push_back({phase, arrow.number});
    json_.Raw(",\"bind_id\":");
    json_.Unsigned(arrow.number);
    json_.Raw(phase == 'f' ? ",\"flow_in\":true" : ",\"flow_out\":true");
  };
  if (end.flow != 0) flows_.EachArrowTo(end, [&](FlowPairs::Arrow arrow) { add('f', arrow); });
  end.flow = batch.flow_out[i];
  end.is_target = false;
  if (end.flow != 0) add('s', flows_.ArrowFrom(end));
}

// Writes arrow records directly after their event and with its time, because readers bind them to
// the innermost event that is open then.
void ChromeEvents::ArrowRecords(const ChromeLane& lane, uint64_t relative_ns) {
  for (ArrowEnd arrow : arrows_) {
    const Piece head = lane.head.get();
    char* to = Put(json_.Room(head.size() + kBesidePieces), head);
    to[kPhaseAt - ptrdiff_t(head.size())] = arrow.phase;
    json_.EndAt(PutMicros(to, relative_ns));
    json_.Raw(",\"id\":");
    json_.Unsigned(arrow.number);
    json_.Raw(arrow.phase == 'f' ? ",\"bp\":\"e\",\"cat\":\"flow\",\"name\":\"flow\"}"
                                 : ",\"cat\":\"flow\",\"name\":\"flow\"}");
  }
}

}  // namespace xlaprof

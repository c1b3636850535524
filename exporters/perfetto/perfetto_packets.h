// Writes the packets of a Perfetto trace: docs/formats/perfetto_export.md. All belong to one
// sequence. Interned texts have the store's ids and stay valid to the end of the file.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/output/proto_text.h"
#include "exporters/output/sink_buffer.h"
#include "exporters/timeline/marks.h"
#include "exporters/timeline/timeline_layout.h"
#include "profiler/store/events.h"

namespace xlaprof {

class PerfettoPackets {
 public:
  // The types of a TrackEvent.
  enum class Type : char { kBegin = 1, kInstant = 3, kCounter = 4 };

  // `store` and `sink` must outlive this object. `epoch_ns` is the Unix time of the trace's 0, if
  // it is known. `origin` is a text that readers leave unread.
  PerfettoPackets(const Store& store, Sink& sink, OptInt epoch_ns, std::string_view origin);

  // Write tracks. Each has its own uuid, by which its events and children refer to it, and precedes
  // them in the file. `rank` orders processes, or the threads of one; the lowest is at the top.
  uint64_t Process(const TimelineProcess& process, uint32_t rank);
  uint64_t Thread(int64_t pid, int64_t tid, std::string_view name, uint32_t rank);
  // Writes a track that belongs to no process, for children in the order of their names. Perfetto's
  // viewer shows such tracks above all processes, which it orders by their number of slices.
  uint64_t Group(std::string_view name);
  // Writes a track that belongs to no thread.
  uint64_t Child(uint64_t parent, std::string_view name);
  // Writes a counter track, with the unit from the end of its name: "memory in use (bytes)".
  uint64_t Counter(uint64_t parent, std::string_view name);

  // Append fields of a TrackEvent to `to`: track, name, categories, arguments, flows. A packet with
  // a text that is new to the trace is written at once, so that it precedes the event.
  static void Track(uint64_t uuid, ProtoText& to);
  void Name(StringId name, StringId category, ProtoText& to);
  void Arguments(std::span<const Argument> arguments, ProtoText& to);
  static void Name(std::string_view name, std::string_view category, ProtoText& to);
  static void Arguments(std::span<const MarkArgument> arguments, ProtoText& to);
  static void Value(double counter, ProtoText& to);
  // Append one end of a flow. Each flow between two events has its own number. Its beginning must
  // precede its end in the file or in time.
  static void FlowFrom(uint64_t number, ProtoText& to);
  static void FlowTo(uint64_t number, ProtoText& to);

  // Writes an event with those fields. Call Event and End of a track in order of time. Each end
  // belongs to the last beginning on its track without an end.
  void Event(Type type, uint64_t ts_ns, Piece track, Piece fields, std::string_view more = {});
  // Writes the end of an event. `end` is EndOf(uuid) of its track.
  void End(uint64_t ts_ns, Piece end);
  static OwnPiece EndOf(uint64_t uuid);

  // Writes everything to the sink, and returns the first error.
  absl::Status Finish() { return buffer_.Finish(); }
  bool ok() const { return buffer_.ok(); }

 private:
  // Field numbers of InternedData.
  enum Texts : uint32_t { kCategories = 1, kNames = 2, kKeys = 3, kValues = 29 };
  class Seen {
   public:
    bool Add(StringId id);  // returns true if the id is new

   private:
    std::vector<bool> dense_;
    absl::flat_hash_set<StringId> far_;  // ids from a damaged file, perhaps
  };
  // Writes the text if it is new, and returns its number in the trace, which is its id in the
  // store.
  uint64_t Interned(Texts kind, Seen& seen, StringId id);
  std::pair<uint32_t, uint64_t> Short(const ArgValue& value);
  uint64_t AddTrack(ProtoText& descriptor);
  void Packet(const ProtoText& packet);

  const Store& store_;
  SinkBuffer buffer_;
  Seen categories_, names_, keys_, values_;
  ProtoText argument_;  // the argument being written
  uint64_t last_uuid_ = 0;
};

[[gnu::always_inline]] inline void PerfettoPackets::Event(Type type, uint64_t ts_ns, Piece track,
                                                          Piece fields, std::string_view more) {
  // The packet is Trace.packet{timestamp, trusted_packet_sequence_id 1, sequence_flags
  // NEEDS_INCREMENTAL_STATE, track_event{type, ...}}.
  const size_t event = 2 + track.size() + fields.size() + more.size();
  const size_t packet = 1 + VarintBytes(ts_ns) + 4 + 1 + VarintBytes(event) + event;
  char* to = buffer_.Room(packet + 11);
  *to++ = 0x0a;
  to = PutVarint(to, packet);
  *to++ = 0x40;
  to = PutVarint(to, ts_ns);
  to = Put(to, "\x50\x01\x68\x02\x5a");
  to = PutVarint(to, event);
  *to++ = 0x48;
  *to++ = char(type);
  to = Put(to, track);
  to = Put(to, fields);
  if (!more.empty()) std::memcpy(to, more.data(), more.size());
  buffer_.EndAt(to + more.size());
}

inline void PerfettoPackets::End(uint64_t ts_ns, Piece end) {
  const size_t packet = 1 + VarintBytes(ts_ns) + end.size();
  char* to = buffer_.Room(packet + 11);
  *to++ = 0x0a;
  to = PutVarint(to, packet);
  *to++ = 0x40;
  buffer_.EndAt(Put(PutVarint(to, ts_ns), end));
}

}  // namespace xlaprof

// Decodes the messages of a Perfetto trace in place (protobuf_wire.h). Field numbers are those of protos/perfetto/trace.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/import/protobuf_wire.h"

namespace xlaprof::pftrace {

// Calls fn(value) for each number of a repeated field, of which `in` has read one: a single number,
// or a packed list. Numbers of kType fixed64 and varint only.
template <wire::Type kType, class Fn>
void EachNumber(const wire::Reader& in, Fn&& fn) {
  if (in.type() == kType) {
    fn(in.uint());
    return;
  }
  if (in.type() != wire::kBytes) return;
  // A packed list has no tags. Each number is read as the field of a message that has one.
  std::string_view rest = in.bytes();
  if constexpr (kType == wire::kFixed64) {
    for (; rest.size() >= 8; rest.remove_prefix(8)) {
      uint64_t value;
      std::memcpy(&value, rest.data(), 8);
      fn(value);
    }
  } else {
    uint64_t value = 0;
    int shift = 0;
    for (const char byte : rest) {
      if (shift < 64) value |= uint64_t(uint8_t(byte) & 0x7f) << shift;
      shift += 7;
      if ((uint8_t(byte) & 0x80) != 0) continue;
      fn(value);
      value = 0, shift = 0;
    }
  }
}

// The clocks that Perfetto itself knows. Numbers from 64 to 127 belong to one sequence.
enum BuiltinClock : uint32_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6 };
inline constexpr uint32_t kFirstSequenceClock = 64, kLastSequenceClock = 127;

enum SequenceFlags : uint64_t { kStateCleared = 1, kNeedsState = 2 };

// TracePacket. Members that are not given are empty or 0.
struct Packet {
  bool has_timestamp = false, dropped = false;
  uint64_t timestamp = 0, flags = 0;
  uint32_t clock = 0, sequence = 0;
  std::string_view event, interned, defaults, snapshot, track, thread, compressed;
  bool has_defaults = false;
  uint32_t other = 0;  // number of a field with data of another kind

  bool cleared() const { return (flags & kStateCleared) != 0; }
};
// These return false if the message cannot be read; what was read until there is kept.
bool Decode(std::string_view message, Packet* packet);

// TrackEvent.
enum class EventType : uint8_t { kNone = 0, kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

// LegacyEvent: phases of Chrome's format.
struct LegacyEvent {
  char phase = 0;
  uint64_t name_iid = 0;
  int64_t duration_us = -1;
  bool has_id = false;  // it is an asynchronous event or a flow
};
bool Decode(std::string_view message, LegacyEvent* legacy);

struct TrackEvent {
  // More arguments on one event are damage and would cost quadratic time, so they are left out.
  static constexpr size_t kMaxArguments = 1024;
  static constexpr size_t kMaxCategories = 16;

  EventType type = EventType::kNone;
  uint32_t unknown_type = 0;  // a type that is none of the above
  bool has_track = false, has_counter = false, left_out = false;
  bool has_delta = false, has_absolute = false;
  uint64_t track = 0, name_iid = 0;
  int64_t delta_us = 0, absolute_us = 0;
  double counter = 0;
  std::string_view name, legacy;
  bool has_name = false, has_legacy = false;
  std::vector<uint64_t> category_iids;
  std::vector<std::string_view> categories, arguments;
  std::vector<uint64_t> flows, last_flows;
  std::vector<uint64_t> extra_tracks;
  std::vector<double> extra_values;

  void Clear();
};
bool Decode(std::string_view message, TrackEvent* event);

// ClockSnapshot.Clock.
struct Clock {
  uint32_t id = 0;
  uint64_t timestamp = 0, multiplier_ns = 1;
  bool incremental = false;
};
bool Decode(std::string_view message, Clock* clock);

// TrackDescriptor, with what its messages for a process, a thread and a counter say.
struct TrackDescriptor {
  uint64_t uuid = 0, parent = 0;
  std::string_view name;
  bool has_parent = false, is_process = false, is_thread = false, is_counter = false;
  int32_t pid = 0, rank = 0;
  int64_t tid = 0;
  std::string_view process_name, thread_name;
  std::vector<std::string_view> labels;
  uint64_t unit = 0;
  std::string_view unit_name;
  int64_t multiplier = 1;
  bool incremental = false;
};
bool Decode(std::string_view message, TrackDescriptor* track);

// ThreadDescriptor, as a packet of its own: it tells what thread a sequence is about.
struct Thread {
  int32_t pid = 0;
  int64_t tid = 0, reference_us = 0;
  std::string_view name;
};
bool Decode(std::string_view message, Thread* thread);

// TracePacketDefaults, and TrackEventDefaults in it.
struct Defaults {
  uint32_t clock = 0;
  bool has_track = false;
  uint64_t track = 0;
  std::vector<uint64_t> extra_tracks;
};
bool Decode(std::string_view message, Defaults* defaults);

// An entry of InternedData: 1 iid, 2 text.
struct InternedText {
  uint64_t iid = 0;
  std::string_view text;
};
bool Decode(std::string_view message, InternedText* text);

// DebugAnnotation, an argument of an event.
struct Annotation {
  enum Kind : uint8_t {
    kNone,
    kBool,
    kUint,
    kInt,
    kDouble,
    kText,
    kTextIid,
    kPointer,
    kNested,
    kJson,
    kMessage,
    kDict,
    kArray
  };
  uint64_t name_iid = 0, number = 0;
  std::string_view name, text;
  Kind kind = kNone;
};
bool Decode(std::string_view message, Annotation* annotation);

}  // namespace xlaprof::pftrace

// Decodes the messages of an XSpace.
#pragma once

#include "profiler/import/protobuf_wire.h"

namespace xlaprof::wire {

// XStat: 1 metadata_id, and one of 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref (id of a stat
// metadata, whose name is the value), 8 compressed_str (gzip).
struct Stat {
  enum Kind : uint8_t { kNone, kDouble, kUint, kInt, kText, kBytes, kRef, kGzip };
  int64_t metadata_id = 0;
  Kind kind = kNone;
  uint64_t number = 0;  // for kDouble, its bits
  std::string_view bytes;
  double real() const { return std::bit_cast<double>(number); }
  int64_t int64() const { return int64_t(number); }
};
// Returns false if the message cannot be read; what was read until there is kept.
inline bool Decode(std::string_view message, Stat* stat) {
  Reader in(message);
  *stat = {};
  auto set = [&](Stat::Kind kind) { stat->kind = kind, stat->number = in.uint(); };
  auto set_bytes = [&](Stat::Kind kind) { stat->kind = kind, stat->bytes = in.bytes(); };
  while (in.Next()) {
    switch (in.number() << 3 | in.type()) {
      case 1 << 3 | kVarint:
        stat->metadata_id = in.int64();
        break;
      case 2 << 3 | kFixed64:
        set(Stat::kDouble);
        break;
      case 3 << 3 | kVarint:
        set(Stat::kUint);
        break;
      case 4 << 3 | kVarint:
        set(Stat::kInt);
        break;
      case 5 << 3 | kBytes:
        set_bytes(Stat::kText);
        break;
      case 6 << 3 | kBytes:
        set_bytes(Stat::kBytes);
        break;
      case 7 << 3 | kVarint:
        set(Stat::kRef);
        break;
      case 8 << 3 | kBytes:
        set_bytes(Stat::kGzip);
        break;
      default:
        break;
    }
  }
  return !in.bad() && !in.cut();
}

// XEvent: 1 metadata_id, 2 offset_ps or 5 num_occurrences, 3 duration_ps, 4 stats*.
struct Event {
  int64_t metadata_id = 0;
  int64_t offset_ps = 0, duration_ps = 0;
  int64_t occurrences = 0;
  bool aggregated = false;  // num_occurrences was given: it has no time of its own
};
// Calls each_stat(message) for each statistic. Returns false if the event cannot be read; what was
// read until there is kept.
template <class EachStat>
bool Decode(std::string_view message, Event* event, EachStat&& each_stat) {
  Reader in(message);
  *event = {};
  while (in.Next()) {
    switch (in.number() << 3 | in.type()) {
      case 1 << 3 | kVarint:
        event->metadata_id = in.int64();
        break;
      case 2 << 3 | kVarint:
        event->offset_ps = in.int64(), event->aggregated = false;
        break;
      case 3 << 3 | kVarint:
        event->duration_ps = in.int64();
        break;
      case 5 << 3 | kVarint:
        event->occurrences = in.int64(), event->aggregated = true;
        break;
      case 4 << 3 | kBytes:
        each_stat(in.bytes());
        break;
      default:
        break;
    }
  }
  return !in.bad() && !in.cut();
}

// Decodes name, start and length only. It stops when it has met all three, which mostly come first.
inline void DecodeHead(std::string_view message, Event* event) {
  Reader in(message);
  *event = {};
  for (uint32_t missing = 1 << 1 | 1 << 2 | 1 << 3; missing != 0 && in.Next();) {
    if (in.type() != kVarint || in.number() > 3) continue;
    if (in.number() == 1) event->metadata_id = in.int64();
    if (in.number() == 2) event->offset_ps = in.int64();
    if (in.number() == 3) event->duration_ps = in.int64();
    missing &= ~(1u << in.number());
  }
}

// XEventMetadata: 1 id, 2 name, 3 metadata, 4 display_name, 5 stats*, 6 child_id*.
struct EventMetadata {
  std::string_view name, display_name;
};
inline bool Decode(std::string_view message, EventMetadata* metadata) {
  return DecodeFields<Field<2, &EventMetadata::name>, Field<4, &EventMetadata::display_name>>(
      message, metadata);
}

// XStatMetadata: 1 id, 2 name, 3 description.
struct StatMetadata {
  std::string_view name, description;
};
inline bool Decode(std::string_view message, StatMetadata* metadata) {
  return DecodeFields<Field<2, &StatMetadata::name>, Field<3, &StatMetadata::description>>(
      message, metadata);
}

// Entry of a map<int64, message>: 1 key, 2 value.
struct MapEntry {
  int64_t key = 0;
  std::string_view value;
};
inline bool Decode(std::string_view message, MapEntry* entry) {
  return DecodeFields<Field<1, &MapEntry::key>, Field<2, &MapEntry::value>>(message, entry);
}

// XLine without its events: 1 id, 2 name, 3 timestamp_ns, 4 events*, 9 duration_ps, 10 display_id,
// 11 display_name.
struct Line {
  int64_t id = 0, timestamp_ns = 0, display_id = 0;
  std::string_view name, display_name;
  int64_t events = 0;
};
inline bool Decode(std::string_view message, Line* line) {
  return DecodeFields<Field<1, &Line::id>, Field<2, &Line::name>, Field<3, &Line::timestamp_ns>,
                      Field<10, &Line::display_id>, Field<11, &Line::display_name>>(
      message, line, [&](const Reader& in) { line->events += in.Is(4, kBytes); });
}

}  // namespace xlaprof::wire

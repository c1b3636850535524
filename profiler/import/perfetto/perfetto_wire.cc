#include "profiler/import/perfetto/perfetto_wire.h"

namespace xlaprof::pftrace {
namespace {

using wire::kBytes;
using wire::kFixed64;
using wire::kVarint;
using wire::Reader;

bool IsWhole(const Reader& in) { return !in.bad() && !in.cut(); }

constexpr uint32_t Field(uint32_t number, wire::Type type) { return number << 3 | type; }
uint32_t FieldOf(const Reader& in) { return in.number() << 3 | in.type(); }

// Packets about the recording itself, which hold nothing to show: synchronization_marker,
// trace_config, ftrace_stats, trace_stats, trigger, service_event, trace_uuid,
// clone_snapshot_trigger, and others of that kind.
bool IsAboutRecording(uint32_t number) {
  switch (number) {
    case 33:
    case 34:
    case 35:
    case 36:
    case 45:
    case 46:
    case 69:
    case 89:
    case 99:
      return true;
    default:
      return false;
  }
}

// Fields of TracePacket that describe the packet: trusted_uid, first_packet_on_sequence,
// trusted_pid, machine_id and the like.
bool IsOfPacket(uint32_t number) {
  switch (number) {
    case 3:
    case 79:
    case 87:
    case 88:
    case 98:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Decode(std::string_view message, Packet* packet) {
  Reader in(message);
  *packet = {};
  while (in.Next()) {
    switch (FieldOf(in)) {
      case Field(6, kBytes):
        packet->snapshot = in.bytes();
        break;
      case Field(8, kVarint):
        packet->timestamp = in.uint(), packet->has_timestamp = true;
        break;
      case Field(10, kVarint):
        packet->sequence = uint32_t(in.uint());
        break;
      case Field(11, kBytes):
        packet->event = in.bytes();
        break;
      case Field(12, kBytes):
        packet->interned = in.bytes();
        break;
      case Field(13, kVarint):
        packet->flags |= in.uint();
        break;
      case Field(41, kVarint):  // incremental_state_cleared, as it was written before the flags
        if (in.uint() != 0) packet->flags |= kStateCleared;
        break;
      case Field(42, kVarint):
        packet->dropped = in.uint() != 0;
        break;
      case Field(44, kBytes):
        packet->thread = in.bytes();
        break;
      case Field(50, kBytes):
        packet->compressed = in.bytes();
        break;
      case Field(58, kVarint):
        packet->clock = uint32_t(in.uint());
        break;
      case Field(59, kBytes):
        packet->defaults = in.bytes(), packet->has_defaults = true;
        break;
      case Field(60, kBytes):
        packet->track = in.bytes();
        break;
      default:
        if (!IsOfPacket(in.number()) && !IsAboutRecording(in.number())) packet->other = in.number();
    }
  }
  return IsWhole(in);
}

void TrackEvent::Clear() {
  type = EventType::kNone;
  unknown_type = 0;
  has_track = has_counter = left_out = has_delta = has_absolute = has_name = has_legacy = false;
  track = name_iid = 0;
  delta_us = absolute_us = 0;
  counter = 0;
  name = legacy = {};
  category_iids.clear();
  categories.clear();
  arguments.clear();
  flows.clear();
  last_flows.clear();
  extra_tracks.clear();
  extra_values.clear();
}

bool Decode(std::string_view message, TrackEvent* event) {
  Reader in(message);
  event->Clear();
  // More numbers than this on one event are damage.
  constexpr size_t kMaxNumbers = 1 << 16;
  auto add = [](auto& list) {
    return [&list](uint64_t value) {
      if (list.size() < kMaxNumbers) list.push_back(value);
    };
  };
  while (in.Next()) {
    // The cases up to kDone are those of most events.
    switch (FieldOf(in)) {
      case Field(9, kVarint):
        if (in.uint() <= uint64_t(EventType::kCounter)) {
          event->type = EventType(in.uint());
        } else {
          event->unknown_type = uint32_t(in.uint());
        }
        continue;
      case Field(10, kVarint):
        event->name_iid = in.uint();
        continue;
      case Field(11, kVarint):
        event->track = in.uint(), event->has_track = true;
        continue;
      case Field(4, kBytes):
        if (event->arguments.size() < TrackEvent::kMaxArguments) {
          event->arguments.push_back(in.bytes());
        } else {
          event->left_out = true;
        }
        continue;
      case Field(23, kBytes):
        event->name = in.bytes(), event->has_name = true;
        continue;
      case Field(22, kBytes):
        if (event->categories.size() < TrackEvent::kMaxCategories)
          event->categories.push_back(in.bytes());
        continue;
      case Field(1, kVarint):
        event->delta_us = in.int64(), event->has_delta = true;
        continue;
      case Field(16, kVarint):
        event->absolute_us = in.int64(), event->has_absolute = true;
        continue;
      case Field(6, kBytes):
        event->legacy = in.bytes(), event->has_legacy = true;
        continue;
      case Field(30, kVarint):
        event->counter = double(in.int64()), event->has_counter = true;
        continue;
      case Field(44, kFixed64):
        event->counter = in.real(), event->has_counter = true;
        continue;
      default:
        break;
    }
    switch (in.number()) {
      case 3:
        EachNumber<kVarint>(in, [&](uint64_t iid) {
          if (event->category_iids.size() < TrackEvent::kMaxCategories)
            event->category_iids.push_back(iid);
        });
        break;
      case 36:  // flow_ids and terminating_flow_ids, as varints until 2021
        EachNumber<kVarint>(in, add(event->flows));
        break;
      case 42:
        EachNumber<kVarint>(in, add(event->last_flows));
        break;
      case 47:
        EachNumber<kFixed64>(in, add(event->flows));
        break;
      case 48:
        EachNumber<kFixed64>(in, add(event->last_flows));
        break;
      case 31:
      case 45:
        EachNumber<kVarint>(in, add(event->extra_tracks));
        break;
      case 12:
        EachNumber<kVarint>(in, [&](uint64_t value) {
          if (event->extra_values.size() < kMaxNumbers)
            event->extra_values.push_back(double(int64_t(value)));
        });
        break;
      case 46:
        EachNumber<kFixed64>(in, [&](uint64_t value) {
          if (event->extra_values.size() < kMaxNumbers)
            event->extra_values.push_back(std::bit_cast<double>(value));
        });
        break;
      default:
        break;
    }
  }
  return IsWhole(in);
}

bool Decode(std::string_view message, LegacyEvent* legacy) {
  Reader in(message);
  *legacy = {};
  while (in.Next()) {
    switch (FieldOf(in)) {
      case Field(1, kVarint):
        legacy->name_iid = in.uint();
        break;
      case Field(2, kVarint):
        legacy->phase = char(in.uint());
        break;
      case Field(3, kVarint):
        legacy->duration_us = in.int64();
        break;
      case Field(6, kVarint):
      case Field(10, kVarint):
      case Field(11, kVarint):
      case Field(8, kVarint):
        legacy->has_id = true;
        break;
      default:
        break;
    }
  }
  return IsWhole(in);
}

bool Decode(std::string_view message, Clock* clock) {
  Reader in(message);
  *clock = {};
  while (in.Next()) {
    switch (FieldOf(in)) {
      case Field(1, kVarint):
        clock->id = uint32_t(in.uint());
        break;
      case Field(2, kVarint):
        clock->timestamp = in.uint();
        break;
      case Field(3, kVarint):
        clock->incremental = in.uint() != 0;
        break;
      case Field(4, kVarint):
        clock->multiplier_ns = in.uint();
        break;
      default:
        break;
    }
  }
  return IsWhole(in);
}

namespace {

void DecodeProcess(std::string_view message, TrackDescriptor* track) {
  Reader in(message);
  track->is_process = true;
  constexpr size_t kMaxLabels = 64;
  while (in.Next()) {
    if (in.Is(1, kVarint)) track->pid = int64_t(int32_t(in.uint()));
    if (in.Is(6, kBytes)) track->process_name = in.bytes();
    if (in.Is(8, kBytes) && track->labels.size() < kMaxLabels) track->labels.push_back(in.bytes());
  }
}

void DecodeThread(std::string_view message, TrackDescriptor* track) {
  Reader in(message);
  track->is_thread = true;
  while (in.Next()) {
    if (in.Is(1, kVarint)) track->pid = int64_t(int32_t(in.uint()));
    if (in.Is(2, kVarint)) track->tid = in.int64();
    if (in.Is(5, kBytes)) track->thread_name = in.bytes();
  }
}

void DecodeCounter(std::string_view message, TrackDescriptor* track) {
  Reader in(message);
  track->is_counter = true;
  while (in.Next()) {
    if (in.Is(3, kVarint)) track->unit = in.uint();
    if (in.Is(4, kVarint)) track->multiplier = in.int64();
    if (in.Is(5, kVarint)) track->incremental = in.uint() != 0;
    if (in.Is(6, kBytes)) track->unit_name = in.bytes();
  }
}

}  // namespace

bool Decode(std::string_view message, TrackDescriptor* track) {
  Reader in(message);
  *track = {};
  while (in.Next()) {
    switch (FieldOf(in)) {
      case Field(1, kVarint):
        track->uuid = in.uint();
        break;
      case Field(2, kBytes):
      case Field(10, kBytes):  // static_name
      case Field(13, kBytes):  // atrace_name
        track->name = in.bytes();
        break;
      case Field(3, kBytes):
        DecodeProcess(in.bytes(), track);
        break;
      case Field(4, kBytes):
        DecodeThread(in.bytes(), track);
        break;
      case Field(5, kVarint):
        track->parent = in.uint(), track->has_parent = true;
        break;
      case Field(8, kBytes):
        DecodeCounter(in.bytes(), track);
        break;
      case Field(12, kVarint):
        track->rank = int64_t(int32_t(in.uint()));
        break;
      default:
        break;
    }
  }
  return IsWhole(in);
}

bool Decode(std::string_view message, Thread* thread) {
  Reader in(message);
  *thread = {};
  while (in.Next()) {
    if (in.Is(1, kVarint)) thread->pid = int64_t(int32_t(in.uint()));
    if (in.Is(2, kVarint)) thread->tid = in.int64();
    if (in.Is(5, kBytes)) thread->name = in.bytes();
    if (in.Is(6, kVarint)) thread->reference_us = in.int64();
  }
  return IsWhole(in);
}

bool Decode(std::string_view message, Defaults* defaults) {
  Reader in(message);
  *defaults = {};
  constexpr size_t kMaxTracks = 64;
  while (in.Next()) {
    if (in.Is(58, kVarint)) defaults->clock = uint32_t(in.uint());
    if (!in.Is(11, kBytes)) continue;
    Reader event(in.bytes());
    while (event.Next()) {
      if (event.Is(11, kVarint)) defaults->track = event.uint(), defaults->has_track = true;
      if (event.number() != 31 && event.number() != 45) continue;
      EachNumber<kVarint>(event, [&](uint64_t uuid) {
        if (defaults->extra_tracks.size() < kMaxTracks) defaults->extra_tracks.push_back(uuid);
      });
    }
  }
  return IsWhole(in);
}

bool Decode(std::string_view message, InternedText* text) {
  Reader in(message);
  *text = {};
  while (in.Next()) {
    if (in.Is(1, kVarint)) text->iid = in.uint();
    if (in.Is(2, kBytes)) text->text = in.bytes();
  }
  return IsWhole(in);
}

bool Decode(std::string_view message, Annotation* annotation) {
  Reader in(message);
  *annotation = {};
  auto number = [&](Annotation::Kind kind) {
    annotation->kind = kind, annotation->number = in.uint();
  };
  auto text = [&](Annotation::Kind kind) {
    annotation->kind = kind, annotation->text = in.bytes();
  };
  while (in.Next()) {
    switch (FieldOf(in)) {
      case Field(1, kVarint):
        annotation->name_iid = in.uint();
        break;
      case Field(2, kVarint):
        number(Annotation::kBool);
        break;
      case Field(3, kVarint):
        number(Annotation::kUint);
        break;
      case Field(4, kVarint):
        number(Annotation::kInt);
        break;
      case Field(5, kFixed64):
        number(Annotation::kDouble);
        break;
      case Field(6, kBytes):
        text(Annotation::kText);
        break;
      case Field(7, kVarint):
        number(Annotation::kPointer);
        break;
      case Field(8, kBytes):
        text(Annotation::kNested);
        break;
      case Field(9, kBytes):
        text(Annotation::kJson);
        break;
      case Field(10, kBytes):
        annotation->name = in.bytes();
        break;
      case Field(11, kBytes):  // entries are read from the whole message
        annotation->kind = Annotation::kDict, annotation->text = message;
        break;
      case Field(12, kBytes):
        annotation->kind = Annotation::kArray, annotation->text = message;
        break;
      case Field(14, kBytes):
        text(Annotation::kMessage);
        break;
      case Field(17, kVarint):
        number(Annotation::kTextIid);
        break;
      default:
        break;
    }
  }
  return IsWhole(in);
}

}  // namespace xlaprof::pftrace

#include "profiler/import/perfetto/perfetto_wire.h"

#include <algorithm>
#include <iterator>

namespace xlaprof::pftrace {
namespace {

using wire::Field;
using wire::kBytes;
using wire::kFixed64;
using wire::kVarint;
using wire::Reader;

// Packets about the recording itself, which hold nothing to show: synchronization_marker,
// trace_config, ftrace_stats, trace_stats, trigger, service_event, trace_uuid,
// clone_snapshot_trigger, and others of that kind.
constexpr uint32_t kAboutRecording[] = {33, 34, 35, 36, 45, 46, 69, 89, 99};

// Fields of TracePacket that describe the packet: trusted_uid, first_packet_on_sequence,
// trusted_pid, machine_id and the like.
constexpr uint32_t kOfPacket[] = {3, 79, 87, 88, 98};

// More numbers than this on one event are damage.
constexpr size_t kMaxNumbers = 1 << 16;

bool HoldsData(uint32_t number) {
  return std::ranges::find(kAboutRecording, number) == std::end(kAboutRecording) &&
         std::ranges::find(kOfPacket, number) == std::end(kOfPacket);
}

}  // namespace

bool Decode(std::string_view message, Packet* packet) {
  return wire::DecodeFields<
      Field<11, &Packet::event>, Field<8, &Packet::timestamp, &Packet::has_timestamp>,
      Field<10, &Packet::sequence>, Field<12, &Packet::interned>, Field<58, &Packet::clock>,
      Field<6, &Packet::snapshot>, Field<42, &Packet::dropped>, Field<44, &Packet::thread>,
      Field<50, &Packet::compressed>, Field<59, &Packet::defaults, &Packet::has_defaults>,
      Field<60, &Packet::track>>(message, packet, [&](const Reader& in) {
    if (in.Is(13, kVarint)) {
      packet->flags |= in.uint();
    } else if (in.Is(41, kVarint)) {  // incremental_state_cleared, as written before the flags
      if (in.uint() != 0) packet->flags |= kStateCleared;
    } else if (HoldsData(in.number())) {
      packet->other = in.number();
    }
  });
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
  event->Clear();
  auto add = [](auto& list, size_t most = kMaxNumbers) {
    return [&list, most](uint64_t value) {
      if (list.size() < most) list.push_back(value);
    };
  };
  auto add_real = [&](double value) {
    if (event->extra_values.size() < kMaxNumbers) event->extra_values.push_back(value);
  };
  return wire::ReadFields<Field<10, &TrackEvent::name_iid>,
                          Field<11, &TrackEvent::track, &TrackEvent::has_track>,
                          Field<23, &TrackEvent::name, &TrackEvent::has_name>,
                          Field<1, &TrackEvent::delta_us, &TrackEvent::has_delta>,
                          Field<16, &TrackEvent::absolute_us, &TrackEvent::has_absolute>,
                          Field<6, &TrackEvent::legacy, &TrackEvent::has_legacy>,
                          Field<44, &TrackEvent::counter, &TrackEvent::has_counter>>(
      message, event, [&](const Reader& in) {
        switch (in.number()) {
          case 9:
            if (in.type() != kVarint) break;
            if (in.uint() <= uint64_t(EventType::kCounter)) {
              event->type = EventType(in.uint());
            } else {
              event->unknown_type = uint32_t(in.uint());
            }
            break;
          case 4:
            if (in.type() != kBytes) break;
            event->left_out |= event->arguments.size() >= TrackEvent::kMaxArguments;
            if (!event->left_out) event->arguments.push_back(in.bytes());
            break;
          case 22:
            if (in.type() == kBytes && event->categories.size() < TrackEvent::kMaxCategories)
              event->categories.push_back(in.bytes());
            break;
          case 30:
            if (in.type() == kVarint)
              event->counter = double(in.int64()), event->has_counter = true;
            break;
          case 3:
            EachNumber<kVarint>(in, add(event->category_iids, TrackEvent::kMaxCategories));
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
            EachNumber<kVarint>(in, [&](uint64_t value) { add_real(double(int64_t(value))); });
            break;
          case 46:
            EachNumber<kFixed64>(in,
                                 [&](uint64_t value) { add_real(std::bit_cast<double>(value)); });
        }
      });
}

bool Decode(std::string_view message, LegacyEvent* legacy) {
  return wire::DecodeFields<Field<1, &LegacyEvent::name_iid>, Field<2, &LegacyEvent::phase>,
                            Field<3, &LegacyEvent::duration_us>>(
      message, legacy, [&](const Reader& in) {
        const uint32_t id = in.number();
        legacy->has_id |= in.type() == kVarint && (id == 6 || id == 8 || id == 10 || id == 11);
      });
}

bool Decode(std::string_view message, Clock* clock) {
  return wire::DecodeFields<Field<1, &Clock::id>, Field<2, &Clock::timestamp>,
                            Field<3, &Clock::incremental>, Field<4, &Clock::multiplier_ns>>(message,
                                                                                            clock);
}

bool Decode(std::string_view message, TrackDescriptor* track) {
  using Track = TrackDescriptor;
  constexpr size_t kMaxLabels = 64;
  constexpr auto kNothingElse = [](const Reader&) {};
  return wire::DecodeFields<Field<1, &Track::uuid>, Field<2, &Track::name>,
                            Field<10, &Track::name>,  // static_name
                            Field<13, &Track::name>,  // atrace_name
                            Field<5, &Track::parent, &Track::has_parent>,
                            Field<12, &Track::rank>>(message, track, [&](const Reader& in) {
    if (in.Is(3, kBytes)) {
      track->is_process = true;
      wire::ReadFields<Field<1, &Track::pid>, Field<6, &Track::process_name>>(
          in.bytes(), track, [&](const Reader& process) {
            if (process.Is(8, kBytes) && track->labels.size() < kMaxLabels)
              track->labels.push_back(process.bytes());
          });
    } else if (in.Is(4, kBytes)) {
      track->is_thread = true;
      wire::ReadFields<Field<1, &Track::pid>, Field<2, &Track::tid>, Field<5, &Track::thread_name>>(
          in.bytes(), track, kNothingElse);
    } else if (in.Is(8, kBytes)) {
      track->is_counter = true;
      wire::ReadFields<Field<3, &Track::unit>, Field<4, &Track::multiplier>,
                       Field<5, &Track::incremental>, Field<6, &Track::unit_name>>(
          in.bytes(), track, kNothingElse);
    }
  });
}

bool Decode(std::string_view message, Thread* thread) {
  return wire::DecodeFields<Field<1, &Thread::pid>, Field<2, &Thread::tid>, Field<5, &Thread::name>,
                            Field<6, &Thread::reference_us>>(message, thread);
}

bool Decode(std::string_view message, Defaults* defaults) {
  constexpr size_t kMaxTracks = 64;
  return wire::DecodeFields<Field<58, &Defaults::clock>>(message, defaults, [&](const Reader& in) {
    if (!in.Is(11, kBytes)) return;
    wire::ReadFields<Field<11, &Defaults::track, &Defaults::has_track>>(
        in.bytes(), defaults, [&](const Reader& event) {
          if (event.number() != 31 && event.number() != 45) return;
          EachNumber<kVarint>(event, [&](uint64_t uuid) {
            if (defaults->extra_tracks.size() < kMaxTracks) defaults->extra_tracks.push_back(uuid);
          });
        });
  });
}

bool Decode(std::string_view message, InternedText* text) {
  return wire::DecodeFields<Field<1, &InternedText::iid>, Field<2, &InternedText::text>>(message,
                                                                                         text);
}

bool Decode(std::string_view message, Annotation* annotation) {
  struct Value {
    Annotation::Kind kind = Annotation::kNone;
    wire::Type type = kBytes;
  };
  static constexpr Value kValues[] = {{},  // by number of the field
                                      {},
                                      {Annotation::kBool, kVarint},
                                      {Annotation::kUint, kVarint},
                                      {Annotation::kInt, kVarint},
                                      {Annotation::kDouble, kFixed64},
                                      {Annotation::kText},
                                      {Annotation::kPointer, kVarint},
                                      {Annotation::kNested},
                                      {Annotation::kJson},
                                      {},
                                      {Annotation::kDict},
                                      {Annotation::kArray},
                                      {},
                                      {Annotation::kMessage},
                                      {},
                                      {},
                                      {Annotation::kTextIid, kVarint}};
  return wire::DecodeFields<Field<1, &Annotation::name_iid>, Field<10, &Annotation::name>>(
      message, annotation, [&](const Reader& in) {
        const Value value = in.number() < std::size(kValues) ? kValues[in.number()] : Value();
        if (value.kind == Annotation::kNone || value.type != in.type()) return;
        annotation->kind = value.kind;
        if (value.type != kBytes) {
          annotation->number = in.uint();
        } else {  // the entries of a list are read from the whole message
          const bool is_list = value.kind == Annotation::kDict || value.kind == Annotation::kArray;
          annotation->text = is_list ? message : in.bytes();
        }
      });
}

}  // namespace xlaprof::pftrace

#include "exporters/perfetto/perfetto_packets.h"

#include "base/escape.h"

namespace xlaprof {
namespace {

// Field numbers of Perfetto's messages (protos/perfetto/trace).
constexpr uint32_t kTracePacket = 1;
// TracePacket
constexpr uint32_t kClockSnapshot = 6, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                   kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr uint64_t kStateCleared = 1, kNeedsState = 2;
// ClockSnapshot, and Clock in it
constexpr uint32_t kClock = 1, kPrimaryClock = 2, kClockId = 1, kClockNs = 2;
constexpr uint64_t kRealtime = 1, kBoottime = 6;
// TrackDescriptor and the messages in it
constexpr uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8,
                   kChildOrdering = 11, kRank = 12, kProcessOrdering = 19, kThreadOrdering = 20;
constexpr uint64_t kByName = 1, kByRank = 1;
constexpr uint32_t kPid = 1, kProcessName = 6, kProcessLabels = 8;
constexpr uint32_t kTid = 2, kThreadName = 5;
constexpr uint32_t kUnit = 3, kUnitName = 6;
constexpr uint64_t kUnitNs = 1, kUnitCount = 2, kUnitBytes = 3;
// TrackEvent
constexpr uint32_t kCategoryIid = 3, kAnnotation = 4, kType = 9, kNameIid = 10, kTrackUuid = 11,
                   kCategoryText = 22, kNameText = 23, kCounterDouble = 44, kFlowId = 47,
                   kLastFlowId = 48;
constexpr uint64_t kSliceEnd = 2;
// DebugAnnotation
constexpr uint32_t kKeyIid = 1, kUint = 3, kInt = 4, kDouble = 5, kString = 6, kKey = 10,
                   kStringIid = 17;
// Interned texts
constexpr uint32_t kIid = 1, kText = 2;
constexpr uint64_t kUnusedIid = uint64_t(UINT32_MAX) + 1;  // greater than any StringId

// Returns valid UTF-8 without NUL, because readers end a text at NUL.
std::string PerfettoString(std::string_view text) {
  std::string out = ProtoString(text);
  for (size_t at; (at = out.find('\0')) != std::string::npos;) out.replace(at, 1, "\xef\xbf\xbd");
  return out;
}

// Returns the text in brackets at the end of a name.
std::string_view UnitOf(std::string_view name) {
  const size_t at = name.rfind('(');
  if (at == name.npos || !name.ends_with(')')) return "";
  return name.substr(at + 1, name.size() - at - 2);
}

}  // namespace

PerfettoPackets::PerfettoPackets(const Store& store, Sink& sink, OptInt epoch_ns,
                                 std::string_view origin)
    : store_(store), buffer_(sink) {
  ProtoText packet, interned, text;
  packet.Varint(kSequence, 1);
  packet.Varint(kSequenceFlags, kStateCleared);
  // An interned text that no event refers to is not shown.
  text.Varint(kIid, kUnusedIid);
  text.Bytes(kText, origin);
  interned.Bytes(kValues, text.bytes());
  packet.Bytes(kInternedData, interned.bytes());
  Packet(packet);
  // The root is not a track; it orders the others.
  ProtoText root;
  root.Varint(kUuid, 0);
  root.Varint(kProcessOrdering, kByRank);
  root.Varint(kThreadOrdering, kByRank);
  packet.Clear();
  packet.Bytes(kTrackDescriptor, root.bytes());
  Packet(packet);
  if (epoch_ns.value_or(0) <= 0) return;
  // Relates the trace's clock to Unix time at the trace's 0.
  ProtoText snapshot, clock;
  for (auto [id, ns] :
       {std::pair(kBoottime, uint64_t{0}), std::pair(kRealtime, uint64_t(*epoch_ns))}) {
    clock.Clear();
    clock.Varint(kClockId, id);
    clock.Varint(kClockNs, ns);
    snapshot.Bytes(kClock, clock.bytes());
  }
  snapshot.Varint(kPrimaryClock, kBoottime);
  packet.Clear();
  packet.Bytes(kClockSnapshot, snapshot.bytes());
  Packet(packet);
}

void PerfettoPackets::Packet(const ProtoText& packet) {
  ProtoText head;
  head.BytesHead(kTracePacket, packet.bytes().size());
  buffer_.Raw(std::string_view(head.bytes()));
  buffer_.Raw(std::string_view(packet.bytes()));
}

uint64_t PerfettoPackets::AddTrack(ProtoText& descriptor) {
  descriptor.Varint(kUuid, ++last_uuid_);
  ProtoText packet;
  packet.Bytes(kTrackDescriptor, descriptor.bytes());
  Packet(packet);
  return last_uuid_;
}

uint64_t PerfettoPackets::Process(const TimelineProcess& process, uint32_t rank) {
  ProtoText descriptor, fields;
  fields.Varint(kPid, uint64_t(process.pid));
  fields.Bytes(kProcessName, PerfettoString(process.name));
  if (!process.labels.empty()) fields.Bytes(kProcessLabels, PerfettoString(process.labels));
  descriptor.Varint(kRank, rank);
  descriptor.Bytes(kProcess, fields.bytes());
  return AddTrack(descriptor);
}

uint64_t PerfettoPackets::Thread(int64_t pid, int64_t tid, std::string_view name, uint32_t rank) {
  ProtoText descriptor, fields;
  fields.Varint(kPid, uint64_t(pid));
  fields.Varint(kTid, uint64_t(tid));
  fields.Bytes(kThreadName, PerfettoString(name));
  descriptor.Varint(kRank, rank);
  descriptor.Bytes(kThread, fields.bytes());
  return AddTrack(descriptor);
}

uint64_t PerfettoPackets::Group(std::string_view name) {
  ProtoText descriptor;
  descriptor.Bytes(kTrackName, PerfettoString(name));
  descriptor.Varint(kChildOrdering, kByName);
  return AddTrack(descriptor);
}

uint64_t PerfettoPackets::Child(uint64_t parent, std::string_view name) {
  ProtoText descriptor;
  descriptor.Varint(kParent, parent);
  descriptor.Bytes(kTrackName, PerfettoString(name));
  return AddTrack(descriptor);
}

uint64_t PerfettoPackets::Counter(uint64_t parent, std::string_view name) {
  ProtoText descriptor, fields;
  const std::string_view unit = UnitOf(name);
  if (unit == "bytes") {
    fields.Varint(kUnit, kUnitBytes);
  } else if (unit == "ns" || unit == "ns in all") {
    fields.Varint(kUnit, kUnitNs);
  } else if (unit == "occurrences") {
    fields.Varint(kUnit, kUnitCount);
  } else if (!unit.empty()) {
    fields.Bytes(kUnitName, PerfettoString(unit));
  }
  descriptor.Varint(kParent, parent);
  descriptor.Bytes(kTrackName, PerfettoString(name));
  descriptor.Bytes(kCounter, fields.bytes());
  return AddTrack(descriptor);
}

bool PerfettoPackets::Seen::Add(StringId id) {
  constexpr StringId kDenseIds = 1 << 26;
  if (id >= kDenseIds) return far_.insert(id).second;
  if (id >= dense_.size()) dense_.resize(std::max<size_t>(id + 1, dense_.size() * 2));
  if (dense_[id]) return false;
  return dense_[id] = true;
}

inline uint64_t PerfettoPackets::Interned(Texts kind, Seen& seen, StringId id) {
  if (!seen.Add(id)) [[likely]]
    return id;
  ProtoText text, texts, packet;
  text.Varint(kIid, id);
  text.Bytes(kText, PerfettoString(store_.Text(id)));
  texts.Bytes(kind, text.bytes());
  packet.Varint(kSequence, 1);
  packet.Varint(kSequenceFlags, kNeedsState);
  packet.Bytes(kInternedData, texts.bytes());
  Packet(packet);
  return id;
}

void PerfettoPackets::Track(uint64_t uuid, ProtoText& to) { to.Varint(kTrackUuid, uuid); }

// Returns trusted_packet_sequence_id, sequence_flags, track_event{type SLICE_END, track_uuid}.
OwnPiece PerfettoPackets::EndOf(uint64_t uuid) {
  ProtoText event, packet;
  event.Varint(kType, kSliceEnd);
  event.Varint(kTrackUuid, uuid);
  packet.Varint(kSequence, 1);
  packet.Varint(kSequenceFlags, kNeedsState);
  packet.Bytes(kTrackEvent, event.bytes());
  return OwnPiece(std::string(packet.bytes()));
}

void PerfettoPackets::Name(StringId name, StringId category, ProtoText& to) {
  if (category != 0) to.Varint(kCategoryIid, Interned(kCategories, categories_, category));
  if (name != 0) to.Varint(kNameIid, Interned(kNames, names_, name));
}

void PerfettoPackets::Name(std::string_view name, std::string_view category, ProtoText& to) {
  to.Bytes(kCategoryText, category);
  to.Bytes(kNameText, PerfettoString(name));
}

// Returns field and number of a value that is written as a varint. Field 0 means that it is not.
inline std::pair<uint32_t, uint64_t> PerfettoPackets::Short(const ArgValue& value) {
  switch (value.index()) {
    case 0:
      return {kInt, uint64_t(std::get<0>(value))};
    case 1:
      // Readers hold the value in a signed number.
      return {std::get<1>(value) <= uint64_t(INT64_MAX) ? kUint : 0, std::get<1>(value)};
    case 3:
      return {kStringIid, Interned(kValues, values_, std::get<Text>(value).id)};
    default:
      return {};
  }
}

void PerfettoPackets::Arguments(std::span<const Argument> arguments, ProtoText& to) {
  int repeats = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [key, value] = arguments[i];
    repeats = i > 0 && key == arguments[i - 1].key ? repeats + 1 : 0;
    const auto [field, number] = Short(value);
    if (repeats == 0 && field != 0) [[likely]] {
      to.Varints(kAnnotation, kKeyIid, Interned(kKeys, keys_, key), field, number);
      continue;
    }
    argument_.Clear();
    if (repeats > 0) {
      argument_.Bytes(kKey, PerfettoString(fmt::format("{} ({})", store_.Text(key), repeats + 1)));
    } else {
      argument_.Varint(kKeyIid, Interned(kKeys, keys_, key));
    }
    if (field != 0) {
      argument_.Varint(field, number);
    } else if (value.index() == 2) {
      argument_.Double(kDouble, std::get<2>(value));
    } else {
      argument_.Bytes(kString, value.index() == 1 ? fmt::to_string(std::get<1>(value))
                                                  : Hex(store_.Text(std::get<Bytes>(value).id)));
    }
    to.Bytes(kAnnotation, argument_.bytes());
  }
}

void PerfettoPackets::Arguments(std::span<const MarkArgument> arguments, ProtoText& to) {
  for (const auto& [key, value] : arguments) {
    ProtoText fields;
    fields.Bytes(kKey, key);
    if (const auto* text = std::get_if<std::string>(&value)) {
      fields.Bytes(kString, PerfettoString(*text));
    } else if (const auto* number = std::get_if<int64_t>(&value)) {
      fields.Varint(kInt, uint64_t(*number));
    } else {
      fields.Double(kDouble, std::get<double>(value));
    }
    to.Bytes(kAnnotation, fields.bytes());
  }
}

void PerfettoPackets::Value(double counter, ProtoText& to) { to.Double(kCounterDouble, counter); }

void PerfettoPackets::FlowFrom(uint64_t number, ProtoText& to) { to.Fixed64(kFlowId, number); }

void PerfettoPackets::FlowTo(uint64_t number, ProtoText& to) { to.Fixed64(kLastFlowId, number); }

}  // namespace xlaprof

#include "profiler/import/chrome_event.h"

namespace xlaprof {

using json::Kind;
using json::Scanner;
using json::Value;

enum class ChromeEventReader::Slot : uint8_t {
  kExtra,  // no member of the format: an argument
  kPhase,
  kName,
  kCat,
  kPid,
  kTid,
  kTs,
  kDur,
  kArgs,
  kId,
  kId2,
  kBindPoint,
  kBindId,
  kFlowIn,
  kFlowOut,
  kNothing,  // how wide an instant is drawn; a colour
};

namespace {

// id2: {"local": "0x1"} or {"global": ...}.
void ReadId2(const Value& value, ChromeEvent* event) {
  if (value.kind != Kind::kNested) return;
  Scanner in(value.raw);
  if (!in.Take('{')) return;
  Value key, id;
  while (in.ReadKey(&key) && in.Read(&id)) {
    (key.raw == "local" ? event->id_local : event->id_global) = id;
    if (!in.Take(',')) return;
  }
}

bool IsTrue(const Value& value) {
  return value.kind == Kind::kTrue || (value.kind == Kind::kNumber && value.raw != "0");
}

}  // namespace

bool ChromeEventReader::ReadMember(Scanner& in, Slot slot, const Value& key, ChromeEvent* event) {
  switch (slot) {
    case Slot::kPhase:
      if (!in.Read(&scratch_)) return false;
      event->phase =
          scratch_.kind == Kind::kText && scratch_.raw.size() == 1 ? scratch_.raw[0] : '?';
      return true;
    case Slot::kName:
      return in.Read(&event->name);
    case Slot::kCat:
      if (!in.Read(&event->cat)) return false;
      // Events of one kind have the same members.
      kind_ =
          (event->cat.raw.size() * 5 + (event->cat.raw.empty() ? 0 : event->cat.raw[0])) % kKinds;
      return true;
    case Slot::kPid:
      return in.Read(&event->pid);
    case Slot::kTid:
      return in.Read(&event->tid);
    case Slot::kTs:
      return in.Read(&event->ts);
    case Slot::kDur:
      return in.Read(&event->dur);
    case Slot::kId:
      return in.Read(&event->id);
    case Slot::kBindPoint:
      return in.Read(&event->bind_point);
    case Slot::kBindId:
      return in.Read(&event->bind_id);
    case Slot::kArgs:
      if (in.Next() == '{') return ReadArgs(in, event);
      if (!in.Read(&scratch_)) return false;
      event->bad_args = scratch_.kind != Kind::kNull;
      return true;
    case Slot::kId2:
      if (!in.Read(&scratch_)) return false;
      ReadId2(scratch_, event);
      return true;
    case Slot::kFlowIn:
      if (!in.Read(&scratch_)) return false;
      event->flow_in = IsTrue(scratch_);
      return true;
    case Slot::kFlowOut:
      if (!in.Read(&scratch_)) return false;
      event->flow_out = IsTrue(scratch_);
      return true;
    case Slot::kNothing:
      return in.Read(&scratch_);
    case Slot::kExtra:
      break;
  }
  ChromeEvent::Member& member = event->args.emplace_back();
  member.key = key;
  return in.Read(&member.value);
}

bool ChromeEventReader::ReadArgs(Scanner& in, ChromeEvent* event) {
  auto& known = args_[kind_];
  size_t place = 0;
  while (true) {
    // From the brace or comma before each name.
    const size_t from = in.offset();
    ChromeEvent::Member& member = event->args.emplace_back();
    if (place >= kArgs || !in.TakeSame(known[place], &member.key)) {
      const bool more = in.Take(place == 0 ? '{' : ',');
      if (in.Take('}')) {  // nothing in it, the end, or a comma too many
        event->args.pop_back();
        return true;
      }
      if (!more || !in.ReadKey(&member.key)) return false;
      if (place < kArgs) in.Remember(from, member.key, &known[place]);
    }
    if (!in.Read(&member.value)) return false;
    ++place;
  }
}

bool ChromeEventReader::Read(Scanner& in, ChromeEvent* event) {
  static constexpr struct {
    std::string_view key;
    Slot slot;
  } kSlots[] = {
      {"ph", Slot::kPhase},       {"name", Slot::kName},        {"cat", Slot::kCat},
      {"pid", Slot::kPid},        {"tid", Slot::kTid},          {"ts", Slot::kTs},
      {"dur", Slot::kDur},        {"args", Slot::kArgs},        {"id", Slot::kId},
      {"id2", Slot::kId2},        {"bp", Slot::kBindPoint},     {"bind_id", Slot::kBindId},
      {"flow_in", Slot::kFlowIn}, {"flow_out", Slot::kFlowOut}, {"s", Slot::kNothing},
      {"cname", Slot::kNothing}};
  event->phase = 0;
  event->flow_in = event->flow_out = event->bad_args = false;
  event->args.clear();
  for (Value* value :
       {&event->name, &event->cat, &event->pid, &event->tid, &event->ts, &event->dur, &event->id,
        &event->id_local, &event->id_global, &event->bind_id, &event->bind_point})
    value->kind = Kind::kNone;
  kind_ = 0;
  Value key;
  for (size_t place = 0;; ++place) {
    // From the brace or comma before each name.
    const size_t from = in.offset();
    Slot slot = Slot::kExtra;
    Known* known = place < kMembers ? &members_[kind_][place] : nullptr;
    if (known != nullptr && in.TakeSame(known->between, &key)) [[likely]] {
      slot = known->slot;
    } else {
      const bool more = in.Take(place == 0 ? '{' : ',');
      if (in.Take('}')) return place > 0 || more;  // nothing in it, the end, or a comma too many
      if (!more || !in.ReadKey(&key)) return false;
      for (const auto& entry : kSlots) {
        if (entry.key == key.raw) slot = entry.slot;
      }
      if (known != nullptr) {
        in.Remember(from, key, &known->between);
        known->slot = slot;
      }
    }
    if (!ReadMember(in, slot, key, event)) return false;
  }
}

}  // namespace xlaprof

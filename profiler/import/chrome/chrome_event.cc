#include "profiler/import/chrome/chrome_event.h"

namespace xlaprof {

using json::Kind;
using json::Scanner;
using json::Value;

namespace {

ChromeSlot SlotOf(std::string_view key) {
  static constexpr struct {
    std::string_view key;
    ChromeSlot slot;
  } kSlots[] = {{"ph", ChromeSlot::kPhase},       {"name", ChromeSlot::kName},
                {"cat", ChromeSlot::kCat},        {"pid", ChromeSlot::kPid},
                {"tid", ChromeSlot::kTid},        {"ts", ChromeSlot::kTs},
                {"dur", ChromeSlot::kDur},        {"args", ChromeSlot::kArgs},
                {"id", ChromeSlot::kId},          {"id2", ChromeSlot::kId2},
                {"bp", ChromeSlot::kBindPoint},   {"bind_id", ChromeSlot::kBindId},
                {"flow_in", ChromeSlot::kFlowIn}, {"flow_out", ChromeSlot::kFlowOut},
                {"s", ChromeSlot::kNothing},      {"cname", ChromeSlot::kNothing}};
  for (const auto& entry : kSlots) {
    if (entry.key == key) return entry.slot;
  }
  return ChromeSlot::kExtra;
}

// Reads id2: {"local": "0x1"} or {"global": ...}.
void ReadId2(const Value& value, ChromeEvent* event) {
  if (value.kind() != Kind::kNested) return;
  Scanner in(value.raw());
  if (!in.Take('{')) return;
  Value key, id;
  event->has_ids = true;
  while (in.ReadKey(&key) && in.Read(&id)) {
    (key.raw() == "local" ? event->id_local : event->id_global) = id;
    if (!in.Take(',')) return;
  }
}

}  // namespace

void ChromeEvent::Clear() {
  if (has_ids) id = id_local = id_global = bind_id = bind_point = {};
  ts = dur = {};
  name = cat = pid = tid = {};
  args.clear();
  phase = 0;
  flow_in = flow_out = bad_args = has_ids = false;
}

bool ChromeEventReader::Read(Scanner& in, ChromeEvent* event) {
  in.Next();
  event->Clear();
  event->offset = int64_t(in.offset());
  if (templates_.Read(in, event)) [[likely]]
    return true;
  event->Clear();
  pieces_.clear();
  plain_ = true;
  const bool whole = ReadObject(in, event);
  if (whole && plain_) templates_.Learn(pieces_);
  return whole;
}

// In the functions below, `from` is the place where the previous value ended.
bool ChromeEventReader::ReadObject(Scanner& in, ChromeEvent* event) {
  size_t from = in.offset();
  Value key;
  for (bool first = true;; first = false) {
    const bool more = in.Take(first ? '{' : ',');
    if (in.Take('}')) {  // it is empty, ends, or has a comma too many
      pieces_.push_back({.before = in.Since(from), .key = {}});
      return more || !first;
    }
    if (!more || !in.ReadKey(&key)) return false;
    const size_t pieces = pieces_.size();
    if (!ReadMember(in, from, key, event)) return false;
    // If `args` has no value, its text is part of the text before the next value.
    if (pieces_.size() > pieces) from = value_end_;
  }
}

bool ChromeEventReader::ReadMember(Scanner& in, size_t from, const Value& key, ChromeEvent* event) {
  const ChromeSlot slot = SlotOf(key.raw());
  if (slot == ChromeSlot::kArgs && in.Next() == '{') return ReadArgs(in, from, event);
  return ReadValue(in, from, slot, key, event);
}

bool ChromeEventReader::ReadArgs(Scanner& in, size_t from, ChromeEvent* event) {
  Value key;
  for (bool first = true;; first = false) {
    const bool more = in.Take(first ? '{' : ',');
    if (in.Take('}')) return true;  // it is empty, ends, or has a comma too many
    if (!more || !in.ReadKey(&key)) return false;
    if (!ReadValue(in, from, ChromeSlot::kExtra, key, event)) return false;
    from = value_end_;
  }
}

bool ChromeEventReader::ReadValue(Scanner& in, size_t from, ChromeSlot slot, const Value& key,
                                  ChromeEvent* event) {
  Value value;
  const bool text = in.Next() == '"';
  std::string_view before = in.Since(from);
  if (!in.Read(&value)) return false;
  value_end_ = in.offset();
  if (slot == ChromeSlot::kArgs) {
    event->bad_args = value.kind() != Kind::kNull;
  } else if (slot == ChromeSlot::kId2) {
    ReadId2(value, event);
  } else if (slot == ChromeSlot::kExtra) {
    event->args.Add(key, value);
  } else {
    PutChromeValue(slot, value, event);
  }
  plain_ &=
      slot != ChromeSlot::kArgs && slot != ChromeSlot::kId2 && !key.escaped() && !key.control();
  if (text) before = {before.data(), before.size() + 1};
  pieces_.push_back({.before = before, .key = key.raw(), .slot = slot, .kind = value.kind()});
  return true;
}

}  // namespace xlaprof

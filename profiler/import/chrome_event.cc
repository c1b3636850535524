#include "profiler/import/chrome_event.h"

namespace xlaprof {
namespace {

using json::Kind;
using json::Scanner;
using json::Value;

// Where a member's value goes; nullptr: it is no plain member of the format.
Value* MemberOf(std::string_view key, ChromeEvent* event) {
  switch (key.size()) {
    case 2:
      if (key == "ts") return &event->ts;
      if (key == "id") return &event->id;
      if (key == "bp") return &event->bind_point;
      break;
    case 3:
      if (key == "pid") return &event->pid;
      if (key == "tid") return &event->tid;
      if (key == "dur") return &event->dur;
      if (key == "cat") return &event->cat;
      break;
    case 4:
      if (key == "name") return &event->name;
      break;
    case 7:
      if (key == "bind_id") return &event->bind_id;
      break;
    default:
      break;
  }
  return nullptr;
}

bool ReadArgs(Scanner& in, ChromeEvent* event) {
  if (!in.Take('{')) return false;
  if (in.Take('}')) return true;
  while (true) {
    ChromeEvent::Member& member = event->args.emplace_back();
    if (!in.ReadKey(&member.key) || !in.Read(&member.value)) return false;
    if (in.Take(',')) {
      if (in.Take('}')) return true;  // a comma too many
      continue;
    }
    return in.Take('}');
  }
}

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

bool ReadChromeEvent(Scanner& in, ChromeEvent* event) {
  event->phase = 0;
  event->flow_in = event->flow_out = event->bad_args = false;
  event->args.clear();
  for (Value* value :
       {&event->name, &event->cat, &event->pid, &event->tid, &event->ts, &event->dur, &event->id,
        &event->id_local, &event->id_global, &event->bind_id, &event->bind_point})
    value->kind = Kind::kNone;
  if (!in.Take('{')) return false;
  if (in.Take('}')) return true;
  Value key, value;
  while (true) {
    if (!in.ReadKey(&key)) return false;
    if (Value* member = MemberOf(key.raw, event)) {
      if (!in.Read(member)) return false;
    } else if (key.raw == "args" && in.Next() == '{') {
      if (!ReadArgs(in, event)) return false;
    } else {
      if (!in.Read(&value)) return false;
      if (key.raw == "ph") {
        event->phase = value.kind == Kind::kText && value.raw.size() == 1 ? value.raw[0] : '?';
      } else if (key.raw == "id2") {
        ReadId2(value, event);
      } else if (key.raw == "flow_in") {
        event->flow_in = IsTrue(value);
      } else if (key.raw == "flow_out") {
        event->flow_out = IsTrue(value);
      } else if (key.raw == "args") {
        event->bad_args = value.kind != Kind::kNull;
      } else if (key.raw != "s" && key.raw != "cname") {  // how wide an instant is drawn; a colour
        event->args.push_back({key, value});
      }
    }
    if (in.Take(',')) {
      if (in.Take('}')) return true;  // a comma too many
      continue;
    }
    return in.Take('}');
  }
}

}  // namespace xlaprof

#include "profiler/import/xspace/xspace_wire.h"

namespace xlaprof::wire {

bool Decode(std::string_view message, EventMetadata* metadata) {
  Reader in(message);
  *metadata = {};
  while (in.Next()) {
    if (in.Is(1, kVarint)) metadata->id = in.int64();
    if (in.Is(2, kBytes)) metadata->name = in.bytes();
    if (in.Is(4, kBytes)) metadata->display_name = in.bytes();
  }
  return !in.bad() && !in.cut();
}

bool Decode(std::string_view message, StatMetadata* metadata) {
  Reader in(message);
  *metadata = {};
  while (in.Next()) {
    if (in.Is(1, kVarint)) metadata->id = in.int64();
    if (in.Is(2, kBytes)) metadata->name = in.bytes();
    if (in.Is(3, kBytes)) metadata->description = in.bytes();
  }
  return !in.bad() && !in.cut();
}

bool Decode(std::string_view message, MapEntry* entry) {
  Reader in(message);
  *entry = {};
  while (in.Next()) {
    if (in.Is(1, kVarint)) entry->key = in.int64();
    if (in.Is(2, kBytes)) entry->value = in.bytes();
  }
  return !in.bad() && !in.cut();
}

bool Decode(std::string_view message, Line* line) {
  Reader in(message);
  *line = {};
  while (in.Next()) {
    switch (in.number() << 3 | in.type()) {
      case 1 << 3 | kVarint:
        line->id = in.int64();
        break;
      case 2 << 3 | kBytes:
        line->name = in.bytes();
        break;
      case 3 << 3 | kVarint:
        line->timestamp_ns = in.int64();
        break;
      case 4 << 3 | kBytes:
        ++line->events;
        break;
      case 10 << 3 | kVarint:
        line->display_id = in.int64();
        break;
      case 11 << 3 | kBytes:
        line->display_name = in.bytes();
        break;
      default:
        break;
    }
  }
  return !in.bad() && !in.cut();
}

}  // namespace xlaprof::wire

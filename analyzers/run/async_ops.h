// Finds when ops of a CPU's client really end. XLA:CPU divides a large op among its threads. The
// op's event ends when the thread that started the op has done its part. When the last part is
// done, the thread that did it marks "end: NAME", which a flow connects with the op's event.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// An op that goes on after its event.
struct AsyncOp {
  int64_t event_id = 0, process_id = 0;
  int64_t ordinal = 0;  // of the device
  // The start of the event, and the mark. The thread of the mark first starts what waited for the
  // op, so the op may have ended earlier, but the device works until then.
  int64_t begin_ns = 0, end_ns = 0;
};

struct AsyncOps {
  std::vector<AsyncOp> ops;
  absl::flat_hash_map<int64_t, size_t> by_event;  // index in `ops` by the event's id

  // Returns the op of an event; null if the event covers all of it.
  const AsyncOp* Find(int64_t event_id) const {
    const auto found = by_event.find(event_id);
    return found == by_event.end() ? nullptr : &ops[found->second];
  }

  static absl::StatusOr<AsyncOps> Of(const Run& run);
};

}  // namespace xlaprof

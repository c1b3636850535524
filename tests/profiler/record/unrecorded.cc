// A file of a recorded program that is itself compiled without the recorder and without inlining,
// so the linker chooses among functions of the same name.
#define XLAPROF_NO_RECORD
#include "profiler/record/record.h"

namespace xlaprof {

bool UnrecordedScopesTouchNothing() {
  struct {
    uint64_t before[8] = {};
    alignas(8) char room[sizeof(Trace)];
    uint64_t after[64] = {};
  } memory;
  (new (memory.room) Trace("unrecorded"))->Arg("a", 1).FlowOut(1).~Trace();
  NameThread("unrecorded");
  XLAPROF_TRACE("unrecorded");
  XLAPROF_STEP("unrecorded", memory.before[0]);
  XLAPROF_COUNTER("unrecorded", memory.before[0]);
  uint64_t touched = 0;
  for (uint64_t word : memory.before) touched |= word;
  for (uint64_t word : memory.after) touched |= word;
  return touched == 0;
}

}  // namespace xlaprof

// Records or counts the events of a child that was forked from a recorded process. If the parent
// records into a directory, the child records into a file of its own there, from its first event on.
// Otherwise its events are counted in memory that it shares with its parent, whose recording reports
// them. Internal to profiler/record.
#pragma once

#include <cstdint>

namespace xlaprof::record {

// Makes the shared memory. Call it before the first fork.
void PrepareForForks();
// Counts one event of a forked child that is not recorded.
void LoseInForkedChild();
// Returns how many events all forked children have lost.
uint64_t ForkedEvents();
// Prepares a child, right after the fork.
void InForkedChild();
// Starts the recording of a forked child, at its first event. Returns false if it is not recorded.
bool RecordForkedChild();

}  // namespace xlaprof::record

// Records or counts the events of a child that was forked from a recorded process. If the parent
// records into a directory, the child records into a file of its own there, from its first event on.
// Otherwise its events are counted in the header of its parent's ring, which outlives both. Each
// child holds a lock on the ring until it ends, however it ends. A recording that ends while such a
// child runs leaves the header for it (RingFile::Finish), and recovery adds the count to the store.
// Internal to profiler/record.
#pragma once

#include <cstdint>
#include <filesystem>

namespace xlaprof::record {

// A store that lacks events of forked children has this issue, with this advice.
inline constexpr const char* kForkedEvents = "forked_events";
inline constexpr const char* kForkedEventsAdvice =
    "Processes that were forked from this one recorded events, which are not in this file. Record into a directory, in which each process gets its own file: XLAPROF_RECORD=DIR/";

// Makes children that are forked from now on count in the ring of the recording at `store`, an
// absolute path, and hold the ring's lock. Call it when the recording starts, one thread at a time.
void PrepareForForks(const std::filesystem::path& store);
// Ends this for children that are forked from now on, when the recording ends. In a child, releases
// the lock.
void ReleaseCount();
// Counts one event of a forked child that is not recorded.
void LoseInForkedChild();
// Prepares a child, right after the fork.
void InForkedChild();
// Starts the recording of a forked child, at its first event. Returns false if it is not recorded.
bool RecordForkedChild();
// Ends the recording of a forked child before the child's end, for children that end by _exit. Does
// nothing elsewhere.
void EndForkedChild();

}  // namespace xlaprof::record

// Records or counts the events of a child that was forked from a recorded process. If the parent
// records into a directory, the child records into a file of its own there, from its first event on.
// Otherwise its events are counted in memory that it shares with its parent. The parent's recording
// reports them while it runs. A child that outlives it reports the rest when it ends: on stderr, and
// in the store or in the ring that a killed parent left. Internal to profiler/record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace xlaprof::record {

// A store that lacks events of forked children has this issue, with this advice.
inline constexpr const char* kForkedEvents = "forked_events";
inline constexpr const char* kForkedEventsAdvice =
    "Processes that were forked from this one recorded events, which are not in this file. Record into a directory, in which each process gets its own file: XLAPROF_RECORD=DIR/";

// Makes the shared memory of a recording: its store's absolute path, and its ring's key. Call it
// when the recording starts.
void PrepareForForks(const std::filesystem::path& store, std::string ring_key);
// Counts one event of a forked child that is not recorded.
void LoseInForkedChild();
// Returns how many events all forked children have lost since the last call.
uint64_t TakeForkedEvents();
// Does the same for the last time. From now on, children that end report what they lose.
uint64_t TakeLastForkedEvents();
// Prepares a child, right after the fork.
void InForkedChild();
// Starts the recording of a forked child, at its first event. Returns false if it is not recorded.
bool RecordForkedChild();

}  // namespace xlaprof::record

// The standard streams of a recorded program. A program may close them, and its next file then gets
// the number 1 or 2. So the recorder writes to a stream only while that is the file it was when the
// recording began. Internal to profiler/record.
#pragma once

#include <string_view>

namespace xlaprof::record {

// Remembers which files the standard streams are. Call it when a recording starts, but not in a
// forked child, which has its parent's streams.
void RememberStreams();
// Returns whether standard output or standard error (1 or 2) is still the file that it was.
bool IsSameStream(int number);
// Writes "xlaprof: ", the text and a newline to standard error, if that is still the file that it
// was.
void Tell(std::string_view text);

}  // namespace xlaprof::record

// Keeps a recorded program alive if somebody truncates its ring file. Writing behind the new end of
// a mapped file raises SIGBUS, which would end the program. Internal to profiler/record.
#pragma once

#include <cstddef>

namespace xlaprof::record {

// Installs a handler of SIGBUS for the whole process, once. In a guarded mapping, it puts zeros in
// the place of the file; any other SIGBUS goes to the handler that was there before. A handler that
// the program installs later takes its place.
void GuardAgainstTruncation();

// Guards a mapping until UnguardMapping. If too many mappings are guarded, does nothing.
void GuardMapping(const void* begin, size_t bytes);
void UnguardMapping(const void* begin);

// Returns whether a guarded mapping has lost its file since ForgetTruncation. No event is recorded
// from that moment on.
bool WasTruncated();
void ForgetTruncation();

}  // namespace xlaprof::record

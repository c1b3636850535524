// Guards against files that somebody truncates while we read them through a mapping. Reading beyond
// the new end of such a file raises SIGBUS, which ends the process unless the program has called
// InstallMapGuards.
#pragma once

#include <string_view>

#include "profiler/import/byte_sink.h"

namespace xlaprof {

// Installs a handler of SIGBUS for the whole process. From then on, the missing part of a guarded
// mapping reads as zeros. Any other SIGBUS goes to the handler that was there before. Only the main
// function of a program may call this, once, before it starts threads. A program that does not call
// it gets the default behaviour, and MapGuard only finds out whether a file has shrunk.
void InstallMapGuards();

struct GuardedRange;

// Guards one mapping as long as the guard lives; it must be destroyed before the mapping is. The
// table of guarded mappings has 64 places; a mapping that finds none free is not guarded. Any
// thread may use its own guard.
class MapGuard {
 public:
  // `mapped` is all of the file `fd`, mapped from its beginning, private and for reading.
  MapGuard(Descriptor fd, std::string_view mapped);
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;
  ~MapGuard();

  // Returns whether the file is shorter than the mapping, or was when it was read. Then some bytes
  // may have been read as zeros.
  bool HasShrunk() const;

 private:
  const Descriptor fd_;
  const std::string_view mapped_;
  GuardedRange* const range_;  // its place in the table; null if none was free
};

}  // namespace xlaprof

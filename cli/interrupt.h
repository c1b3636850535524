// Handles Ctrl-C, Ctrl-\, a closed terminal, and a batch system's request to end, for commands that
// have results to keep.
#pragma once

#include <string>

namespace xlaprof {

// Installs the handlers; only one object may exist at a time. Signals that are ignored (nohup) stay
// ignored.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // Returns whether the end was requested. Until EndWith the first request is only noted, and the
  // second ends the program. Ctrl-\ (SIGQUIT) always ends it.
  bool asked() const;
  // From now on, a request ends the program at once and prints `text`.
  void EndWith(const std::string& text);
};

}  // namespace xlaprof

// Ctrl-C, a terminal that is closed, and the end that a batch system asks for, in a command that
// has something to keep.
#pragma once

#include <string>

namespace xlaprof {

// One at a time. What was to be ignored (nohup) stays so.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // Whether somebody asked for the end. Until EndWith it is only noted, and the second time ends
  // the program.
  bool asked() const;
  // From now on the program ends at once, and prints `text` then.
  void EndWith(const std::string& text);
};

}  // namespace xlaprof

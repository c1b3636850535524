// Registers temporary files and folders that must not be left behind when a signal ends the
// program.
#pragma once

#include <filesystem>
#include <utility>

namespace xlaprof {

// While the object lives, RemoveLeftovers() removes `path`, what is in it, and the files that
// SQLite keeps beside it. If more than a few objects live at once, the last ones are not
// registered.
class Leftover {
 public:
  explicit Leftover(const std::filesystem::path& path);
  Leftover(Leftover&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}
  ~Leftover() { Forget(); }
  void Forget();

 private:
  int slot_ = -1;  // -1: not registered
};

// Removes every Leftover of the process. It needs no memory of its own, so that it can also be
// called where something other than a signal ends the process.
void RemoveLeftovers();

// Makes SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE remove every Leftover before they end the
// program. Signals that are ignored (nohup) stay ignored. Call it in a program of our own only,
// because a recorded program has signal handlers of its own.
void RemoveLeftoversAtSignals();

}  // namespace xlaprof

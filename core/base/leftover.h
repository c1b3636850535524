// Files and folders on the way, which a signal that ends the program must not leave behind.
#pragma once

#include <filesystem>
#include <utility>

namespace xlaprof {

// While it lives, `path`, with what is in it and what SQLite keeps beside it, goes with the
// program. Of more than a few at once the last are not noted.
class Leftover {
 public:
  explicit Leftover(const std::filesystem::path& path);
  Leftover(Leftover&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}
  ~Leftover() { Forget(); }
  void Forget();

 private:
  int slot_ = -1;  // -1: not noted
};

// Removes every Leftover of the process, without memory of its own: for what else ends it.
void RemoveLeftovers();

// From now on SIGINT, SIGTERM and SIGHUP remove every Leftover before they end the program; those
// that are ignored (nohup) stay so. For a program of our own: a recorded one has handlers of its
// own.
void RemoveLeftoversAtSignals();

}  // namespace xlaprof

// Shows a progress bar on stderr.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace xlaprof {

// Shows the bar only if stderr is a terminal and the work takes more than a second. Done or the
// destructor erases it.
class Progress {
 public:
  Progress();
  ~Progress() { Done(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Updates the bar. `fraction` is the part of the work that is done, 0 to 1, and `what` the
  // current item. The call is cheap enough to be frequent.
  void Update(double fraction, std::string_view what);
  void Done();

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  bool visible_ = false;
};

// Returns the bar's text, at most `width` columns: "[=====>    ]  52 %  file".
std::string ProgressLine(double fraction, std::string_view what, int width);

}  // namespace xlaprof

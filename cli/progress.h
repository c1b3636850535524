// A progress bar on stderr.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace xlaprof {

// Shows nothing unless stderr is a terminal and the work takes over a second. Erased by Done or the
// destructor.
class Progress {
 public:
  Progress();
  ~Progress() { Done(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // `fraction` of the work, 0 to 1; `what` is being done now. Cheap enough to call often.
  void Update(double fraction, std::string_view what);
  void Done();

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  bool visible_ = false;
};

// The bar itself, at most `width` columns: "[=====>    ]  52 %  file".
std::string ProgressLine(double fraction, std::string_view what, int width);

}  // namespace xlaprof

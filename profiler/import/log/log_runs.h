// The runs in one text. Programs append to their logs across runs, and some dialects show where a
// run begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace xlaprof {

class LogRuns {
 public:
  // Notes that another run begins at `line`, which is not above the line of the call before.
  void Begin(int64_t line) { begins_.push_back(line); }
  // Returns the run that a line belongs to. The first run has number 0.
  int At(int64_t line) const {
    return int(std::ranges::upper_bound(begins_, line) - begins_.begin());
  }
  int last() const { return int(begins_.size()); }

  // Notes that a dialect has found all runs of the text, so that no other dialect looks for them.
  void SetKnown() { are_known_ = true; }
  bool are_known() const { return are_known_; }

 private:
  std::vector<int64_t> begins_;  // first lines of the runs after the first, ascending
  bool are_known_ = false;
};

}  // namespace xlaprof

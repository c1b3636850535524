#include "core/backend/native/memory_plan.h"

#include <algorithm>
#include <map>

namespace xlaprof::lazy {
namespace {

// Ranges of memory that are unused at the moment.
class FreeRanges {
 public:
  int64_t Take(int64_t bytes) {
    auto best = ranges_.end();
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
      if (range->second >= bytes && (best == ranges_.end() || range->second < best->second))
        best = range;
    }
    if (best == ranges_.end()) {
      // Takes memory at the end, including a free range there.
      int64_t start = end_;
      if (!ranges_.empty()) {
        auto last = std::prev(ranges_.end());
        if (last->first + last->second == end_) {
          start = last->first;
          ranges_.erase(last);
        }
      }
      end_ = start + bytes;
      return start;
    }
    const auto [start, size] = *best;
    ranges_.erase(best);
    if (size > bytes) ranges_[start + bytes] = size - bytes;
    return start;
  }

  void Give(int64_t start, int64_t bytes) {
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.end() && start + bytes == next->first) {
      bytes += next->second;
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == start) {
        before->second += bytes;
        return;
      }
    }
    ranges_[start] = bytes;
  }

  int64_t end() const { return end_; }

 private:
  std::map<int64_t, int64_t> ranges_;  // from start to size
  int64_t end_ = 0;
};

int64_t BlockBytes(int64_t bytes) { return std::max<int64_t>(64, (bytes + 63) / 64 * 64); }

}  // namespace

int64_t PlanTemporaries(std::span<const std::unique_ptr<Thunk>> thunks,
                        std::vector<Temporary>* temporaries) {
  std::vector<std::vector<Temporary*>> written(thunks.size()), over(thunks.size());
  for (Temporary& temporary : *temporaries) {
    written[size_t(temporary.first)].push_back(&temporary);
    over[size_t(temporary.last)].push_back(&temporary);
  }
  FreeRanges free;
  for (size_t i = 0; i < thunks.size(); ++i) {
    std::vector<Temporary*> left = over[i];
    for (Temporary* result : written[i]) {
      auto reused = std::find_if(left.begin(), left.end(), [&](const Temporary* operand) {
        return operand->first < int32_t(i) && operand->bytes == result->bytes &&
               thunks[i]->MayReuse(operand->slot, result->slot);
      });
      if (reused == left.end()) {
        result->offset = free.Take(BlockBytes(result->bytes));
      } else {
        result->offset = (*reused)->offset;
        thunks[i]->Reuse((*reused)->slot, result->slot);
        left.erase(reused);
      }
    }
    for (const Temporary* temporary : left)
      free.Give(temporary->offset, BlockBytes(temporary->bytes));
  }
  return free.end();
}

}  // namespace xlaprof::lazy

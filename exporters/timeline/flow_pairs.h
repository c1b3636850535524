// Turns the store's flow numbers into arrows that a timeline can hold. A number may have several
// sources and several targets. An arrow has one source, and its targets come later.
//
// In a Chrome trace an arrow's end is a separate record after that of its event (phases s and f).
// Readers put records of equal time after all events that start then, and bind them to the
// innermost one. So if another event starts inside the end's own event at the same time, both ends
// must be given on the events themselves (bind_id), and an event has room for only one such arrow.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

class FlowPairs {
 public:
  // An event where a flow begins or ends. `track_rank` is the position of its track in the order in
  // which tracks are written.
  struct End {
    uint64_t flow = 0;
    int64_t ts_ns = 0;
    uint32_t track_rank = 0;
    bool is_target = false;
    bool is_instant = false;
    bool is_covered = false;  // another event starts inside it at the same time
    int64_t event_id = 0;
  };
  struct Arrow {
    uint64_t number = 0;    // from 1 up, one per source; 0: none
    bool on_event = false;  // written as bind_id
  };

  // The way in which a format writes arrows: with records or one bind_id, as Chrome's does, or by
  // naming on each event all pairs of source and target that it belongs to.
  enum class Style { kRecords, kPairs };

  // Reads the flows between the events of `track_ids` inside the chosen part of the run.
  static absl::StatusOr<FlowPairs> Read(const Store& store, const std::vector<int64_t>& track_ids,
                                        Style style);
  // Uses the given ends; for tests.
  explicit FlowPairs(std::vector<End> ends, Style style = Style::kRecords);

  Arrow ArrowFrom(const End& source) const;
  // Calls `fn(arrow)` for each arrow that ends at this target.
  template <class Fn>
  void EachArrowTo(const End& target, Fn&& fn) const {
    auto found = of_flow_.find(target.flow);
    if (found == of_flow_.end()) return;
    auto [first, behind] = SourcesOf(found->second, target);
    for (size_t i = first; i < behind; ++i) {
      if (how_[i] != How::kLeftOut) fn(Arrow{i + 1, how_[i] == How::kOnEvent});
    }
  }

  // Calls `fn(number)` for each pair that this source or target belongs to. Numbers begin at 1.
  template <class Fn>
  void EachPair(const End& end, Fn&& fn) const {
    auto found = of_flow_.find(end.flow);
    if (found == of_flow_.end()) return;
    const Range& range = found->second;
    const size_t at = PlaceOf(range, end);
    if (end.is_target) {
      auto [first, behind] = SourcesOf(range, end);
      for (size_t i = first; i < behind; ++i) {
        if (how_[i] != How::kLeftOut) fn(first_pair_[i] + (at - TargetsOf(range, i).first));
      }
    } else if (how_[at] != How::kLeftOut) {
      auto [first, behind] = TargetsOf(range, at);
      for (size_t i = first; i < behind; ++i) fn(first_pair_[at] + (i - first));
    }
  }

  // Return the number of drawn pairs of source and target, and of those left out. A pair is left
  // out if its target comes first (clocks that differ), if there are too many sources, or if the
  // format cannot express it.
  int64_t pair_count() const { return pair_count_; }
  int64_t left_out() const { return left_out_; }

 private:
  // The most sources per target, because a flow of a thousand sources and targets would be a
  // million pairs.
  static constexpr size_t kMaxSources = 64;
  enum class How : uint8_t { kLeftOut, kRecord, kOnEvent };
  struct Range {
    size_t begin, targets, end;  // indices of ends_: sources, then targets, each in order
  };
  void Draw(const Range& range);
  bool TakeEvents(const Range& range, size_t source, size_t first_target, size_t last_target);
  // Returns the first source that does not come before `end`.
  size_t FirstNotBefore(const Range& range, const End& end) const;
  // Returns the index in ends_ of an end that is known to be there.
  size_t PlaceOf(const Range& range, const End& end) const;
  std::pair<size_t, size_t> SourcesOf(const Range& range, const End& target) const {
    const size_t behind = FirstNotBefore(range, target);
    return {behind - range.begin > kMaxSources ? behind - kMaxSources : range.begin, behind};
  }
  std::pair<size_t, size_t> TargetsOf(const Range& range, size_t source) const;

  Style style_;
  std::vector<End> ends_;
  std::vector<How> how_;              // per source, by its index in ends_
  std::vector<uint64_t> first_pair_;  // number of the source's first pair, likewise
  absl::flat_hash_map<uint64_t, Range> of_flow_;
  absl::flat_hash_set<int64_t> taken_events_;  // events that have a bind_id
  int64_t pair_count_ = 0, left_out_ = 0;
};

}  // namespace xlaprof

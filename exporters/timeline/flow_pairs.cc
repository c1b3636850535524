#include "exporters/timeline/flow_pairs.h"

#include <algorithm>
#include <tuple>

#include "profiler/store/ordered_events.h"

namespace xlaprof {
namespace {

// Compares by the order in which events are written, time first.
bool Earlier(const FlowPairs::End& a, const FlowPairs::End& b) {
  return std::tie(a.ts_ns, a.track_rank, a.event_id) < std::tie(b.ts_ns, b.track_rank, b.event_id);
}

}  // namespace

absl::StatusOr<FlowPairs> FlowPairs::Read(const Store& store, const std::vector<int64_t>& track_ids,
                                          Style style) {
  std::vector<End> ends;
  XP_TRY(auto with_flows, TracksWithFlows(store));
  XP_TRY(OrderedEvents events, OrderedEvents::Make(store, kFlowIn | kFlowOut, false));
  for (uint32_t rank = 0; rank < track_ids.size(); ++rank) {
    if (!with_flows.contains(track_ids[rank])) continue;
    XP_TRY(events.Open(track_ids[rank]));
    EventBatch batch;
    const ChunkArguments* none = nullptr;
    size_t first_of_last = ends.size();  // index of the first end of the previous event
    int64_t last_ts_ns = 0;
    while (true) {
      XP_TRY(bool more, events.Next(&batch, &none));
      if (!more) break;
      for (size_t i = 0; i < batch.size; ++i) {
        if (batch.ts_ns[i] == last_ts_ns && batch.dur_ns[i] != 0) {
          for (size_t at = first_of_last; at < ends.size(); ++at) ends[at].is_covered = true;
        }
        last_ts_ns = batch.ts_ns[i];
        first_of_last = ends.size();
        if ((batch.flow_in[i] | batch.flow_out[i]) == 0) continue;
        End end{.ts_ns = batch.ts_ns[i],
                .track_rank = rank,
                .is_instant = batch.dur_ns[i] == 0,
                .event_id = batch.first_event_id + int64_t(i)};
        for (bool is_target : {false, true}) {
          end.flow = is_target ? batch.flow_in[i] : batch.flow_out[i];
          end.is_target = is_target;
          if (end.flow != 0) ends.push_back(end);
        }
      }
    }
  }
  return FlowPairs(std::move(ends), style);
}

FlowPairs::FlowPairs(std::vector<End> ends, Style style) : style_(style), ends_(std::move(ends)) {
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    return std::tie(a.flow, a.is_target, a.ts_ns, a.track_rank, a.event_id) <
           std::tie(b.flow, b.is_target, b.ts_ns, b.track_rank, b.event_id);
  });
  how_.assign(ends_.size(), How::kLeftOut);
  first_pair_.resize(ends_.size());
  for (size_t begin = 0, end; begin < ends_.size(); begin = end) {
    Range range{begin, begin, begin};
    for (end = begin; end < ends_.size() && ends_[end].flow == ends_[begin].flow; ++end)
      range.targets += !ends_[end].is_target;
    range.end = end;
    if (range.targets == begin || range.targets == end) continue;  // no source or no target
    of_flow_.emplace(ends_[begin].flow, range);
    Draw(range);
  }
}

// Decides how the arrows of one flow are written.
void FlowPairs::Draw(const Range& range) {
  int64_t drawn = 0;
  for (size_t source = range.begin; source < range.targets; ++source) {
    auto [first, last] = TargetsOf(range, source);
    if (first == last) continue;
    bool covered = false;
    if (style_ == Style::kRecords) {
      covered = ends_[source].is_covered;
      for (size_t i = first; i < last && !covered; ++i) covered = ends_[i].is_covered;
    }
    if (covered && !TakeEvents(range, source, first, last)) continue;
    how_[source] = covered ? How::kOnEvent : How::kRecord;
    first_pair_[source] = uint64_t(pair_count_ + drawn) + 1;
    drawn += int64_t(last - first);
  }
  pair_count_ += drawn;
  left_out_ += int64_t(range.targets - range.begin) * int64_t(range.end - range.targets) - drawn;
}

// Takes the single bind_id of each event for the arrow of `source`. Returns false if any of the
// events is an instant or has one already. Perfetto sorts events of equal time by their length, so
// such an arrow must also take some time.
bool FlowPairs::TakeEvents(const Range& range, size_t source, size_t first_target,
                           size_t last_target) {
  auto usable = [&](const End& end) {
    return !end.is_instant && !taken_events_.contains(end.event_id);
  };
  if (!usable(ends_[source]) || ends_[first_target].ts_ns == ends_[source].ts_ns) return false;
  for (size_t i = first_target; i < last_target; ++i) {
    if (!usable(ends_[i])) return false;
  }
  taken_events_.insert(ends_[source].event_id);
  for (size_t i = first_target; i < last_target; ++i) taken_events_.insert(ends_[i].event_id);
  return true;
}

size_t FlowPairs::FirstNotBefore(const Range& range, const End& end) const {
  auto first = ends_.begin() + ptrdiff_t(range.begin);
  auto last = ends_.begin() + ptrdiff_t(range.targets);
  return size_t(std::lower_bound(first, last, end, Earlier) - ends_.begin());
}

size_t FlowPairs::PlaceOf(const Range& range, const End& end) const {
  if (!end.is_target) return FirstNotBefore(range, end);
  auto first = ends_.begin() + ptrdiff_t(range.targets);
  auto last = ends_.begin() + ptrdiff_t(range.end);
  return size_t(std::lower_bound(first, last, end, Earlier) - ends_.begin());
}

// Returns the targets after `source`, up to the point where kMaxSources other sources come between.
std::pair<size_t, size_t> FlowPairs::TargetsOf(const Range& range, size_t source) const {
  auto targets = ends_.begin() + ptrdiff_t(range.targets),
       end = ends_.begin() + ptrdiff_t(range.end);
  auto first = std::upper_bound(targets, end, ends_[source], Earlier);
  auto last = source + kMaxSources < range.targets
                  ? std::upper_bound(targets, end, ends_[source + kMaxSources], Earlier)
                  : end;
  return {size_t(first - ends_.begin()), size_t(last - ends_.begin())};
}

FlowPairs::Arrow FlowPairs::ArrowFrom(const End& source) const {
  auto found = of_flow_.find(source.flow);
  if (found == of_flow_.end()) return {};
  const size_t at = FirstNotBefore(found->second, source);
  if (at >= found->second.targets || ends_[at].event_id != source.event_id ||
      how_[at] == How::kLeftOut)
    return {};
  return {at + 1, how_[at] == How::kOnEvent};
}

}  // namespace xlaprof

#include "profiler/store/track_buffer.h"

namespace xlaprof {

uint16_t Nesting::Next(const Event& event) {
  constexpr size_t kMaxDepth = UINT16_MAX;
  if (any_ && EventBefore(event, last_))
    open_.clear();  // out of order: the events around it are not known any more
  any_ = true;
  last_ = event;
  while (!open_.empty() && open_.back() <= event.ts_ns) open_.pop_back();
  uint16_t depth = uint16_t(open_.size());
  int64_t end = event.dur_ns < 0 ? INT64_MAX : EventEnd(event.ts_ns, event.dur_ns);
  if (end > event.ts_ns && open_.size() < kMaxDepth) open_.push_back(end);
  return depth;
}

void EventRows::TakeTail(EventRows& from, size_t begin) {
  MakeRoom();
  const size_t args_begin = from.FirstArg(begin);
  events.assign(from.events.begin() + int64_t(begin), from.events.end());
  from.events.resize(begin);
  first_arg.clear();
  args.assign(from.args.begin() + int64_t(args_begin), from.args.end());
  from.args.resize(args_begin);
  labels.clear();
  if (!from.labels.empty()) {
    labels.assign(from.labels.begin() + int64_t(begin), from.labels.end());
    from.labels.resize(begin);
  }
  if (from.first_arg.empty()) return;
  for (size_t i = begin; i < from.first_arg.size(); ++i)
    first_arg.push_back(uint32_t(from.first_arg[i] - args_begin));
  from.first_arg.resize(begin);
}

void EventRows::MakeRoom() {
  events.reserve(kMaxInOrder);
  first_arg.reserve(kMaxInOrder);
  args.reserve(2 * kMaxInOrder);
  labels.reserve(kMaxInOrder);
}

void EventRows::Clear() {
  events.clear();
  first_arg.clear();
  args.clear();
  labels.clear();
}

void EventRows::Empty() {
  EmptyBuffer(events);
  EmptyBuffer(first_arg);
  EmptyBuffer(args);
  EmptyBuffer(labels);
}

void EventRows::Swap(EventRows& other) {
  events.swap(other.events);
  first_arg.swap(other.first_arg);
  args.swap(other.args);
  labels.swap(other.labels);
}

void SortedRows::Look(TrackBuffer& track) {
  track_ = &track;
  EmptyBuffer(sorted_);
  if (track.in_order) return;
  // Mostly a few events come late, such as those that are written down when they end. They go
  // between the others, which are in order.
  const std::vector<Event>& events = track.rows.events;
  order_.clear();
  order_.reserve(events.size());
  late_.clear();
  for (uint32_t i = 0; i < events.size(); ++i) {
    (order_.empty() || !EventBefore(events[i], events[order_.back()]) ? order_ : late_)
        .push_back(i);
  }
  auto before = [&](uint32_t a, uint32_t b) {
    if (EventBefore(events[a], events[b])) return true;
    return a < b && !EventBefore(events[b], events[a]);
  };
  std::sort(late_.begin(), late_.end(), before);
  sorted_.resize(events.size());
  // This merges from the back, where there is room.
  size_t in_order = order_.size(), to = events.size();
  order_.resize(to);
  for (size_t from = late_.size(); to > 0;) {
    const bool is_late =
        from > 0 && (in_order == 0 || before(order_[in_order - 1], late_[from - 1]));
    const uint32_t i = is_late ? late_[--from] : order_[--in_order];
    order_[--to] = i;
    sorted_[to] = events[i];
  }
}

size_t SortedRows::Fitting(size_t from, size_t to) const {
  if (track_->rows.args.size() <= kChunkArguments) return to;
  size_t args = 0;
  for (size_t i = from; i < to; ++i) {
    args += track_->rows.ArgsOf(Row(i)).size();
    if (i > from && args > kChunkArguments) return i;
  }
  return to;
}

void SortedRows::Copy(size_t from, size_t to, EventRows* copy) const {
  const EventRows& rows = track_->rows;
  const std::span<const Event> events = track_->in_order ? rows.events : sorted_;
  copy->MakeRoom();
  copy->events.assign(events.begin() + int64_t(from), events.begin() + int64_t(to));
  if (!rows.labels.empty()) {
    for (size_t i = from; i < to; ++i) copy->labels.push_back(rows.labels[Row(i)]);
  }
  if (rows.first_arg.empty()) return;
  for (size_t i = from; i < to; ++i) {
    const auto args = rows.ArgsOf(Row(i));
    copy->first_arg.push_back(uint32_t(copy->args.size()));
    copy->args.insert(copy->args.end(), args.begin(), args.end());
  }
}

}  // namespace xlaprof

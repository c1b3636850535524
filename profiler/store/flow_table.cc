// The virtual table flow: pairs of events that a number joins. Both ends are listed once per state
// of the file. Pairs are made while they are read, so that a number with many events at both ends
// costs no memory.
#include <algorithm>

#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof::sql {
namespace {

class FlowCursor {
 public:
  enum Columns { kFromEventId, kToEventId, kFlow };
  static constexpr const char* kName = "flow";
  static constexpr bool kWritable = false;
  explicit FlowCursor(Connection& connection) : connection_(connection) {}

  static void Plan(const Catalog& catalog, sqlite3_index_info* info) {
    auto taken = TakeConstraints(info, 1 << kFromEventId | 1 << kToEventId | 1 << kFlow, 0);
    bool one = Takes(taken, kFromEventId, true) || Takes(taken, kToEventId, true) ||
               Takes(taken, kFlow, true);
    double ends = double(catalog.event_count) * 0.1;
    if (one) return SetCost(info, kLookUpCost, 2);
    SetCost(info, kLookUpCost + double(catalog.event_count) * kDecodeCost + ends * kRowCost, ends);
  }

  absl::Status Filter(const std::vector<Constraint>& taken, uint64_t /*columns*/,
                      std::span<sqlite3_value*> values) {
    XP_TRY(flows_, connection_.ReadFlows());
    Range from, to, flow;
    for (size_t i = 0; i < taken.size() && i < values.size(); ++i) {
      Range& range = taken[i].column == kFromEventId ? from
                     : taken[i].column == kToEventId ? to
                                                     : flow;
      range.Narrow(taken[i].op, values[i]);
    }
    // The outer end is the one that the statement knows better; the inner ends are found by the
    // number.
    bool by_target = to.from == to.to && from.from != from.to;
    outer_is_source_ = !by_target;
    const FlowEnds& outer = outer_is_source_ ? flows_->out : flows_->in;
    inner_ends_ = outer_is_source_ ? &flows_->in.by_flow : &flows_->out.by_flow;
    const Range& events = outer_is_source_ ? from : to;
    bool empty = from.empty() || to.empty() || flow.empty();
    if (flow.from == flow.to && events.from != events.to) {
      auto [first, last] = OfFlow(outer.by_flow, uint64_t(flow.from));
      outer_ = std::span(outer.by_flow).subspan(first, last - first);
    } else {
      auto first =
          std::lower_bound(outer.by_event.begin(), outer.by_event.end(), events.from,
                           [](const FlowEnd& end, int64_t id) { return end.event_id < id; });
      auto last =
          std::upper_bound(first, outer.by_event.end(), events.to,
                           [](int64_t id, const FlowEnd& end) { return id < end.event_id; });
      outer_ = {first, last};
    }
    if (empty) outer_ = {};
    at_ = 0;
    EnterOuter();
    return absl::OkStatus();
  }

  absl::Status Next() {
    if (++inner_ == inner_last_) {
      ++at_;
      EnterOuter();
    }
    return absl::OkStatus();
  }
  bool AtEnd() const { return at_ >= outer_.size(); }
  int64_t RowId() const { return int64_t(at_); }

  absl::Status Column(sqlite3_context* context, int column) {
    int64_t outer = outer_[at_].event_id, inner = (*inner_ends_)[inner_].event_id;
    if (column == kFlow) {
      sqlite3_result_int64(context, int64_t(outer_[at_].flow));
    } else {
      sqlite3_result_int64(context, (column == kFromEventId) == outer_is_source_ ? outer : inner);
    }
    return absl::OkStatus();
  }

 private:
  static std::pair<size_t, size_t> OfFlow(const std::vector<FlowEnd>& ends, uint64_t flow) {
    auto first = std::lower_bound(ends.begin(), ends.end(), flow,
                                  [](const FlowEnd& end, uint64_t f) { return end.flow < f; });
    auto last = std::upper_bound(first, ends.end(), flow,
                                 [](uint64_t f, const FlowEnd& end) { return f < end.flow; });
    return {size_t(first - ends.begin()), size_t(last - ends.begin())};
  }

  // Skips outer ends whose number has no inner end.
  void EnterOuter() {
    for (; at_ < outer_.size(); ++at_) {
      std::tie(inner_, inner_last_) = OfFlow(*inner_ends_, outer_[at_].flow);
      if (inner_ < inner_last_) return;
    }
  }

  Connection& connection_;
  std::shared_ptr<const Flows> flows_;
  bool outer_is_source_ = true;
  std::span<const FlowEnd> outer_;
  const std::vector<FlowEnd>* inner_ends_ = nullptr;
  size_t at_ = 0, inner_ = 0, inner_last_ = 0;
};

}  // namespace

absl::Status RegisterFlow(sqlite3* db, const std::shared_ptr<Connection>& connection) {
  return Module<FlowCursor>::Register(db, connection);
}

}  // namespace xlaprof::sql

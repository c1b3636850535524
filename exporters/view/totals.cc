#include "exporters/view/totals.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exporters/view/short_text.h"

namespace xlaprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxRows = 1000;

struct Sum {
  NameTotals totals;
  std::vector<int64_t> lengths_ns;
};

// Returns the 99th percentile by nearest rank.
int64_t Percentile99(std::vector<int64_t>& lengths_ns) {
  const size_t rank = (lengths_ns.size() * 99 + 99) / 100;
  const auto at = lengths_ns.begin() + int64_t(std::max<size_t>(rank, 1)) - 1;
  std::nth_element(lengths_ns.begin(), at, lengths_ns.end());
  return *at;
}

}  // namespace

absl::StatusOr<std::vector<NameTotals>> TotalsByName(const Store& store, const ViewLanes& lanes,
                                                     const std::vector<int64_t>& lane_ids,
                                                     int64_t from_ns, int64_t to_ns,
                                                     StringId only) {
  const int64_t from = lanes.ToStore(from_ns), to = lanes.ToStore(to_ns);
  std::vector<Sum> sums;
  absl::flat_hash_map<StringId, size_t> place_of;  // index in sums, by name
  struct Open {
    int64_t end_ns = INT64_MIN;
    size_t sum = 0;
  };
  std::vector<Open> open;  // the last event of each row
  absl::flat_hash_set<int64_t> seen;
  for (int64_t id : lane_ids) {
    const ViewLane* lane = lanes.Find(id);
    if (lane == nullptr || lane->kind == TrackKind::kCounter || !seen.insert(id).second) continue;
    open.assign(size_t(lane->rows), {});
    XP_TRY(EachEvent(
        store, *lane, kDepth | kName | kCategory, from, to, [&](const EventBatch& batch, size_t i) {
          const int64_t ts_ns = batch.ts_ns[i];
          int64_t end_ns = EndOf(ts_ns, batch.dur_ns[i]);
          // An event that never ended ends with the run.
          if (end_ns == INT64_MAX) end_ns = std::max(ts_ns, lanes.ToStore(lanes.end_ns()));
          // The scanner's range includes both ends, unlike this one.
          if (ts_ns >= to || (end_ns <= from && ts_ns != from)) return;
          const int64_t part_ns = std::max<int64_t>(
              lanes.ToView(std::min(end_ns, to)) - lanes.ToView(std::max(ts_ns, from)), 0);
          const auto [found, is_new] = place_of.try_emplace(batch.name[i], sums.size());
          if (is_new) sums.push_back({{.name = batch.name[i], .category = batch.category[i]}, {}});
          Sum& sum = sums[found->second];
          ++sum.totals.count;
          sum.totals.total_ns += part_ns;
          sum.totals.self_ns += part_ns;
          if (only == 0 || only == batch.name[i]) sum.lengths_ns.push_back(part_ns);
          const size_t row = std::min<size_t>(lanes.RowOf(batch, i), open.size() - 1);
          open[row] = {end_ns, found->second};
          if (row > 0 && open[row - 1].end_ns >= end_ns)
            sums[open[row - 1].sum].totals.self_ns -= part_ns;
        }));
  }
  std::vector<NameTotals> all;
  for (Sum& sum : sums) {
    if (only != 0 && sum.totals.name != only) continue;
    sum.totals.max_ns = *std::max_element(sum.lengths_ns.begin(), sum.lengths_ns.end());
    sum.totals.p99_ns = Percentile99(sum.lengths_ns);
    all.push_back(sum.totals);
  }
  std::stable_sort(all.begin(), all.end(), [](const NameTotals& a, const NameTotals& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.count > b.count;
  });
  return all;
}

Json TotalsJson(const Store& store, const NameTotals& totals) {
  return {{"name", ShortText(store.Text(totals.name), kShownNameBytes)},
          {"category", std::string(store.Text(totals.category))},
          {"count", totals.count},
          {"total_ns", totals.total_ns},
          {"self_ns", totals.self_ns},
          {"mean_ns", totals.mean_ns()},
          {"p99_ns", totals.p99_ns},
          {"max_ns", totals.max_ns}};
}

absl::StatusOr<std::string> RangeJson(const Store& store, const ViewLanes& lanes,
                                      const std::vector<int64_t>& lane_ids, int64_t from_ns,
                                      int64_t to_ns) {
  XP_TRY(std::vector<NameTotals> all, TotalsByName(store, lanes, lane_ids, from_ns, to_ns));
  Json rows = Json::array();
  for (size_t i = 0; i < std::min(all.size(), kMaxRows); ++i)
    rows.push_back(TotalsJson(store, all[i]));
  const Json json = {{"rows", std::move(rows)},
                     {"left_out", all.size() - std::min(all.size(), kMaxRows)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlaprof

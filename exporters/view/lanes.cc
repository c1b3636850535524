#include "exporters/view/lanes.h"

#include <algorithm>
#include <map>

#include "exporters/timeline/process_labels.h"
#include "exporters/timeline/time_span.h"

namespace xlaprof {
absl::StatusOr<ViewLanes> ViewLanes::Make(const Store& store) {
  ViewLanes lanes;
  XP_TRY(lanes.FindSpan(store));
  XP_TRY(lanes.ReadTracks(store));
  for (ViewLane& lane : lanes.lanes_) {
    if (lane.kind != TrackKind::kCounter) XP_TRY(lanes.CountRows(store, lane));
  }
  std::erase_if(lanes.lanes_, [](const ViewLane& lane) { return lane.events == 0; });
  for (const ViewLane& lane : lanes.lanes_)
    lanes.place_of_.emplace(lane.id, lanes.place_of_.size());
  return lanes;
}

const ViewLane* ViewLanes::Find(int64_t id) const {
  const auto found = place_of_.find(id);
  return found == place_of_.end() ? nullptr : &lanes_[found->second];
}

int64_t ViewLanes::ToStore(int64_t view_ns) const {
  // Times further away are shown at the limit.
  if (view_ns >= kMaxSpanNs) return INT64_MAX;
  if (view_ns <= -kMaxSpanNs) return INT64_MIN;
  const __int128 at = __int128{view_ns} + origin_ns_;
  return int64_t(std::clamp<__int128>(at, INT64_MIN, INT64_MAX));
}

absl::Status ViewLanes::FindSpan(const Store& store) {
  const Slice& slice = store.slice();
  XP_TRY(const TimeSpan span, TimeSpanOf(store));
  origin_ns_ = std::max(span.first_ns.value_or(0), slice.from_ns.value_or(INT64_MIN));
  last_ns_ = std::min(span.last_ns.value_or(origin_ns_), slice.to_ns.value_or(INT64_MAX));
  last_ns_ = std::max(last_ns_, origin_ns_);
  return absl::OkStatus();
}

absl::Status ViewLanes::ReadTracks(const Store& store) {
  const OptInt only = store.slice().process_id;
  const std::string where =
      only ? fmt::format(" WHERE process_id = {} OR process_id IS NULL", *only) : "";
  std::map<int64_t, ViewProcess> known;
  XP_TRY(store.Each("SELECT id, host, pid, rank, name FROM process ORDER BY id",
                    [&](int64_t id, OptText host, OptInt pid, OptInt rank, OptText name) {
                      std::string detail = ProcessLabels(host, pid, rank);
                      if (!name) name = std::exchange(detail, "");
                      known[id] = {id, name->empty() ? "process" : *name, detail};
                    }));
  XP_TRY(store.Each(
      "SELECT id, process_id, kind, name, device, (SELECT CAST(total(max(count, 0)) AS INTEGER) "
      "FROM main.counter_chunk c WHERE c.track_id = track.id) FROM track" +
          where +
          " ORDER BY process_id IS NULL, process_id, kind = 'counter', device IS NOT NULL, sort, "
          "id",
      [&](int64_t id, OptInt process_id, TrackKind kind, std::string name, OptText device,
          int64_t samples) {
        const int64_t process = process_id.value_or(0);
        if (processes_.empty() || processes_.back().id != process) {
          const auto found = known.find(process);
          processes_.push_back(found != known.end() ? found->second
                                                    : ViewProcess{process, "of no process", ""});
        }
        lanes_.push_back({id, process, kind, name, device, 1, samples});
      }));
  return absl::OkStatus();
}

absl::Status ViewLanes::CountRows(const Store& store, ViewLane& lane) {
  std::vector<int64_t> end_of_row;
  bool overlap = false;
  int64_t last_ts_ns = INT64_MIN;
  // Reads events in the order of the chunks. If events of one row overlap, the lane is read again.
  XP_TRY(
      const int64_t damaged,
      EachEvent(store, lane, kDepth, INT64_MIN, INT64_MAX, [&](const EventBatch& batch, size_t i) {
        const int64_t ts_ns = batch.ts_ns[i];
        lane.chunks_in_order &= ts_ns >= last_ts_ns;
        last_ts_ns = ts_ns;
        ++lane.events;
        const size_t row = Capped(batch.depth[i]);
        if (row >= end_of_row.size()) [[unlikely]]
          end_of_row.resize(row + 1, INT64_MIN);
        overlap |= ts_ns < end_of_row[row] && row + 1 < kMaxRows;
        end_of_row[row] = EndOf(ts_ns, batch.dur_ns[i]);
      }));
  damaged_chunks_ += damaged;
  lane.rows = std::max<int64_t>(int64_t(end_of_row.size()), 1);
  return overlap ? PlaceSideBySide(store, lane) : absl::OkStatus();
}

// Places each event in the first free row below the events that it lies in.
absl::Status ViewLanes::PlaceSideBySide(const Store& store, ViewLane& lane) {
  std::vector<int64_t> end_of_row;
  XP_TRY(
      EachEvent(store, lane, kDepth, INT64_MIN, INT64_MAX, [&](const EventBatch& batch, size_t i) {
        const int64_t ts_ns = batch.ts_ns[i], end_ns = EndOf(ts_ns, batch.dur_ns[i]);
        size_t row = end_of_row.size();
        while (row > 0 && !(end_of_row[row - 1] > ts_ns && end_of_row[row - 1] >= end_ns)) --row;
        while (row < end_of_row.size() && end_of_row[row] > ts_ns) ++row;
        row = std::min<size_t>(row, kMaxRows - 1);
        if (row >= end_of_row.size()) end_of_row.resize(row + 1, INT64_MIN);
        end_of_row[row] = std::max(end_of_row[row], end_ns);
        std::vector<uint16_t>& rows = rows_of_chunk_[batch.chunk_id];
        const size_t index = size_t(batch.first_index) + i;
        if (rows.size() <= index) rows.resize(size_t(batch.first_index) + batch.size);
        rows[index] = uint16_t(row);
      }));
  lane.rows = std::max<int64_t>(int64_t(end_of_row.size()), 1);
  return absl::OkStatus();
}

uint16_t ViewLanes::PlacedRow(const EventBatch& batch, size_t i) const {
  const auto found = rows_of_chunk_.find(batch.chunk_id);
  const size_t index = size_t(batch.first_index) + i;
  return found == rows_of_chunk_.end() || index >= found->second.size() ? Capped(batch.depth[i])
                                                                        : found->second[index];
}

}  // namespace xlaprof

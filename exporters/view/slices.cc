#include "exporters/view/slices.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "exporters/view/short_text.h"
#include "exporters/view/varint.h"

namespace xlaprof {
namespace {

constexpr int64_t kNoCell = INT64_MIN;

struct DrawnSlice {
  int64_t ts_ns, end_ns;  // the view's time; INT64_MAX: never ended
  int64_t longest_ns, id;
  int64_t cell_end_ns;  // end of its merging cell; kNoCell: not short
  uint32_t count;
  StringId name;
  uint8_t category;
};

// Encodes the starts of a row, each as its distance from the previous one. The first may precede
// `from_ns`.
class Starts {
 public:
  explicit Starts(int64_t from_ns) : last_ns_(from_ns) {}
  void Put(int64_t ts_ns, std::string* out) {
    if (std::exchange(is_first_, false)) {
      PutSigned(ts_ns - last_ns_, out);
    } else {
      PutVarint(uint64_t(ts_ns - last_ns_), out);
    }
    last_ns_ = ts_ns;
  }

 private:
  int64_t last_ns_;
  bool is_first_ = true;
};

// The slices of one row, ordered by start; none overlaps another.
class Row {
 public:
  // Returns the slice that an event with this start is merged into, or null if it gets its own.
  DrawnSlice* Cover(int64_t ts_ns, bool is_short) {
    if (slices_.empty()) return nullptr;
    DrawnSlice& last = slices_.back();
    const bool same_cell = is_short && ts_ns < last.cell_end_ns;
    return same_cell || ts_ns < last.end_ns ? &last : nullptr;
  }
  void Add(const DrawnSlice& slice) { slices_.push_back(slice); }

  void Encode(int64_t from_ns, std::string* out) const {
    PutVarint(slices_.size(), out);
    Starts starts(from_ns);
    int64_t last_id = 0;
    for (const DrawnSlice& slice : slices_) {
      starts.Put(slice.ts_ns, out);
      PutVarint(slice.end_ns == INT64_MAX ? 0 : uint64_t(slice.end_ns - slice.ts_ns) + 1, out);
      PutVarint(slice.name, out);
      PutVarint(slice.category, out);
      PutVarint(slice.count, out);
      PutSigned(Apart(slice.id, last_id), out);
      last_id = slice.id;
    }
  }
  const std::vector<DrawnSlice>& slices() const { return slices_; }

 private:
  std::vector<DrawnSlice> slices_;
};

class Encoder {
 public:
  Encoder(const Store& store, const ViewLanes& lanes) : store_(store), lanes_(lanes) {
    uint8_t index = 0;
    for (std::string_view category : Vocabulary<Category>::kWords) {
      if (const StringId id = store.Find(category); id != 0) category_of_[id] = index;
      ++index;
    }
  }

  absl::StatusOr<std::string> Encode(const SlicesAsked& asked) {
    std::vector<const ViewLane*> wanted;
    absl::flat_hash_set<int64_t> seen;
    for (int64_t id : asked.lanes) {
      const ViewLane* lane = lanes_.Find(id);
      if (lane != nullptr && seen.insert(id).second) wanted.push_back(lane);
    }
    PutVarint(wanted.size(), &out_);
    for (const ViewLane* lane : wanted) {
      Part part = {
          .from_ns = std::clamp(asked.from_ns, -ViewLanes::kMaxSpanNs, ViewLanes::kMaxSpanNs),
          .to_ns = std::clamp(asked.to_ns, -ViewLanes::kMaxSpanNs, ViewLanes::kMaxSpanNs),
          .resolution_ns = asked.resolution_ns};
      if (lane->events <= kWholeLaneEvents)
        part.from_ns = 0, part.to_ns = lanes_.end_ns(), part.resolution_ns = 0;
      PutVarint(uint64_t(lane->id), &out_);
      PutVarint(lane->kind == TrackKind::kCounter ? 1 : 0, &out_);
      PutSigned(part.from_ns, &out_);
      PutSigned(part.to_ns, &out_);
      PutVarint(uint64_t(part.resolution_ns), &out_);
      if (lane->kind == TrackKind::kCounter) {
        XP_TRY(Counter(*lane, part));
      } else {
        XP_TRY(Slices(*lane, part));
      }
    }
    PutNames();
    return std::move(out_);
  }

 private:
  struct Part {  // what is encoded of a lane
    int64_t from_ns, to_ns, resolution_ns;
  };

  absl::Status Slices(const ViewLane& lane, const Part& part) {
    std::vector<Row> rows(size_t(lane.rows));
    XP_TRY(EachEvent(store_, lane, kDepth | kName | kCategory, lanes_.ToStore(part.from_ns),
                     lanes_.ToStore(part.to_ns), [&](const EventBatch& batch, size_t i) {
                       const size_t row = std::min<size_t>(lanes_.RowOf(batch, i), rows.size() - 1);
                       Draw(batch, i, part.resolution_ns, rows[row]);
                     }));
    PutVarint(rows.size(), &out_);
    for (const Row& row : rows) {
      for (const DrawnSlice& slice : row.slices()) Use(slice.name);
      row.Encode(part.from_ns, &out_);
    }
    return absl::OkStatus();
  }

  // Adds an event to a row. Of millions of events nearly all are merged into a slice, so that path
  // does only the necessary work.
  void Draw(const EventBatch& batch, size_t i, int64_t resolution_ns, Row& row) const {
    const int64_t ts_ns = lanes_.ToView(batch.ts_ns[i]), dur_ns = batch.dur_ns[i];
    const int64_t store_end_ns = EndOf(batch.ts_ns[i], dur_ns);
    const int64_t end_ns = store_end_ns == INT64_MAX ? INT64_MAX : lanes_.ToView(store_end_ns);
    const bool is_short = dur_ns >= 0 && dur_ns < resolution_ns;
    const int64_t longest_ns = end_ns == INT64_MAX ? INT64_MAX : dur_ns;
    if (DrawnSlice* cover = row.Cover(ts_ns, is_short)) {
      cover->end_ns = std::max(cover->end_ns, end_ns);
      ++cover->count;
      if (longest_ns <= cover->longest_ns) return;
      cover->longest_ns = longest_ns;
      cover->id = EventId(batch, i);
      cover->name = batch.name[i];
      cover->category = CategoryOf(batch.category[i]);
      return;
    }
    row.Add({.ts_ns = ts_ns,
             .end_ns = end_ns,
             .longest_ns = longest_ns,
             .id = EventId(batch, i),
             .cell_end_ns = is_short ? (ts_ns / resolution_ns + 1) * resolution_ns : kNoCell,
             .count = 1,
             .name = batch.name[i],
             .category = CategoryOf(batch.category[i])});
  }

  uint8_t CategoryOf(StringId text) const {
    const auto category = category_of_.find(text);
    return category == category_of_.end() ? uint8_t{0} : category->second;
  }

  absl::Status Counter(const ViewLane& lane, const Part& part) {
    struct Sample {
      int64_t ts_ns;
      double least, greatest, last;
    };
    std::vector<Sample> samples;
    std::optional<Sample> before;  // the last sample before the range: the value at its start
    XP_TRY(EachCounterBatch(store_, lane.id, [&](const CounterBatch& batch) {
      for (size_t i = 0; i < batch.ts_ns.size(); ++i) {
        const int64_t ts_ns = lanes_.ToView(batch.ts_ns[i]);
        const double value = batch.value[i];
        if (ts_ns > part.to_ns) continue;
        if (ts_ns < part.from_ns) {
          if (!before || ts_ns >= before->ts_ns) before = Sample{ts_ns, value, value, value};
          continue;
        }
        const bool same_cell =
            part.resolution_ns > 0 && !samples.empty() &&
            samples.back().ts_ns / part.resolution_ns == ts_ns / part.resolution_ns;
        if (!same_cell) {
          samples.push_back({ts_ns, value, value, value});
          continue;
        }
        Sample& cell = samples.back();
        cell.least = std::min(cell.least, value), cell.greatest = std::max(cell.greatest, value);
        cell.last = value;
      }
      return absl::OkStatus();
    }));
    if (before) samples.push_back(*before);
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.ts_ns < b.ts_ns; });
    PutVarint(1, &out_);
    PutVarint(samples.size(), &out_);
    Starts starts(part.from_ns);
    for (const Sample& sample : samples) {
      starts.Put(sample.ts_ns, &out_);
      for (double value : {sample.least, sample.greatest, sample.last}) PutDouble(value, &out_);
    }
    return absl::OkStatus();
  }

  void Use(StringId name) {
    if (used_.insert(name).second) names_.push_back(name);
  }

  void PutNames() {
    PutVarint(names_.size(), &out_);
    for (StringId name : names_) {
      PutVarint(name, &out_);
      PutText(ShortText(store_.Text(name), kShownNameBytes), &out_);
    }
  }

  const Store& store_;
  const ViewLanes& lanes_;
  absl::flat_hash_map<StringId, uint8_t> category_of_;
  absl::flat_hash_set<StringId> used_;
  std::vector<StringId> names_;
  std::string out_;
};

}  // namespace

absl::StatusOr<std::string> EncodeSlices(const Store& store, const ViewLanes& lanes,
                                         const SlicesAsked& asked) {
  return Encoder(store, lanes).Encode(asked);
}

}  // namespace xlaprof

// The virtual table counter_sample.
#include <algorithm>

#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof::sql {
namespace {

class CounterSampleCursor {
 public:
  enum Columns { kTrackId, kTsNs, kValue };
  static constexpr const char* kName = "counter_sample";
  static constexpr bool kWritable = true;
  explicit CounterSampleCursor(Connection& connection) : connection_(connection) {}

  static void Plan(const Catalog& catalog, sqlite3_index_info* info) {
    auto taken = TakeConstraints(info, 1 << kTrackId | 1 << kTsNs, 0);
    double rows = double(catalog.sample_count);
    if (Takes(taken, kTrackId, true)) rows *= 0.1;
    if (Takes(taken, kTsNs, true)) rows *= 0.01;
    if (Takes(taken, kTsNs, false)) rows *= 0.25;
    SetCost(info, kLookUpCost + rows * (kDecodeCost + kRowCost), rows);
  }

  absl::Status Filter(const std::vector<Constraint>& taken, uint64_t /*columns*/,
                      std::span<sqlite3_value*> values) {
    XP_TRY(catalog_, connection_.Now());
    tracks_ = times_ = Range();
    for (size_t i = 0; i < taken.size() && i < values.size(); ++i) {
      (taken[i].column == kTrackId ? tracks_ : times_).Narrow(taken[i].op, values[i]);
    }
    next_ = tracks_.empty() || times_.empty() ? catalog_->counters.size() : 0;
    row_ = end_ = 0;
    return Advance();
  }

  absl::Status Next() {
    ++row_;
    return Advance();
  }
  bool AtEnd() const { return row_ >= end_; }
  int64_t RowId() const { return int64_t(row_); }

  absl::Status Column(sqlite3_context* context, int column) {
    switch (column) {
      case kTrackId:
        sqlite3_result_int64(context, chunk_->track_id);
        break;
      case kTsNs:
        sqlite3_result_int64(context, ts_ns_[row_]);
        break;
      case kValue:
        sqlite3_result_double(context, value_[row_]);
        break;
    }
    return absl::OkStatus();
  }

  static auto& Pending(Connection& connection) { return connection.samples; }

  static absl::Status Insert(Connection& connection, std::span<sqlite3_value*> values,
                             sqlite3_int64* rowid) {
    for (int column : {int(kTrackId), int(kTsNs)}) {
      if (sqlite3_value_numeric_type(values[size_t(column)]) != SQLITE_INTEGER) {
        return Invalid("counter_sample.{} must be an integer",
                       column == kTrackId ? "track_id" : "ts_ns");
      }
    }
    int type = sqlite3_value_numeric_type(values[kValue]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
      return Invalid("counter_sample.value must be a number");
    connection.samples.rows.push_back({sqlite3_value_int64(values[kTrackId]),
                                       sqlite3_value_int64(values[kTsNs]),
                                       sqlite3_value_double(values[kValue])});
    *rowid = int64_t(connection.samples.rows.size());
    return absl::OkStatus();
  }

 private:
  absl::Status Advance() {
    while (row_ >= end_ && next_ < catalog_->counters.size()) {
      const CounterChunk& chunk = catalog_->counters[next_++];
      if (!tracks_.Holds(chunk.track_id) || chunk.min_ts_ns > times_.to ||
          chunk.max_ts_ns < times_.from)
        continue;
      XP_TRY(bool sound, connection_.Read(chunk, &ts_ns_, &value_));
      if (!sound) continue;
      chunk_ = &chunk;
      row_ = size_t(std::lower_bound(ts_ns_.begin(), ts_ns_.end(), times_.from) - ts_ns_.begin());
      end_ = size_t(std::upper_bound(ts_ns_.begin(), ts_ns_.end(), times_.to) - ts_ns_.begin());
    }
    return absl::OkStatus();
  }

  Connection& connection_;
  std::shared_ptr<const Catalog> catalog_;
  Range tracks_, times_;
  size_t next_ = 0;
  const CounterChunk* chunk_ = nullptr;
  std::vector<int64_t> ts_ns_;
  std::vector<double> value_;
  size_t row_ = 0, end_ = 0;
};

}  // namespace

absl::Status RegisterCounterSample(sqlite3* db, const std::shared_ptr<Connection>& connection) {
  return Module<CounterSampleCursor>::Register(db, connection);
}

}  // namespace xlaprof::sql

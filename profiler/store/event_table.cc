// The virtual table event.
#include <algorithm>
#include <string_view>

#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof::sql {
namespace {

// Returns the parts of a chunk that hold the columns that the statement looks at. Names are read
// through the chunk's dictionary.
uint32_t PartsOf(uint64_t columns) {
  static constexpr uint32_t kParts[] = {0,          0,          kStart,   kDuration,
                                        kNameIndex, kCategory,  kDepth,   kFlowIn,
                                        kFlowOut,   kNameIndex, kCategory};
  uint32_t parts = 0;
  for (size_t i = 0; i < std::size(kParts); ++i) {
    if (columns >> i & 1) parts |= kParts[i];
  }
  return parts;
}

class EventCursor {
 public:
  enum Columns {
    kId,
    kTrackId,
    kTsNs,
    kDurNs,
    kNameText,
    kCategoryText,
    kDepthColumn,
    kFlowInColumn,
    kFlowOutColumn,
    kNameId,
    kCategoryId
  };
  static constexpr const char* kName = "event";
  static constexpr bool kWritable = true;
  explicit EventCursor(Connection& connection) : connection_(connection) {}

  static void Plan(const Catalog& catalog, sqlite3_index_info* info) {
    constexpr uint64_t kRanges =
        1 << kId | 1 << kTrackId | 1 << kTsNs | 1 << kNameId | 1 << kCategoryId;
    constexpr uint64_t kTexts = 1 << kNameText | 1 << kCategoryText;
    auto taken = TakeConstraints(info, kRanges, kTexts);
    if (Takes(taken, kId, true)) return SetCost(info, kLookUpCost, 1, true);
    // `decoded` is the share of all events that are decoded, `kept` the share of these that are
    // returned.
    double decoded = 1, kept = 1;
    if (Takes(taken, kTrackId, true)) decoded /= double(catalog.track_count);
    if (Takes(taken, kTrackId, false)) decoded *= 0.5;
    if (Takes(taken, kId, false)) decoded *= 0.25;
    if (Takes(taken, kTsNs, true)) decoded *= 0.05, kept *= 0.001;
    if (Takes(taken, kTsNs, false)) decoded *= 0.25;
    if (Takes(taken, kNameText, true) || Takes(taken, kNameId, true)) kept *= 0.02;
    if (Takes(taken, kCategoryText, true) || Takes(taken, kCategoryId, true)) kept *= 0.2;
    double events = double(catalog.event_count);
    // A range of one id or time still decodes a whole chunk.
    SetCost(info, kLookUpCost + events * decoded * (kDecodeCost + kept * kRowCost),
            events * decoded * kept);
  }

  absl::Status Filter(const std::vector<Constraint>& taken, uint64_t columns,
                      std::span<sqlite3_value*> values) {
    XP_TRY(catalog_, connection_.Now());
    ids_ = tracks_ = times_ = names_ = categories_ = Range();
    chunk_ = nullptr;
    next_ = 0;
    row_ = end_ = 0;
    for (size_t i = 0; i < taken.size() && i < values.size(); ++i) {
      switch (taken[i].column) {
        case kId:
          ids_.Narrow(taken[i].op, values[i]);
          break;
        case kTrackId:
          tracks_.Narrow(taken[i].op, values[i]);
          break;
        case kTsNs:
          times_.Narrow(taken[i].op, values[i]);
          break;
        case kNameId:
          names_.Narrow(taken[i].op, values[i]);
          break;
        case kCategoryId:
          categories_.Narrow(taken[i].op, values[i]);
          break;
        case kNameText:
          XP_TRY(NarrowByText(&names_, values[i]));
          break;
        case kCategoryText:
          XP_TRY(NarrowByText(&categories_, values[i]));
          break;
      }
    }
    filters_names_ = names_.none || names_.from != INT64_MIN || names_.to != INT64_MAX;
    filters_categories_ =
        categories_.none || categories_.from != INT64_MIN || categories_.to != INT64_MAX;
    bool times = times_.from != INT64_MIN || times_.to != INT64_MAX;
    parts_ = PartsOf(columns);
    if (times) parts_ |= kStart;
    if (filters_names_) parts_ |= kNameIndex;
    if (filters_categories_) parts_ |= kCategory;
    for (const Range* range : {&ids_, &tracks_, &times_, &names_, &categories_}) {
      if (range->empty()) next_ = catalog_->chunks.size();
    }
    if (ids_.from == ids_.to && next_ == 0) {
      const EventChunk* chunk = catalog_->ChunkOf(ids_.from);
      next_ = catalog_->chunks.size();
      if (chunk == nullptr || !Wants(*chunk)) return absl::OkStatus();
      XP_TRY(auto kept, connection_.Events(*chunk, parts_));
      if (kept == nullptr) return absl::OkStatus();
      kept_ = std::move(kept);
      Enter(*chunk, &kept_->events);
      if (row_ < end_ && Keeps(row_)) return absl::OkStatus();
    }
    return Advance();
  }

  absl::Status Next() {
    ++row_;
    return Advance();
  }
  bool AtEnd() const { return row_ >= end_; }
  int64_t RowId() const { return chunk_->first_event_id + int64_t(row_); }

  absl::Status Column(sqlite3_context* context, int column) {
    switch (column) {
      case kId:
        sqlite3_result_int64(context, RowId());
        break;
      case kTrackId:
        sqlite3_result_int64(context, chunk_->track_id);
        break;
      case kTsNs:
        sqlite3_result_int64(context, columns_->ts_ns[row_]);
        break;
      case kDurNs:
        if (columns_->dur_ns[row_] >= 0) sqlite3_result_int64(context, columns_->dur_ns[row_]);
        break;
      case kNameText: {
        std::string_view& text = name_texts_[columns_->name_index[row_]];
        if (text.data() == nullptr) {
          XP_TRY(text, connection_.Text(columns_->names[columns_->name_index[row_]]));
        }
        ResultText(context, text);
        break;
      }
      case kCategoryText: {
        StringId id = columns_->category[row_];
        if (id == 0) break;
        if (id != category_id_) {
          XP_TRY(category_text_, connection_.Text(id));
          category_id_ = id;
        }
        ResultText(context, category_text_);
        break;
      }
      case kDepthColumn:
        sqlite3_result_int64(context, columns_->depth[row_]);
        break;
      case kFlowInColumn:
        NonZero(context, columns_->flow_in[row_]);
        break;
      case kFlowOutColumn:
        NonZero(context, columns_->flow_out[row_]);
        break;
      case kNameId:
        NonZero(context, columns_->names[columns_->name_index[row_]]);
        break;
      case kCategoryId:
        NonZero(context, columns_->category[row_]);
        break;
    }
    return absl::OkStatus();
  }

  static auto& Pending(Connection& connection) { return connection.events; }

  static absl::Status Insert(Connection& connection, std::span<sqlite3_value*> values,
                             sqlite3_int64* rowid) {
    auto is_null = [&](int column) {
      return sqlite3_value_type(values[size_t(column)]) == SQLITE_NULL;
    };
    auto integer = [&](int column, const char* name, auto* out) -> absl::Status {
      if (sqlite3_value_numeric_type(values[size_t(column)]) != SQLITE_INTEGER)
        return Invalid("event.{} must be an integer", name);
      *out = sqlite3_value_int64(values[size_t(column)]);
      return absl::OkStatus();
    };
    auto text = [&](int column) {
      auto* data = reinterpret_cast<const char*>(sqlite3_value_text(values[size_t(column)]));
      return std::string(data == nullptr ? "" : data,
                         size_t(sqlite3_value_bytes(values[size_t(column)])));
    };
    for (int column : {int(kDepthColumn), int(kNameId), int(kCategoryId)}) {
      if (!is_null(column))
        return Invalid(
            "event: depth, name_id and category_id follow from other columns and cannot be set");
    }
    PendingEvent row;
    XP_TRY(integer(kTrackId, "track_id", &row.track_id));
    XP_TRY(integer(kTsNs, "ts_ns", &row.event.ts_ns));
    row.event.dur_ns = kUnknownDuration;
    if (!is_null(kDurNs)) {
      XP_TRY(integer(kDurNs, "dur_ns", &row.event.dur_ns));
      if (row.event.dur_ns < 0)
        return Invalid("event.dur_ns is negative ({}). Use NULL for an event that never ended",
                       row.event.dur_ns);
    }
    if (is_null(kNameText)) return Invalid("event.name is NULL");
    row.name = text(kNameText);
    row.category = text(kCategoryText);
    if (!is_null(kFlowInColumn)) XP_TRY(integer(kFlowInColumn, "flow_in", &row.event.flow_in));
    if (!is_null(kFlowOutColumn)) XP_TRY(integer(kFlowOutColumn, "flow_out", &row.event.flow_out));
    auto& pending = connection.events.rows;
    row.id = -1 - int64_t(pending.size());
    if (!is_null(kId)) {
      XP_TRY(integer(kId, "id", &row.id));
      if (row.id <= 0 || row.id == INT64_MAX)
        return Invalid("event.id must be positive, not {}", row.id);
    }
    *rowid = row.id;
    pending.push_back(std::move(row));
    return absl::OkStatus();
  }

 private:
  static void NonZero(sqlite3_context* context, uint64_t value) {
    if (value != 0) sqlite3_result_int64(context, int64_t(value));
  }

  absl::Status NarrowByText(Range* range, sqlite3_value* value) {
    if (sqlite3_value_type(value) == SQLITE_NULL) range->none = true;
    if (sqlite3_value_type(value) != SQLITE_TEXT) return absl::OkStatus();
    auto* data = reinterpret_cast<const char*>(sqlite3_value_text(value));
    XP_TRY(int64_t id, connection_.Find({data, size_t(sqlite3_value_bytes(value))}));
    if (id == 0) range->none = true;
    range->from = std::max(range->from, id);
    range->to = std::min(range->to, id);
    return absl::OkStatus();
  }

  bool Wants(const EventChunk& chunk) const {
    return tracks_.Holds(chunk.track_id) && chunk.first_event_id <= ids_.to &&
           chunk.first_event_id + chunk.count - 1 >= ids_.from && chunk.min_ts_ns <= times_.to &&
           chunk.max_end_ns >= times_.from;
  }

  // Enters a decoded chunk, and sets row_ and end_ to the rows that ids and times allow.
  void Enter(const EventChunk& chunk, const EventColumns* columns) {
    chunk_ = &chunk;
    columns_ = columns;
    row_ = 0;
    end_ = columns->size;
    if (ids_.from > chunk.first_event_id) row_ = size_t(ids_.from - chunk.first_event_id);
    if (ids_.to < chunk.first_event_id + chunk.count - 1)
      end_ = size_t(ids_.to - chunk.first_event_id) + 1;
    if (times_.from != INT64_MIN || times_.to != INT64_MAX) {
      auto begin = columns->ts_ns.begin(), end = begin + int64_t(columns->size);
      row_ = std::max(row_, size_t(std::lower_bound(begin, end, times_.from) - begin));
      end_ = std::min(end_, size_t(std::upper_bound(begin, end, times_.to) - begin));
    }
    if (parts_ & kNameIndex) {
      name_texts_.assign(columns->names.size(), {});
      name_wanted_.resize(columns->names.size());
      for (size_t i = 0; i < name_wanted_.size(); ++i)
        name_wanted_[i] = names_.Holds(columns->names[i]);
    }
  }

  bool Keeps(size_t row) const {
    return (!filters_names_ || name_wanted_[columns_->name_index[row]]) &&
           (!filters_categories_ || categories_.Holds(columns_->category[row]));
  }

  absl::Status Advance() {
    while (true) {
      for (; row_ < end_; ++row_) {
        if (Keeps(row_)) return absl::OkStatus();
      }
      if (next_ >= catalog_->chunks.size()) return absl::OkStatus();
      const EventChunk& chunk = catalog_->chunks[next_++];
      if (!Wants(chunk)) continue;
      if (filters_names_) {
        // The dictionary is read first, because most chunks do not have a rare name.
        XP_TRY(bool sound, connection_.Read(chunk, kNameIndex, &own_));
        if (!sound || std::none_of(own_.names.begin(), own_.names.end(),
                                   [&](StringId id) { return names_.Holds(id); }))
          continue;
      }
      uint32_t rest = filters_names_ ? parts_ & ~kNameIndex : parts_;
      if (!filters_names_ || rest != 0) {
        XP_TRY(bool sound, connection_.Read(chunk, rest, &own_));
        if (!sound) continue;
      }
      Enter(chunk, &own_);
    }
  }

  Connection& connection_;
  std::shared_ptr<const Catalog> catalog_;
  Range ids_, tracks_, times_, names_, categories_;
  bool filters_names_ = false, filters_categories_ = false;
  uint32_t parts_ = 0;
  size_t next_ = 0;  // index in the catalog's chunks
  const EventChunk* chunk_ = nullptr;
  EventColumns own_;
  std::shared_ptr<const DecodedEvents> kept_;
  const EventColumns* columns_ = nullptr;  // own_ or kept_
  size_t row_ = 0, end_ = 0;
  std::vector<std::string_view> name_texts_;  // by index in the dictionary; filled on demand
  std::vector<char> name_wanted_;
  StringId category_id_ = 0;
  std::string_view category_text_;
};

}  // namespace

absl::Status RegisterEvent(sqlite3* db, const std::shared_ptr<Connection>& connection) {
  return Module<EventCursor>::Register(db, connection);
}

}  // namespace xlaprof::sql

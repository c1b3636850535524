// The virtual table arg.
#include <algorithm>

#include "base/numbers.h"
#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof::sql {
namespace {

class ArgCursor {
 public:
  enum Columns { kEventId, kKey, kType, kValue, kKeyId };
  static constexpr const char* kName = "arg";
  static constexpr bool kWritable = true;
  explicit ArgCursor(Connection& connection) : connection_(connection) {}

  static void Plan(const Catalog& catalog, sqlite3_index_info* info) {
    auto taken = TakeConstraints(info, 1 << kEventId | 1 << kKeyId, 1 << kKey);
    double values = double(std::max<int64_t>(catalog.argument_count, 1));
    double an_event = std::max(1.0, values / double(std::max<int64_t>(catalog.event_count, 1)));
    bool one_key = Takes(taken, kKey, true) || Takes(taken, kKeyId, true);
    if (Takes(taken, kEventId, true))
      return SetCost(info, kLookUpCost + an_event, one_key ? 1 : an_event);
    double share = one_key ? 0.1 : 1;
    if (Takes(taken, kEventId, false)) share *= 0.25;
    SetCost(info, kLookUpCost + values * share * (kDecodeCost + kRowCost), values * share);
  }

  absl::Status Filter(const std::vector<Constraint>& taken, uint64_t /*columns*/,
                      std::span<sqlite3_value*> values) {
    XP_TRY(catalog_, connection_.Now());
    events_ = keys_ = Range();
    for (size_t i = 0; i < taken.size() && i < values.size(); ++i) {
      if (taken[i].column == kEventId) events_.Narrow(taken[i].op, values[i]);
      if (taken[i].column == kKeyId) keys_.Narrow(taken[i].op, values[i]);
      if (taken[i].column != kKey) continue;
      if (sqlite3_value_type(values[i]) == SQLITE_NULL) keys_.none = true;
      if (sqlite3_value_type(values[i]) != SQLITE_TEXT) continue;
      auto* data = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
      XP_TRY(int64_t id, connection_.Find({data, size_t(sqlite3_value_bytes(values[i]))}));
      if (id == 0) keys_.none = true;
      keys_.from = std::max(keys_.from, id);
      keys_.to = std::min(keys_.to, id);
    }
    kept_ = nullptr;
    next_chunk_ = 0;
    last_chunk_ = catalog_->chunks.size();
    if (events_.empty() || keys_.empty()) {
      last_chunk_ = 0;
    } else if (events_.from == events_.to) {
      const EventChunk* chunk = catalog_->ChunkOf(events_.from);
      next_chunk_ = chunk == nullptr ? 0 : size_t(chunk - catalog_->chunks.data());
      last_chunk_ = chunk == nullptr ? 0 : next_chunk_ + 1;
    }
    return EnterChunk();
  }

  absl::Status Next() {
    ++row_;
    return Settle();
  }
  bool AtEnd() const { return kept_ == nullptr; }
  int64_t RowId() const { return EventId(); }

  absl::Status Column(sqlite3_context* context, int column) {
    const DecodedArgs::Key& key = kept_->keys[key_];
    switch (column) {
      case kEventId:
        sqlite3_result_int64(context, EventId());
        break;
      case kKeyId:
        sqlite3_result_int64(context, key.key_id);
        break;
      case kKey: {
        XP_TRY(std::string_view text, connection_.Text(key.key_id));
        ResultText(context, text);
        break;
      }
      case kType:
        ResultText(context, ArgTypeName(key.type));
        break;
      case kValue:
        return Value(context, ArgFromBits(key.type, key.column.bits[value_]));
    }
    return absl::OkStatus();
  }

  static auto& Pending(Connection& connection) { return connection.args; }

  static absl::Status Insert(Connection& connection, std::span<sqlite3_value*> values,
                             sqlite3_int64* rowid) {
    auto text = [](sqlite3_value* value) {
      auto* data = static_cast<const char*>(sqlite3_value_blob(value));
      return std::string(data == nullptr ? "" : data, size_t(sqlite3_value_bytes(value)));
    };
    if (sqlite3_value_type(values[kKeyId]) != SQLITE_NULL)
      return Invalid("arg.key_id follows from key and cannot be set");
    PendingArg row;
    if (sqlite3_value_numeric_type(values[kEventId]) != SQLITE_INTEGER)
      return Invalid("arg.event_id must be an integer");
    row.event_id = sqlite3_value_int64(values[kEventId]);
    if (sqlite3_value_type(values[kKey]) == SQLITE_NULL) return Invalid("arg.key is NULL");
    row.key = text(values[kKey]);
    sqlite3_value* value = values[kValue];
    int stored = sqlite3_value_type(value);
    switch (stored) {
      case SQLITE_INTEGER:
        row.type = ArgType::kInt;
        break;
      case SQLITE_FLOAT:
        row.type = ArgType::kDouble;
        break;
      case SQLITE_TEXT:
        row.type = ArgType::kString;
        break;
      case SQLITE_BLOB:
        row.type = ArgType::kBytes;
        break;
      default:
        return Invalid("arg.value of key {} is NULL. Leave the row out", row.key);
    }
    if (sqlite3_value_type(values[kType]) != SQLITE_NULL) {
      std::string name = text(values[kType]);
      auto type = ArgTypeFromName(name);
      if (!type)
        return Invalid("arg.type '{}' is not one of int, uint, double, string, bytes", name);
      row.type = *type;
    }
    bool fits = true;
    std::string digits = stored == SQLITE_TEXT ? text(value) : "";
    auto parse = [&]<class T>(T* number) {
      const std::optional<T> parsed = ParseInteger<T>(digits);
      if (parsed) *number = *parsed;
      return parsed.has_value();
    };
    switch (row.type) {
      case ArgType::kInt: {
        int64_t number = sqlite3_value_int64(value);
        fits = stored == SQLITE_INTEGER || (stored == SQLITE_TEXT && parse(&number));
        row.bits = ArgBits(number);
        break;
      }
      case ArgType::kUint: {
        uint64_t number = uint64_t(sqlite3_value_int64(value));
        fits = (stored == SQLITE_INTEGER && int64_t(number) >= 0) ||
               (stored == SQLITE_TEXT && parse(&number));
        row.bits = ArgBits(number);
        break;
      }
      case ArgType::kDouble:
        fits = sqlite3_value_numeric_type(value) == SQLITE_INTEGER ||
               sqlite3_value_numeric_type(value) == SQLITE_FLOAT;
        row.bits = ArgBits(sqlite3_value_double(value));
        break;
      case ArgType::kString:
      case ArgType::kBytes:
        fits = stored == SQLITE_TEXT || stored == SQLITE_BLOB;
        row.text = text(value);
        break;
    }
    if (!fits)
      return Invalid("arg.value of key {} is not of type {}", row.key, ArgTypeName(row.type));
    *rowid = int64_t(connection.args.rows.size()) + 1;
    connection.args.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

 private:
  int64_t EventId() const { return chunk_->first_event_id + int64_t(Index()); }
  // Returns the index of the current row's event in the chunk. For a by_name key, row_ counts the
  // events of the chunk; for an event's own key, it counts the values.
  size_t Index() const {
    const DecodedArgs::Key& key = kept_->keys[key_];
    return key.by_name ? row_ : key.column.index[row_];
  }

  absl::Status Value(sqlite3_context* context, const ArgValue& value) {
    if (auto* integer = std::get_if<int64_t>(&value)) {
      sqlite3_result_int64(context, *integer);
    } else if (auto* natural = std::get_if<uint64_t>(&value)) {
      if (*natural <= uint64_t(INT64_MAX)) {
        sqlite3_result_int64(context, int64_t(*natural));
      } else {
        std::string digits = fmt::to_string(*natural);
        sqlite3_result_text64(context, digits.data(), digits.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
      }
    } else if (auto* real = std::get_if<double>(&value)) {
      sqlite3_result_double(context, *real);
    } else if (auto* text = std::get_if<xlaprof::Text>(&value)) {
      XP_TRY(std::string_view found, connection_.Text(text->id));
      ResultText(context, found);
    } else {
      XP_TRY(std::string_view found, connection_.Text(std::get<Bytes>(value).id));
      sqlite3_result_blob64(context, found.data() == nullptr ? "" : found.data(), found.size(),
                            SQLITE_STATIC);
    }
    return absl::OkStatus();
  }

  // Decodes chunks from next_chunk_ on until one has a row. If none has, kept_ is null.
  absl::Status EnterChunk() {
    while (true) {
      kept_ = nullptr;
      if (next_chunk_ >= last_chunk_) return absl::OkStatus();
      chunk_ = &catalog_->chunks[next_chunk_++];
      if (chunk_->first_event_id > events_.to ||
          chunk_->first_event_id + chunk_->count - 1 < events_.from)
        continue;
      StringId only = keys_.from == keys_.to ? StringId(keys_.from) : 0;
      XP_TRY(kept_, connection_.Args(*chunk_, only));
      first_ =
          events_.from > chunk_->first_event_id ? size_t(events_.from - chunk_->first_event_id) : 0;
      last_ = events_.to < chunk_->first_event_id + chunk_->count
                  ? size_t(events_.to - chunk_->first_event_id) + 1
                  : size_t(chunk_->count);
      key_ = 0;
      EnterKey();
      if (FindRow()) return absl::OkStatus();
    }
  }

  void EnterKey() {
    if (key_ >= kept_->keys.size()) return;
    const DecodedArgs::Key& key = kept_->keys[key_];
    const auto& index = key.column.index;
    if (!keys_.Holds(key.key_id)) {
      row_ = end_ = 0;
    } else if (key.by_name) {
      row_ = first_;
      end_ = std::min(last_, kept_->names.size);
      value_of_name_.assign(kept_->names.names.size(), -1);
      for (size_t i = 0; i < index.size(); ++i) value_of_name_[index[i]] = int64_t(i);
    } else {
      row_ = size_t(std::lower_bound(index.begin(), index.end(), first_) - index.begin());
      end_ = size_t(std::lower_bound(index.begin(), index.end(), last_) - index.begin());
    }
  }

  // Moves to the first row at or after row_ in this chunk.
  bool FindRow() {
    for (; key_ < kept_->keys.size(); ++key_, EnterKey()) {
      for (; row_ < end_; ++row_) {
        if (!kept_->keys[key_].by_name) {
          value_ = row_;
          return true;
        }
        int64_t value = value_of_name_[kept_->names.name_index[row_]];
        if (value >= 0) {
          value_ = size_t(value);
          return true;
        }
      }
    }
    return false;
  }

  absl::Status Settle() { return FindRow() ? absl::OkStatus() : EnterChunk(); }

  Connection& connection_;
  std::shared_ptr<const Catalog> catalog_;
  Range events_, keys_;
  size_t next_chunk_ = 0, last_chunk_ = 0;
  const EventChunk* chunk_ = nullptr;
  std::shared_ptr<const DecodedArgs> kept_;
  size_t first_ = 0, last_ = 0;  // indices in the chunk that events_ allows
  size_t key_ = 0, row_ = 0, end_ = 0, value_ = 0;
  std::vector<int64_t> value_of_name_;
};

}  // namespace

absl::Status RegisterArg(sqlite3* db, const std::shared_ptr<Connection>& connection) {
  return Module<ArgCursor>::Register(db, connection);
}

}  // namespace xlaprof::sql

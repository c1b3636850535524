// One connection's view of its chunks and strings, for the virtual tables.
#include <algorithm>

#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof::sql {
namespace {

// The number of decoded chunks that are kept for look-ups by id. At 3 MB for a full chunk of
// events, they take about 50 MB.
constexpr size_t kKeptChunks = 16;

absl::Status Prepare(sqlite3* db, std::string_view text, Statement* out) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db, text.data(), int(text.size()), &raw, nullptr) != SQLITE_OK) {
    return SqliteError(db, "reading chunks");
  }
  *out = Statement(raw);
  return absl::OkStatus();
}

std::string_view Blob(const Statement& statement) { return statement.Column<std::string_view>(0); }

}  // namespace

const EventChunk* Catalog::ChunkOf(int64_t event_id) const {
  auto after = std::upper_bound(
      by_first_id.begin(), by_first_id.end(), event_id,
      [&](int64_t id, uint32_t chunk) { return id < chunks[chunk].first_event_id; });
  if (after == by_first_id.begin()) return nullptr;
  const EventChunk& chunk = chunks[*std::prev(after)];
  return event_id - chunk.first_event_id < chunk.count ? &chunk : nullptr;
}

void Connection::TableDisconnected() {
  if (--tables_ == 0)
    for (Statement* statement :
         {&read_events_, &read_args_, &read_samples_, &read_text_, &find_text_})
      *statement = Statement();
}

absl::StatusOr<std::shared_ptr<const Catalog>> Connection::Now() {
  unsigned version = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  int64_t changes = sqlite3_total_changes64(db);
  if (catalog_ == nullptr || version != data_version_ || changes != total_changes_) {
    XP_TRY(CheckStrings());
    XP_TRY(LoadCatalog());
    data_version_ = version;
    total_changes_ = changes;
  }
  return catalog_;
}

// Strings are only ever appended, so what is known stays true, unless a transaction that wrote some
// was rolled back. Then the highest id that was read is missing or has another text.
absl::Status Connection::CheckStrings() {
  found_.clear();
  if (text_by_id_.empty()) return absl::OkStatus();
  XP_TRY(Statement * read, Prepared(&read_text_, "SELECT text FROM main.string WHERE id = ?1"));
  read->Bind(1, highest_id_);
  absl::StatusOr<bool> row = read->Step();
  bool same = row.ok() && *row && Blob(*read) == text_by_id_[highest_id_];
  read->Reset();
  XP_TRY(std::move(row));
  if (!same) {
    text_by_id_.clear();
    highest_id_ = 0;
  }
  return absl::OkStatus();
}

absl::Status Connection::LoadCatalog() {
  auto next = std::make_shared<Catalog>();
  Statement list;
  XP_TRY(Prepare(
      db, "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name = 'event_chunk'",
      &list));
  XP_TRY(bool there, list.Step());
  if (!there)
    return Invalid("this database is not an xlaprof store (table event_chunk is missing)");
  XP_TRY(Prepare(
      db,
      "SELECT id, track_id, first_event_id, count, min_ts_ns, max_end_ns FROM main.event_chunk "
      "WHERE count > 0 ORDER BY track_id, min_ts_ns, id",
      &list));
  auto column = [&](int i) { return list.Column<int64_t>(i); };
  while (true) {
    XP_TRY(bool row, list.Step());
    if (!row) break;
    if (next->chunks.empty() || next->chunks.back().track_id != column(1))
      next->track_count += !next->chunks.empty();
    next->chunks.push_back({column(0), column(1), column(2), column(3), column(4), column(5)});
    next->event_count += column(3);
  }
  next->by_first_id.resize(next->chunks.size());
  for (uint32_t i = 0; i < next->by_first_id.size(); ++i) next->by_first_id[i] = i;
  std::sort(next->by_first_id.begin(), next->by_first_id.end(), [&](uint32_t a, uint32_t b) {
    return next->chunks[a].first_event_id < next->chunks[b].first_event_id;
  });
  XP_TRY(Prepare(db,
                 "SELECT id, track_id, count, min_ts_ns, max_ts_ns FROM main.counter_chunk "
                 "WHERE count > 0 ORDER BY track_id, min_ts_ns, id",
                 &list));
  while (true) {
    XP_TRY(bool row, list.Step());
    if (!row) break;
    next->counters.push_back({column(0), column(1), column(2), column(3), column(4)});
    next->sample_count += column(2);
  }
  // An estimate: a value of a name counts once, however many events have that name.
  XP_TRY(Prepare(db, "SELECT CAST(total(count) AS INTEGER) FROM main.arg_chunk", &list));
  XP_TRY(bool row, list.Step());
  if (row) next->argument_count = column(0);
  catalog_ = std::move(next);
  kept_events_.clear();
  kept_args_.clear();
  return absl::OkStatus();
}

absl::StatusOr<Statement*> Connection::Prepared(Statement* slot, std::string_view text) {
  if (slot->get() == nullptr) XP_TRY(Prepare(db, text, slot));
  return slot;
}

absl::StatusOr<std::string_view> Connection::Text(StringId id) {
  if (auto known = text_by_id_.find(id); known != text_by_id_.end()) return known->second;
  XP_TRY(Statement * read, Prepared(&read_text_, "SELECT text FROM main.string WHERE id = ?1"));
  read->Bind(1, id);
  absl::StatusOr<bool> row = read->Step();
  if (row.ok()) texts_.emplace_back(*row ? Blob(*read) : "");
  read->Reset();
  XP_TRY(std::move(row));
  text_by_id_.emplace(id, texts_.back());
  highest_id_ = std::max(highest_id_, id);
  return std::string_view(texts_.back());
}

absl::StatusOr<StringId> Connection::Find(std::string_view text) {
  if (auto known = found_.find(std::string(text)); known != found_.end()) return known->second;
  XP_TRY(Statement * find, Prepared(&find_text_, "SELECT id FROM main.string WHERE text = ?1"));
  find->Bind(1, text);
  absl::StatusOr<bool> row = find->Step();
  StringId id = row.ok() && *row ? find->Column<StringId>(0) : 0;
  find->Reset();
  XP_TRY(std::move(row));
  found_.emplace(text, id);
  return id;
}

absl::StatusOr<bool> Connection::Read(const EventChunk& chunk, uint32_t columns,
                                      EventColumns* out) {
  XP_TRY(Statement * read,
         Prepared(&read_events_, "SELECT columns FROM main.event_chunk WHERE id = ?1"));
  read->Bind(1, chunk.id);
  absl::StatusOr<bool> row = read->Step();
  absl::Status sound = row.status();
  if (row.ok()) {
    sound = *row ? decoder_.Events(Blob(*read), chunk.count, chunk.min_ts_ns, columns, out)
                 : DataLoss("gone");
  }
  read->Reset();
  chunks_read += columns != kNameIndex;
  if (absl::IsDataLoss(sound)) {
    ++chunks_damaged;
    return false;
  }
  XP_TRY(std::move(sound));
  return true;
}

absl::StatusOr<bool> Connection::Read(const CounterChunk& chunk, std::vector<int64_t>* ts_ns,
                                      std::vector<double>* value) {
  XP_TRY(Statement * read,
         Prepared(&read_samples_, "SELECT columns FROM main.counter_chunk WHERE id = ?1"));
  read->Bind(1, chunk.id);
  absl::StatusOr<bool> row = read->Step();
  absl::Status sound = row.status();
  if (row.ok())
    sound = *row ? decoder_.Samples(Blob(*read), chunk.count, chunk.min_ts_ns, ts_ns, value)
                 : DataLoss("gone");
  read->Reset();
  ++chunks_read;
  if (absl::IsDataLoss(sound)) {
    ++chunks_damaged;
    return false;
  }
  XP_TRY(std::move(sound));
  return true;
}

absl::StatusOr<std::shared_ptr<const DecodedEvents>> Connection::Events(const EventChunk& chunk,
                                                                        uint32_t columns) {
  auto kept = std::find_if(kept_events_.begin(), kept_events_.end(),
                           [&](auto& k) { return k.chunk_id == chunk.id; });
  if (kept != kept_events_.end()) {
    kept_events_.splice(kept_events_.begin(), kept_events_, kept);
    if (kept->value == nullptr || (columns & ~kept->value->columns) == 0) return kept->value;
    columns |= kept->value->columns;
    kept_events_.erase(kept);  // a cursor may still hold it, so a new one replaces it
  }
  auto decoded = std::make_shared<DecodedEvents>();
  decoded->columns = columns;
  XP_TRY(bool sound, Read(chunk, columns, &decoded->events));
  if (!sound) decoded = nullptr;
  kept_events_.push_front({chunk.id, 0, decoded});
  if (kept_events_.size() > kKeptChunks) kept_events_.pop_back();
  return decoded;
}

absl::StatusOr<std::shared_ptr<const DecodedArgs>> Connection::Args(const EventChunk& chunk,
                                                                    StringId only_key) {
  auto kept = std::find_if(kept_args_.begin(), kept_args_.end(), [&](auto& k) {
    return k.chunk_id == chunk.id && (k.key_id == 0 || k.key_id == only_key);
  });
  if (kept != kept_args_.end()) {
    kept_args_.splice(kept_args_.begin(), kept_args_, kept);
    return kept->value;
  }
  XP_TRY(
      Statement * read,
      Prepared(
          &read_args_,
          "SELECT columns, key_id, type, by_name, count FROM main.arg_chunk "
          "WHERE event_chunk_id = ?1 AND (?2 = 0 OR key_id = ?2) ORDER BY key_id, by_name, type"));
  read->Bind(1, chunk.id);
  read->Bind(2, only_key);
  auto decoded = std::make_shared<DecodedArgs>();
  absl::StatusOr<bool> row;
  while ((row = read->Step()).ok() && *row) {
    std::optional<ArgType> type = ArgTypeFromName(read->Column<std::string_view>(2));
    DecodedArgs::Key key{
        read->Column<StringId>(1), type.value_or(ArgType::kInt), read->Column<bool>(3), {}};
    if (key.by_name && decoded->names.size == 0) {
      XP_TRY(bool sound, Read(chunk, kNameIndex, &decoded->names));
      if (!sound) break;  // the names that its values belong to are not known
    }
    size_t limit = key.by_name ? decoded->names.names.size() : size_t(chunk.count);
    absl::Status sound =
        type ? decoder_.Arguments(Blob(*read), *type, read->Column<int64_t>(4), limit, &key.column)
             : DataLoss("type");
    ++chunks_read;
    if (absl::IsDataLoss(sound)) {
      ++chunks_damaged;
      continue;
    }
    if (!sound.ok()) {
      read->Reset();
      return sound;
    }
    decoded->keys.push_back(std::move(key));
  }
  read->Reset();
  XP_TRY(std::move(row));
  kept_args_.push_front({chunk.id, only_key, decoded});
  if (kept_args_.size() > kKeptChunks) kept_args_.pop_back();
  return decoded;
}

absl::StatusOr<std::shared_ptr<const Flows>> Connection::ReadFlows() {
  XP_TRY(Now());
  if (catalog_->flows != nullptr) return catalog_->flows;
  auto flows = std::make_shared<Flows>();
  EventColumns columns;
  for (const EventChunk& chunk : catalog_->chunks) {
    XP_TRY(bool sound, Read(chunk, kFlowIn | kFlowOut, &columns));
    for (size_t i = 0; sound && i < columns.size; ++i) {
      int64_t id = chunk.first_event_id + int64_t(i);
      if (columns.flow_out[i] != 0) flows->out.by_flow.push_back({columns.flow_out[i], id});
      if (columns.flow_in[i] != 0) flows->in.by_flow.push_back({columns.flow_in[i], id});
    }
  }
  for (FlowEnds* ends : {&flows->out, &flows->in}) {
    ends->by_event = ends->by_flow;
    std::sort(ends->by_flow.begin(), ends->by_flow.end(), [](const FlowEnd& a, const FlowEnd& b) {
      return a.flow != b.flow ? a.flow < b.flow : a.event_id < b.event_id;
    });
    std::sort(ends->by_event.begin(), ends->by_event.end(),
              [](const FlowEnd& a, const FlowEnd& b) { return a.event_id < b.event_id; });
  }
  catalog_->flows = flows;
  return flows;
}

}  // namespace xlaprof::sql

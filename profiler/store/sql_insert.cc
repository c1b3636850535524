// At COMMIT, turns the rows that were inserted into the virtual tables into chunks.
//
// An event that was given an id keeps it. The others are numbered above all ids in the file and in
// the transaction, by track, then in chunk order. An event's id is its chunk's first id plus its
// index, so a chunk ends where the ids of a track, in chunk order, are not consecutive.
#include <algorithm>
#include <numeric>

#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof::sql {
namespace {

// The ids of interned texts and bytes. All are read once per COMMIT.
class Interner {
 public:
  explicit Interner(sqlite3* db) : db_(db) {}

  absl::Status Load() {
    XP_TRY(Prepare("SELECT id, text, typeof(text) = 'blob' FROM main.string", &statement_));
    while (true) {
      XP_TRY(bool row, statement_.Step());
      if (!row) break;
      int64_t id = statement_.Column<int64_t>(0);
      if (id < 1 || id > UINT32_MAX) continue;
      (statement_.Column<bool>(2) ? bytes_ : texts_)
          .emplace(statement_.Column<std::string_view>(1), StringId(id));
      highest_ = std::max(highest_, StringId(id));
    }
    return Prepare("INSERT INTO main.string (id, text) VALUES (?1, ?2)", &statement_);
  }

  absl::StatusOr<StringId> Id(const std::string& text, bool bytes) {
    auto& ids = bytes ? bytes_ : texts_;
    if (auto found = ids.find(text); found != ids.end()) return found->second;
    if (highest_ == UINT32_MAX) return absl::ResourceExhaustedError("all string ids are used");
    statement_.Bind(1, highest_ + 1);
    if (bytes) {
      sqlite3_bind_blob64(statement_.get(), 2, text.data(), text.size(), SQLITE_STATIC);
    } else {
      statement_.Bind(2, text);
    }
    XP_TRY(statement_.Step());
    statement_.Reset();
    ids.emplace(text, ++highest_);
    return highest_;
  }

 private:
  absl::Status Prepare(const char* text, Statement* out) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_, text, -1, &raw, nullptr) != SQLITE_OK)
      return SqliteError(db_, "interning text");
    *out = Statement(raw);
    return absl::OkStatus();
  }

  sqlite3* db_;
  Statement statement_;
  absl::flat_hash_map<std::string, StringId> texts_, bytes_;
  StringId highest_ = 0;
};

// Writes the events of one track, in chunk order, so that each run of consecutive ids lands in
// chunks with these ids.
class RunWriter {
 public:
  explicit RunWriter(sqlite3* db) : db_(db), writer_(db) {}

  absl::Status Prepare() {
    XP_TRY(Prepare("SELECT coalesce(max(id), 0) FROM main.event_chunk", &last_chunk_));
    return Prepare(
        "UPDATE main.event_chunk SET first_event_id = first_event_id + ?2 - "
        "(SELECT min(first_event_id) FROM main.event_chunk WHERE id > ?1) WHERE id > ?1",
        &shift_);
  }

  absl::Status Add(const PendingEvent& row, const Event& event) {
    if (count_ > 0 && (row.track_id != track_id_ || row.id != first_id_ + count_)) XP_TRY(Finish());
    if (count_ == 0) {
      XP_TRY(bool found, last_chunk_.Step());
      chunk_before_ = found ? last_chunk_.Column<int64_t>(0) : 0;
      last_chunk_.Reset();
      track_id_ = row.track_id;
      first_id_ = row.id;
    }
    ++count_;
    return writer_.Add(row.track_id, event);
  }

  absl::Status Finish() {
    XP_TRY(writer_.Flush());
    if (count_ > 0) {
      // The writer has numbered the events consecutively, but from another id on.
      shift_.Bind(1, chunk_before_);
      shift_.Bind(2, first_id_);
      XP_TRY(shift_.Step());
      shift_.Reset();
    }
    count_ = 0;
    return absl::OkStatus();
  }

  EventWriter& writer() { return writer_; }

 private:
  absl::Status Prepare(const char* text, Statement* out) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_, text, -1, &raw, nullptr) != SQLITE_OK)
      return SqliteError(db_, "writing events");
    *out = Statement(raw);
    return absl::OkStatus();
  }

  sqlite3* db_;
  EventWriter writer_;
  Statement last_chunk_, shift_;
  int64_t track_id_ = 0, first_id_ = 0, count_ = 0, chunk_before_ = 0;
};

}  // namespace

void Connection::ForgetPending() {
  events.Clear();
  args.Clear();
  samples.Clear();
}

absl::Status Connection::WritePending() {
  if (events.rows.empty() && args.rows.empty() && samples.rows.empty()) return absl::OkStatus();
  XP_TRY(auto catalog, Now());
  int64_t next_id = 1;
  for (const EventChunk& chunk : catalog->chunks)
    next_id = std::max(next_id, chunk.first_event_id + chunk.count);
  std::vector<PendingEvent>& rows = events.rows;
  absl::flat_hash_map<int64_t, uint32_t> row_of_id;
  row_of_id.reserve(rows.size());
  for (uint32_t i = 0; i < rows.size(); ++i) {
    if (!row_of_id.emplace(rows[i].id, i).second ||
        (rows[i].id > 0 && catalog->ChunkOf(rows[i].id) != nullptr)) {
      return Invalid("event {} already exists, and each id can be used only once", rows[i].id);
    }
    next_id = std::max(next_id, rows[i].id + 1);
  }
  std::vector<std::vector<uint32_t>> args_of(args.rows.empty() ? 0 : rows.size());
  for (uint32_t i = 0; i < args.rows.size(); ++i) {
    auto row = row_of_id.find(args.rows[i].event_id);
    if (row == row_of_id.end()) {
      return Invalid("arg {}: event {} was not inserted in the same transaction", args.rows[i].key,
                     args.rows[i].event_id);
    }
    args_of[row->second].push_back(i);
  }
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return rows[a].track_id != rows[b].track_id ? rows[a].track_id < rows[b].track_id
                                                : EventBefore(rows[a].event, rows[b].event);
  });
  for (uint32_t i : order) {
    if (rows[i].id < 0) rows[i].id = next_id++;
  }

  Interner strings(db);
  XP_TRY(strings.Load());
  RunWriter runs(db);
  XP_TRY(runs.Prepare());
  for (uint32_t i : order) {
    Event event = rows[i].event;
    XP_TRY(event.name, strings.Id(rows[i].name, false));
    if (!rows[i].category.empty()) {
      XP_TRY(event.category, strings.Id(rows[i].category, false));
    }
    XP_TRY(runs.Add(rows[i], event));
    if (args_of.empty()) continue;
    for (uint32_t a : args_of[i]) {
      const PendingArg& arg = args.rows[a];
      bool text = arg.type == ArgType::kString || arg.type == ArgType::kBytes;
      uint64_t bits = arg.bits;
      if (text) {
        XP_TRY(bits, strings.Id(arg.text, arg.type == ArgType::kBytes));
      }
      XP_TRY(StringId key, strings.Id(arg.key, false));
      runs.writer().Arg(key, ArgFromBits(arg.type, bits));
    }
  }
  XP_TRY(runs.Finish());
  for (const PendingSample& sample : samples.rows) {
    XP_TRY(runs.writer().Counter(sample.track_id, sample.ts_ns, sample.value));
  }
  XP_TRY(runs.Finish());
  if (interned_ != nullptr) ++*interned_;
  ForgetPending();
  return absl::OkStatus();
}

}  // namespace xlaprof::sql

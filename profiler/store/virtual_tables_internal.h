// The virtual tables share this: one connection's view of its chunks and strings, rows that wait
// for COMMIT, and the glue that turns SQLite's callbacks into a cursor class. Internal to this
// folder.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "profiler/store/chunk.h"
#include "profiler/store/events.h"
#include "profiler/store/sqlite.h"
#include "profiler/store/store.h"

namespace xlaprof::sql {

// --- what is in the file ---

struct EventChunk {
  int64_t id, track_id, first_event_id, count, min_ts_ns, max_end_ns;
};
struct CounterChunk {
  int64_t id, track_id, count, min_ts_ns, max_ts_ns;
};

// One side of a flow: an event and the number that it has as flow_in or flow_out.
struct FlowEnd {
  uint64_t flow;
  int64_t event_id;
};
struct FlowEnds {
  std::vector<FlowEnd> by_flow, by_event;
};
struct Flows {
  FlowEnds out, in;
};

// The chunks of a file at one time. Never changes; a cursor keeps the one that it began with.
struct Catalog {
  std::vector<EventChunk> chunks;      // by track, then start
  std::vector<uint32_t> by_first_id;   // indices of chunks, by first_event_id
  std::vector<CounterChunk> counters;  // by track, then start
  int64_t event_count = 0, sample_count = 0, argument_count = 0;
  int64_t track_count = 1;             // tracks that have events
  std::shared_ptr<const Flows> flows;  // made when flow is first read

  // Returns the chunk that holds an event, or null if none does.
  const EventChunk* ChunkOf(int64_t event_id) const;
};

// A chunk's columns, kept for look-ups by id.
struct DecodedEvents {
  uint32_t columns = 0;
  EventColumns events;
};
// The argument columns of a chunk.
struct DecodedArgs {
  struct Key {
    StringId key_id;
    ArgType type;
    bool by_name;
    ArgColumn column;
  };
  std::vector<Key> keys;
  EventColumns names;  // names of the events, if a key is by_name
};

// --- rows that wait for COMMIT ---

// Rows of one table in the open transaction, with the number of them at each savepoint.
template <class Row>
struct PendingRows {
  std::vector<Row> rows;
  std::vector<size_t> marks;

  void Mark(int savepoint) {
    marks.resize(size_t(savepoint) + 1, marks.empty() ? 0 : marks.back()),
        marks.back() = rows.size();
  }
  void Release(int savepoint) { marks.resize(std::min(marks.size(), size_t(savepoint))); }
  // A savepoint that is older than the table's first row has no mark.
  void RollBackTo(int savepoint) {
    rows.resize(
        std::min(rows.size(), size_t(savepoint) < marks.size() ? marks[size_t(savepoint)] : 0));
  }
  void Clear() { rows.clear(), marks.clear(); }
};

struct PendingEvent {
  // Negative: a stand-in that arguments may name. The true id is assigned at COMMIT.
  int64_t id = 0;
  int64_t track_id = 0;
  Event event;  // without name and category
  std::string name, category;
};
struct PendingArg {
  int64_t event_id = 0;
  std::string key;
  ArgType type = ArgType::kInt;
  uint64_t bits = 0;
  std::string text;  // for string and bytes
};
struct PendingSample {
  int64_t track_id = 0, ts_ns = 0;
  double value = 0;
};

// --- one connection ---

class Connection {
 public:
  Connection(sqlite3* db, std::shared_ptr<int64_t> interned)
      : db(db), interned_(std::move(interned)) {}

  sqlite3* const db;
  PendingRows<PendingEvent> events;
  PendingRows<PendingArg> args;
  PendingRows<PendingSample> samples;
  int64_t chunks_read = 0, chunks_damaged = 0;  // since the connection was made

  // Returns the chunks as they are now. They are read again only if the file or this connection
  // wrote since the last call.
  absl::StatusOr<std::shared_ptr<const Catalog>> Now();
  // Returns the text or bytes of a string, which live as long as the connection.
  absl::StatusOr<std::string_view> Text(StringId id);
  // Returns the id of a text, or 0 if it is not interned.
  absl::StatusOr<StringId> Find(std::string_view text);

  // Return decoded chunks, which look-ups share until they are the least recently used. Events
  // returns null for a damaged chunk; Args leaves damaged columns out.
  absl::StatusOr<std::shared_ptr<const DecodedEvents>> Events(const EventChunk& chunk,
                                                              uint32_t columns);
  absl::StatusOr<std::shared_ptr<const DecodedArgs>> Args(const EventChunk& chunk,
                                                          StringId only_key);
  absl::StatusOr<std::shared_ptr<const Flows>> ReadFlows();
  // Decodes into `out` without keeping anything. Returns false for a damaged chunk, which is
  // counted.
  absl::StatusOr<bool> Read(const EventChunk& chunk, uint32_t columns, EventColumns* out);
  absl::StatusOr<bool> Read(const CounterChunk& chunk, std::vector<int64_t>* ts_ns,
                            std::vector<double>* value);

  // Encodes the rows that wait for COMMIT. Called at COMMIT, inside the transaction.
  absl::Status WritePending();
  void ForgetPending();
  // Statements would keep the connection from closing, so they are finalised when the last table is
  // disconnected.
  void TableConnected() { ++tables_; }
  void TableDisconnected();

 private:
  absl::StatusOr<Statement*> Prepared(Statement* slot, std::string_view text);
  absl::Status CheckStrings();
  absl::Status LoadCatalog();

  std::shared_ptr<int64_t> interned_;  // may be null
  int tables_ = 0;
  std::shared_ptr<Catalog> catalog_;
  unsigned data_version_ = 0;
  int64_t total_changes_ = -1;
  ChunkDecoder decoder_;
  Statement read_events_, read_args_, read_samples_, read_text_, find_text_;
  std::deque<std::string> texts_;  // owns every text that was returned
  absl::flat_hash_map<StringId, std::string_view> text_by_id_;
  StringId highest_id_ = 0;  // highest id in text_by_id_
  absl::flat_hash_map<std::string, StringId> found_;
  template <class T>
  struct Kept {
    int64_t chunk_id;
    StringId key_id;
    std::shared_ptr<T> value;
  };
  std::list<Kept<DecodedEvents>> kept_events_;  // most recently used first
  std::list<Kept<DecodedArgs>> kept_args_;
};

// --- constraints ---

// An inclusive range of integers that SQLite's comparisons narrow. What cannot be expressed (text,
// fractions) widens to a range that holds it, because SQLite tests every row again.
struct Range {
  int64_t from = INT64_MIN, to = INT64_MAX;
  bool none = false;  // compared with NULL: no row
  void Narrow(int op, sqlite3_value* value);
  bool empty() const { return none || from > to; }
  bool Holds(int64_t value) const { return !none && value >= from && value <= to; }
};

// A part of a table's plan: a constraint that arrives as an argument of Filter. All of them are
// packed into idxStr as "column,op;..."; idxNum holds the columns that the statement looks at.
struct Constraint {
  int column, op;
};
// Hands the usable comparisons (=, <, <=, >, >=) on `range_columns` to Filter, and on
// `text_columns` only = with binary collation. Returns what it handed over.
std::vector<Constraint> TakeConstraints(sqlite3_index_info* info, uint64_t range_columns,
                                        uint64_t text_columns);
std::vector<Constraint> ParseConstraints(const char* idx_str);
bool Takes(const std::vector<Constraint>& taken, int column, bool equal);
void SetCost(sqlite3_index_info* info, double cost, double rows, bool unique = false);

// The costs of decoding one event, of handing a row to SQLite, and of a look-up, in SQLite's unit
// (about one step of a b-tree).
inline constexpr double kDecodeCost = 0.05, kRowCost = 0.5, kLookUpCost = 12;

void ResultText(sqlite3_context* context, std::string_view text);

// --- glue ---

struct Table : sqlite3_vtab {
  std::shared_ptr<Connection> connection;
};

// A cursor class has:
//   static constexpr const char* kName; static constexpr bool kWritable;
//   explicit Cursor(Connection&);
//   static void Plan(const Catalog&, sqlite3_index_info*);
//   absl::Status Filter(const std::vector<Constraint>&, uint64_t columns,
//                       std::span<sqlite3_value*>);
//   absl::Status Next();  bool AtEnd() const;
//   absl::Status Column(sqlite3_context*, int);  int64_t RowId() const;
// A writable one also has:
//   static absl::Status Insert(Connection&, std::span<sqlite3_value*> columns,
//                              sqlite3_int64* rowid);
//   static auto& Pending(Connection&);
absl::Status RegisterEvent(sqlite3* db, const std::shared_ptr<Connection>& connection);
absl::Status RegisterArg(sqlite3* db, const std::shared_ptr<Connection>& connection);
absl::Status RegisterFlow(sqlite3* db, const std::shared_ptr<Connection>& connection);
absl::Status RegisterCounterSample(sqlite3* db, const std::shared_ptr<Connection>& connection);

// Returns the text of CREATE TABLE `name` in virtual_tables.sql.
std::string Declaration(std::string_view name);
int Fail(sqlite3_vtab* table, const absl::Status& status);

template <class Cursor>
class Module {
 public:
  static absl::Status Register(sqlite3* db, const std::shared_ptr<Connection>& connection) {
    auto* shared = new std::shared_ptr<Connection>(connection);
    int rc = sqlite3_create_module_v2(db, Cursor::kName, &kModule, shared, [](void* p) {
      delete static_cast<std::shared_ptr<Connection>*>(p);
    });
    return rc == SQLITE_OK ? absl::OkStatus() : SqliteError(db, "registering virtual tables");
  }

 private:
  struct Handle : sqlite3_vtab_cursor {
    explicit Handle(Connection& connection) : sqlite3_vtab_cursor{}, cursor(connection) {}
    Cursor cursor;
  };
  static Connection& Of(sqlite3_vtab* table) { return *static_cast<Table*>(table)->connection; }
  static Cursor& Of(sqlite3_vtab_cursor* handle) { return static_cast<Handle*>(handle)->cursor; }

  static int Connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** out,
                     char** error) {
    int rc = sqlite3_declare_vtab(db, Declaration(Cursor::kName).c_str());
    if (rc != SQLITE_OK) return rc;
    // The table reads the same file only, so views and triggers may use it.
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    auto* table = new Table{};
    table->connection = *static_cast<std::shared_ptr<Connection>*>(aux);
    table->connection->TableConnected();
    *out = table;
    return SQLITE_OK;
  }
  static int Disconnect(sqlite3_vtab* table) {
    Of(table).TableDisconnected();
    delete static_cast<Table*>(table);
    return SQLITE_OK;
  }
  static int BestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
    auto catalog = Of(table).Now();
    if (!catalog.ok()) return Fail(table, catalog.status());
    info->idxNum = int(info->colUsed & 0x7fffffff);
    Cursor::Plan(**catalog, info);
    return SQLITE_OK;
  }
  static int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
    *out = new Handle(Of(table));
    return SQLITE_OK;
  }
  static int Close(sqlite3_vtab_cursor* handle) {
    delete static_cast<Handle*>(handle);
    return SQLITE_OK;
  }
  static int Filter(sqlite3_vtab_cursor* handle, int columns, const char* constraints, int argc,
                    sqlite3_value** argv) {
    return Fail(handle->pVtab, Of(handle).Filter(ParseConstraints(constraints), uint64_t(columns),
                                                 {argv, size_t(argc)}));
  }
  static int Next(sqlite3_vtab_cursor* handle) { return Fail(handle->pVtab, Of(handle).Next()); }
  static int Eof(sqlite3_vtab_cursor* handle) { return Of(handle).AtEnd(); }
  static int Column(sqlite3_vtab_cursor* handle, sqlite3_context* context, int column) {
    return Fail(handle->pVtab, Of(handle).Column(context, column));
  }
  static int RowId(sqlite3_vtab_cursor* handle, sqlite3_int64* out) {
    *out = Of(handle).RowId();
    return SQLITE_OK;
  }

  static int Update(sqlite3_vtab* table, int argc, sqlite3_value** argv, sqlite3_int64* rowid) {
    if (argc == 1 || sqlite3_value_type(argv[0]) != SQLITE_NULL) {
      return Fail(
          table,
          Unsupported(
              "{}: {} is not supported, because chunks are never altered. Rows can only be inserted",
              Cursor::kName, argc == 1 ? "DELETE" : "UPDATE"));
    }
    if (sqlite3_value_type(argv[1]) != SQLITE_NULL) {
      return Fail(table, Invalid("{}: the rowid cannot be set. The table event accepts an id",
                                 Cursor::kName));
    }
    if constexpr (Cursor::kWritable) {
      return Fail(table, Cursor::Insert(Of(table), {argv + 2, size_t(argc - 2)}, rowid));
    }
    return SQLITE_READONLY;
  }
  static int Begin(sqlite3_vtab*) { return SQLITE_OK; }
  static int Sync(sqlite3_vtab* table) { return Fail(table, Of(table).WritePending()); }
  static int End(sqlite3_vtab* table) {
    Of(table).ForgetPending();
    return SQLITE_OK;
  }
  template <auto kDo>
  static int Savepoint(sqlite3_vtab* table, int savepoint) {
    if constexpr (Cursor::kWritable) (Cursor::Pending(Of(table)).*kDo)(savepoint);
    return SQLITE_OK;
  }

  static sqlite3_module Make() {
    sqlite3_module module{};
    module.iVersion = 2;
    module.xConnect = Connect;  // without xCreate: exists in every connection by its name alone
    module.xBestIndex = BestIndex;
    module.xDisconnect = Disconnect;
    module.xOpen = Open;
    module.xClose = Close;
    module.xFilter = Filter;
    module.xNext = Next;
    module.xEof = Eof;
    module.xColumn = Column;
    module.xRowid = RowId;
    if constexpr (Cursor::kWritable) {
      using Rows = std::remove_reference_t<decltype(Cursor::Pending(std::declval<Connection&>()))>;
      module.xUpdate = Update;
      module.xBegin = Begin;
      module.xSync = Sync;
      module.xCommit = End;
      module.xRollback = End;
      module.xSavepoint = Savepoint<&Rows::Mark>;
      module.xRelease = Savepoint<&Rows::Release>;
      module.xRollbackTo = Savepoint<&Rows::RollBackTo>;
    }
    return module;
  }
  static inline const sqlite3_module kModule = Make();
};

}  // namespace xlaprof::sql

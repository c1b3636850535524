// Writes an SQLite file that any tool reads: the store's facts as they are; its events, arguments,
// flows and counters as ordinary rows; and views (sqlite_tables.sql).
#include <charconv>
#include <cmath>
#include <deque>

#include "analyzers/report/report.h"
#include "base/version.h"
#include "exporters/exporter.h"
#include "exporters/sqlite/row_inserter.h"
#include "exporters/sqlite/sqlite_sql.h"
#include "profiler/store/ordered_events.h"
#include "profiler/store/origin.h"

namespace xlaprof {

namespace {

// A flow of many sources and targets becomes a row per pair. With more pairs than this it is left
// out.
constexpr int64_t kMaxPairsOfAFlow = 1 << 20;

class SqliteExport {
 public:
  SqliteExport(const Store& store, const Findings& findings, const ExportOptions& options)
      : store_(store), findings_(findings), options_(options) {}
  ~SqliteExport() { sqlite3_close_v2(db_); }

  absl::StatusOr<Exported> Run() {
    XP_TRY(Open());
    const std::string_view sql = kSqliteTablesSql;
    const size_t rows_at = sql.find("--- after the rows"),
                 flows_at = sql.find("--- after the flow");
    XP_CHECK(rows_at < flows_at && flows_at != std::string_view::npos);
    XP_TRY(Exec("BEGIN"));
    XP_TRY(Exec(sql.substr(0, rows_at)));
    XP_TRY(Facts());
    XP_TRY(FindingRows());
    XP_TRY(Events());
    XP_TRY(Counters());
    XP_TRY(Exec(sql.substr(rows_at, flows_at - rows_at)));
    XP_TRY(Flows());
    XP_TRY(Exec(sql.substr(flows_at)));
    XP_TRY(Exec("COMMIT; PRAGMA analysis_limit=1000; ANALYZE"));
    return std::move(exported_);
  }

 private:
  absl::Status Open() {
    // An export that failed late may have left half of a file there. It is emptied and not removed,
    // because its writer has locked it.
    std::error_code error;
    if (std::filesystem::exists(options_.path, error))
      std::filesystem::resize_file(options_.path, 0, error);
    int rc =
        sqlite3_open_v2(options_.path.c_str(), &db_,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    if (rc != SQLITE_OK) return SqliteError(db_, options_.path.string() + ": cannot open");
    sqlite3_set_authorizer(db_, OneFileAlone, nullptr);
    // A failed export is discarded, so it needs no journal.
    return Exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-32768");
  }

  static int OneFileAlone(void*, int action, const char*, const char*, const char*, const char*) {
    return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
  }

  absl::Status Exec(std::string_view sql) {
    if (sqlite3_exec(db_, std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      return SqliteError(db_, options_.path.string());
    return absl::OkStatus();
  }

  struct Table {
    std::string name, sql, columns;  // its columns as "a","b"
  };

  // Returns the tables of our own schema. The schema in the input is SQL from outside.
  static absl::StatusOr<std::vector<Table>> OwnTables() {
    XP_TRY(Store ours, Store::CreateTemporary());
    return ours.Collect(
        "SELECT name, sql, (SELECT group_concat('\"' || c.name || '\"') FROM "
        "pragma_table_info(m.name) c) FROM sqlite_schema m WHERE type = 'table' AND name NOT IN "
        "('event_chunk', 'arg_chunk', 'counter_chunk', 'string') ORDER BY rowid",
        [](std::string name, std::string sql, std::string columns) {
          return Table{std::move(name), std::move(sql), std::move(columns)};
        });
  }

  // Copies the store's tables except chunks and their strings, with the comments of their columns.
  // If the store is sliced, its views of the same names supply the rows. Findings come from the
  // caller.
  absl::Status Facts() {
    XP_TRY(std::vector<Table> tables, OwnTables());
    for (const Table& table : tables) {
      XP_TRY(Exec(table.sql));
      if (table.name != "finding") XP_TRY(Copy(table));
    }
    XP_TRY(OptInt start_ns, CaptureStart(store_));
    if (start_ns) {
      XP_TRY(Exec(
          fmt::format("INSERT OR REPLACE INTO meta VALUES ('window_start_ns', '{}')", *start_ns)));
    }
    XP_TRY(const Origin origin, OriginOf(store_));
    return Exec(fmt::format(
        "INSERT OR REPLACE INTO meta VALUES ('exported_by', 'xlaprof {}'), ('origin', '{}')",
        kVersion, TextOf(origin)));
  }

  absl::Status Copy(const Table& table) {
    XP_TRY(Statement from,
           store_.Prepare(fmt::format("SELECT {} FROM \"{}\"", table.columns, table.name)));
    const int columns = sqlite3_column_count(from.get());
    std::string sql =
        fmt::format("INSERT OR IGNORE INTO \"{}\" ({}) VALUES (", table.name, table.columns);
    for (int i = 0; i < columns; ++i) sql += i == 0 ? "?" : ",?";
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_, (sql + ")").c_str(), -1, &raw, nullptr) != SQLITE_OK)
      return SqliteError(db_, options_.path.string());
    Statement into(raw);
    while (true) {
      XP_TRY(bool more, from.Step());
      if (!more) return absl::OkStatus();
      for (int i = 0; i < columns; ++i)
        sqlite3_bind_value(raw, i + 1, sqlite3_column_value(from.get(), i));
      XP_TRY(into.Step());
      sqlite3_reset(raw);
    }
  }

  absl::Status FindingRows() {
    XP_TRY(RowInserter rows, RowInserter::Make(db_, "finding", 8));
    std::deque<std::string> kept;
    int64_t rank = 0;
    for (const Finding& finding : findings_) {
      rows.Add(++rank);
      rows.Add(std::string_view(finding.fingerprint));
      rows.Add(std::string_view(finding.kind()));
      rows.Add(TextOf(finding.severity));
      rows.Add(std::string_view(finding.words.title));
      rows.Add(finding.count ? RowInserter::Cell(*finding.count) : nullptr);
      rows.Add(finding.cost_ns ? RowInserter::Cell(*finding.cost_ns) : nullptr);
      rows.Add(std::string_view(kept.emplace_back(FindingJson(finding))));
      XP_TRY(rows.End());
    }
    return rows.Finish();
  }

  absl::Status Events() {
    std::string where;
    if (auto process = store_.slice().process_id)
      where = fmt::format(" WHERE process_id = {} OR process_id IS NULL", *process);
    XP_TRY(auto tracks, store_.Collect("SELECT id FROM main.track" + where + " ORDER BY id",
                                       [](int64_t id) { return id; }));
    XP_TRY(RowInserter events, RowInserter::Make(db_, "event", 9));
    XP_TRY(RowInserter args, RowInserter::Make(db_, "arg", 4));
    XP_TRY(OrderedEvents ordered, OrderedEvents::Make(store_, kAllEventColumns, true));
    for (size_t i = 0; i < tracks.size(); ++i) {
      options_.progress(double(i) / double(tracks.size()));
      XP_TRY(ordered.Open(tracks[i]));
      EventBatch batch;
      const ChunkArguments* arguments = nullptr;
      while (true) {
        XP_TRY(bool more, ordered.Next(&batch, &arguments));
        if (!more) break;
        XP_TRY(Batch(tracks[i], batch, *arguments, events, args));
        exported_.event_count += int64_t(batch.size);
      }
    }
    LeftOut(ordered.skipped_chunks(), "damaged chunk", " of events");
    LeftOut(ordered.skipped_arguments(), "damaged chunk", " of arguments");
    XP_TRY(events.Finish());
    return args.Finish();
  }

  absl::Status Batch(int64_t track, const EventBatch& batch, const ChunkArguments& arguments,
                     RowInserter& events, RowInserter& args) {
    auto flow = [](uint64_t number) {
      return number == 0 ? RowInserter::Cell(nullptr) : RowInserter::Cell(int64_t(number));
    };
    for (size_t i = 0; i < batch.size; ++i) {
      const int64_t id = batch.first_event_id + int64_t(i);
      events.Add(id);
      events.Add(track);
      events.Add(batch.ts_ns[i]);
      events.Add(batch.dur_ns[i] < 0 ? RowInserter::Cell(nullptr)
                                     : RowInserter::Cell(batch.dur_ns[i]));
      events.Add(store_.Text(batch.name[i]));
      events.Add(batch.category[i] == 0 ? RowInserter::Cell(nullptr)
                                        : RowInserter::Cell(store_.Text(batch.category[i])));
      events.Add(int64_t(batch.depth[i]));
      events.Add(flow(batch.flow_in[i]));
      events.Add(flow(batch.flow_out[i]));
      XP_TRY(events.End());
      const size_t index = size_t(batch.first_index) + i;
      for (const auto& list :
           {arguments.Own(index), arguments.OfName(arguments.NameIndex(index))}) {
        for (const Argument& argument : list) {
          args.Add(id);
          args.Add(store_.Text(argument.key));
          Value(argument.value, args);
          XP_TRY(args.End());
        }
      }
    }
    return absl::OkStatus();
  }

  // Adds type and value of an argument.
  void Value(const ArgValue& value, RowInserter& args) {
    constexpr std::string_view kTypes[] = {"int", "uint", "double", "string", "bytes"};
    args.Add(kTypes[value.index()]);
    if (auto* integer = std::get_if<int64_t>(&value)) {
      args.Add(*integer);
    } else if (auto* natural = std::get_if<uint64_t>(&value)) {
      if (*natural <= uint64_t(INT64_MAX)) {
        args.Add(int64_t(*natural));
      } else {
        // Keeps as many texts as there may be unwritten rows.
        large_.push_back(fmt::to_string(*natural));
        if (large_.size() > RowInserter::kRowsAStatement) large_.pop_front();
        args.Add(std::string_view(large_.back()));
      }
    } else if (auto* real = std::get_if<double>(&value)) {
      args.Add(*real);
    } else if (auto* text = std::get_if<Text>(&value)) {
      args.Add(store_.Text(text->id));
    } else {
      args.Add(RowInserter::BytesView{store_.Text(std::get<Bytes>(value).id)});
    }
  }

  absl::Status Counters() {
    XP_TRY(RowInserter rows, RowInserter::Make(db_, "counter_sample", 3));
    absl::Status status = EachCounterBatch(store_, [&](const CounterBatch& batch) -> absl::Status {
      for (size_t i = 0; i < batch.ts_ns.size(); ++i) {
        rows.Add(batch.track_id);
        rows.Add(batch.ts_ns[i]);
        rows.Add(batch.value[i]);  // SQLite turns NaN into NULL
        XP_TRY(rows.End());
      }
      return absl::OkStatus();
    });
    XP_TRY(std::move(status));
    return rows.Finish();
  }

  // Makes flows from the events in the file, so that a chosen part contains only whole pairs.
  absl::Status Flows() {
    XP_TRY(Exec(
        "CREATE TEMP TABLE pairs (flow INTEGER PRIMARY KEY, pairs INTEGER);"
        "INSERT INTO pairs SELECT o.flow_out, o.n * i.n FROM "
        "(SELECT flow_out, count(*) AS n FROM event WHERE flow_out IS NOT NULL GROUP BY 1) o JOIN "
        "(SELECT flow_in, count(*) AS n FROM event WHERE flow_in IS NOT NULL GROUP BY 1) i "
        "ON i.flow_in = o.flow_out"));
    XP_TRY(Exec(fmt::format(
        "INSERT INTO flow SELECT o.id, i.id, p.flow FROM event o CROSS JOIN pairs p ON p.flow = "
        "o.flow_out CROSS JOIN event i ON i.flow_in = p.flow AND i.flow_in IS NOT NULL "
        "WHERE o.flow_out IS NOT NULL AND p.pairs <= {}",
        kMaxPairsOfAFlow)));
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_, "SELECT coalesce(sum(pairs), 0) FROM pairs WHERE pairs > ?1", -1,
                           &raw, nullptr) != SQLITE_OK)
      return SqliteError(db_, options_.path.string());
    Statement large(raw);
    large.Bind(1, kMaxPairsOfAFlow);
    XP_TRY(large.Step());
    LeftOut(large.Column<int64_t>(0), "pair", " of flows with too many events");
    return absl::OkStatus();
  }

  void LeftOut(int64_t count, const char* what, const char* why) {
    if (count > 0)
      exported_.left_out.push_back(
          fmt::format("{} {}{}{}", count, what, count == 1 ? "" : "s", why));
  }

  const Store& store_;
  const Findings& findings_;
  const ExportOptions& options_;
  sqlite3* db_ = nullptr;
  std::deque<std::string> large_;
  Exported exported_;
};

absl::StatusOr<Exported> WriteSqlite(const Run& run, const Findings& findings,
                                     const ExportOptions& options) {
  const Store& store = run.store();
  return SqliteExport(store, findings, options).Run();
}

}  // namespace

namespace exporters {
extern const Exporter sqlite{"sqlite", "ordinary rows and views for any SQLite tool", "run.db",
                             false, WriteSqlite};
}  // namespace exporters

}  // namespace xlaprof

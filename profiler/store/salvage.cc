#include "profiler/store/salvage.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "profiler/store/chunk.h"
#include "profiler/store/sqlite_pages.h"

// Pages are assigned to tables as follows. The schema (page 1 and below) names the root page of
// each table, and intact interior pages lead from there to the leaves. A leaf under a broken
// interior page is an orphan. Its table is recognised by the number and the types of its rows'
// values, which schema.sql makes different for nearly every pair of tables. If the schema itself is
// lost, the root pages of a fresh store are tried: xlaprof creates every store by the same
// statements, so they are the same. Pages on the list of free pages hold deleted rows and are left
// out.

namespace xlaprof {
namespace {

struct ColumnShape {
  std::string name;
  char affinity = 0;  // 'i'nteger, 'r'eal, 't'ext, 'b'lob, or '*': anything
  bool nullable = true;
  bool is_rowid = false;
};

// A table or an index, and what its records look like in the order in which they are stored.
struct Shape {
  std::string table;                      // name of the table, or of the index itself
  bool is_index = false;                  // holds no rows that are not in a table
  bool by_rowid = true;                   // in a table tree, else an index tree
  std::vector<ColumnShape> columns;       // stored order
  std::vector<int> declared;              // declared position of each stored column
  uint32_t root = 0;                      // root page in a fresh store
  int chunk_blob = -1, chunk_count = -1;  // positions of the blob of a chunk and of its count
  std::string insert;
};

bool Fits(const ColumnShape& column, RecordValue::Type type) {
  if (type == RecordValue::kNull) return column.nullable || column.is_rowid;
  switch (column.affinity) {
    case 'i':
      return type == RecordValue::kInt;
    case 'r':
      return type == RecordValue::kReal || type == RecordValue::kInt;  // SQLite stores 3.0 as 3
    case 't':
      return type == RecordValue::kText;
    case 'b':
      return type == RecordValue::kBlob;
    default:
      return true;
  }
}

bool Fits(const Shape& shape, const std::vector<RecordValue>& record) {
  if (record.size() != shape.columns.size()) return false;
  for (size_t i = 0; i < record.size(); ++i) {
    if (!Fits(shape.columns[i], record[i].type)) return false;
  }
  return true;
}

char AffinityOf(std::string_view declared) {
  if (declared == "INTEGER") return 'i';
  if (declared == "REAL") return 'r';
  if (declared == "TEXT") return 't';
  if (declared == "BLOB") return 'b';
  return '*';
}

// Returns the shapes of all tables and indexes of a fresh store.
absl::StatusOr<std::vector<Shape>> Shapes(const Store& store) {
  std::vector<Shape> out;
  XP_TRY(auto tables, store.Collect("SELECT name, rootpage, sql LIKE '%WITHOUT ROWID' FROM "
                                    "main.sqlite_schema WHERE type = 'table' "
                                    "AND sql NOT LIKE 'CREATE VIRTUAL%'",
                                    [](std::string name, uint32_t root, bool without_rowid) {
                                      return std::tuple(std::move(name), root, without_rowid);
                                    }));
  for (auto& [name, root, without_rowid] : tables) {
    Shape shape{.table = name,
                .by_rowid = !without_rowid,
                .columns = {},
                .declared = {},
                .root = root,
                .insert = {}};
    std::vector<std::pair<int64_t, ColumnShape>> declared;
    int64_t keys = 0;
    XP_TRY(store.Each(
        "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)",
        [&](std::string column, std::string_view type, bool not_null, int64_t pk) {
          declared.emplace_back(pk, ColumnShape{column, AffinityOf(type), !not_null, false});
          keys += pk > 0;
        },
        name));
    std::vector<int> order(declared.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = int(i);
    if (without_rowid) {  // key columns first
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        int64_t ka = declared[a].first, kb = declared[b].first;
        return (ka == 0 ? INT64_MAX : ka) < (kb == 0 ? INT64_MAX : kb);
      });
    }
    std::string names, marks;
    for (int i : order) {
      auto& [pk, column] = declared[i];
      column.is_rowid = !without_rowid && keys == 1 && pk == 1 && column.affinity == 'i';
      if (without_rowid && pk > 0) column.nullable = false;
      if (column.name == "columns") shape.chunk_blob = int(shape.columns.size());
      if (column.name == "count") shape.chunk_count = int(shape.columns.size());
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", column.name);
      marks += marks.empty() ? "?" : ", ?";
      shape.columns.push_back(column);
      shape.declared.push_back(i);
    }
    shape.insert =
        fmt::format("INSERT OR IGNORE INTO main.\"{}\" ({}) VALUES ({})", name, names, marks);
    out.push_back(std::move(shape));
  }
  XP_TRY(
      auto indexes,
      store.Collect("SELECT name, rootpage, tbl_name FROM main.sqlite_schema WHERE type = 'index'",
                    [](std::string name, uint32_t root, std::string table) {
                      return std::tuple(std::move(name), root, std::move(table));
                    }));
  for (auto& [name, root, table] : indexes) {
    Shape shape{.table = name,
                .is_index = true,
                .by_rowid = false,
                .columns = {},
                .declared = {},
                .root = root,
                .insert = {}};
    XP_TRY(store.Each(
        "SELECT coalesce(i.name, ''), coalesce(t.type, 'INTEGER'), "
        "coalesce(t.\"notnull\", 1) FROM pragma_index_xinfo(?1) i LEFT "
        "JOIN pragma_table_info(?2) t ON t.cid = i.cid ORDER BY i.seqno",
        [&](std::string column, std::string_view type, bool not_null) {
          shape.columns.push_back({column, AffinityOf(type), !not_null, false});
        },
        name, table));
    out.push_back(std::move(shape));
  }
  return out;
}

// Returns whether a row holds the words or digits that its table requires. This distinguishes
// tables whose rows have the same types.
bool SpeaksOf(const Shape& shape, const std::vector<RecordValue>& record) {
  auto one_of = [&](size_t column, std::initializer_list<std::string_view> words) {
    return column < record.size() &&
           (record[column].type == RecordValue::kNull ||
            std::find(words.begin(), words.end(), record[column].bytes) != words.end());
  };
  if (shape.table == "stack") {  // differs from table string: the hash is 16 hex digits
    std::string_view hash = record[1].bytes;
    return hash.size() == 16 && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  }
  if (shape.table == "metric") return one_of(3, {"ns", "bytes", "value"});
  if (shape.table == "graph")
    return one_of(8, {"ir_text", "ir_dot", "hlo", "hlo_optimized", "stablehlo"});
  return true;
}

// Ranks the tables that fit a page; the lowest is taken. Indexes come first, then tables whose rows
// a vocabulary identifies. Of process and step, step comes first: a run has few processes, so their
// table is one page and not an orphan.
int Preference(const Shape& shape) {
  if (shape.is_index) return 0;
  if (shape.table == "stack" || shape.table == "metric" || shape.table == "step") return 1;
  return 2;
}

class Salvager {
 public:
  Salvager(const PageFile& file, Store& into, std::vector<Shape> shapes)
      : file_(file), into_(into), shapes_(std::move(shapes)), overflow_(file) {}

  absl::StatusOr<SalvageResult> Run() {
    ReadFreeList();
    ReadSchema();
    // Trees come first, because what they lead to is certain and orphans then cannot take their
    // overflow pages.
    for (const Shape& shape : shapes_) {
      auto found = roots_.find(shape.table);
      if (found != roots_.end()) XP_TRY(WalkTree(found->second, shape));
    }
    for (const Shape& shape : shapes_) {
      if (!roots_.contains(shape.table) && !seen_.contains(shape.root))
        XP_TRY(WalkTree(shape.root, shape));
    }
    XP_TRY(ReadOrphans());
    CountLost();
    return result_;
  }

 private:
  // Reads the list of free pages. It consists of trunks, each a u32 next trunk, a u32 count and
  // that many u32 page numbers.
  void ReadFreeList() {
    std::vector<uint8_t> bytes;
    for (uint32_t trunk = file_.first_free_trunk();
         trunk != 0 && free_.insert(trunk).second && file_.Read(trunk, &bytes);) {
      auto word = [&](size_t i) {
        return uint32_t(bytes[4 * i]) << 24 | uint32_t(bytes[4 * i + 1]) << 16 |
               uint32_t(bytes[4 * i + 2]) << 8 | bytes[4 * i + 3];
      };
      size_t count = word(1);
      if (count > file_.usable() / 4 - 2) break;  // not a trunk
      for (size_t i = 0; i < count; ++i) free_.insert(word(2 + i));
      trunk = word(0);
    }
  }

  // Visits the pages of a tree that no other tree has claimed. `visit` returns whether the page may
  // belong to this tree; a page that does not is left for ReadOrphans.
  template <class Visit>
  absl::Status Walk(uint32_t root, bool by_rowid, Visit&& visit) {
    std::vector<uint32_t> todo = {root};
    std::vector<uint8_t> bytes;
    absl::flat_hash_set<uint32_t> tried;  // each page once per tree, even if it is not this tree's
    while (!todo.empty()) {
      uint32_t page = todo.back();
      todo.pop_back();
      if (!tried.insert(page).second || seen_.contains(page) || free_.contains(page) ||
          !file_.Read(page, &bytes))
        continue;
      std::optional<TreePage> tree = ParseTreePage(file_, page, bytes);
      if (!tree || tree->index() == by_rowid) continue;
      XP_TRY(bool mine, visit(page, *tree));
      if (!mine) continue;
      seen_.insert(page);
      todo.insert(todo.end(), tree->children.rbegin(), tree->children.rend());
    }
    return absl::OkStatus();
  }

  void ReadSchema() {
    std::string payload;
    std::vector<RecordValue> record;
    auto read = [&](uint32_t, const TreePage& page) -> absl::StatusOr<bool> {
      for (const TreePage::Cell& cell : page.cells) {
        if (page.interior() || !overflow_.Read(cell, &payload) ||
            !ParseRecord(payload, payload.size(), true, &record) || record.size() != 5 ||
            record[1].type != RecordValue::kText || record[3].type != RecordValue::kInt) {
          continue;
        }
        roots_[std::string(record[1].bytes)] = uint32_t(record[3].integer);
      }
      return true;
    };
    (void)Walk(1, true, read);
  }

  absl::Status WalkTree(uint32_t root, const Shape& shape) {
    return Walk(root, shape.by_rowid, [&](uint32_t, const TreePage& page) -> absl::StatusOr<bool> {
      if (page.kind == TreePage::kTableInterior) return true;
      if (!PageFits(shape, page, /*all=*/false)) return false;
      XP_TRY(TakeRows(shape, page));
      return true;
    });
  }

  // Returns whether the rows of a page look like those of a table. Rows that cannot be parsed are
  // skipped, or make it false if `all` is set.
  bool PageFits(const Shape& shape, const TreePage& page, bool all) {
    size_t told = 0;
    for (const TreePage::Cell& cell : page.cells) {
      const bool whole = cell.overflow == 0;
      if (!ParseRecord(cell.local, cell.payload_bytes, whole, &record_)) {
        if (all) return false;
        continue;
      }
      if (!Fits(shape, record_) || (whole && all && !SpeaksOf(shape, record_))) return false;
      ++told;
    }
    return told > 0 || (page.cells.empty() && page.bad_cells == 0);
  }

  absl::Status TakeRows(const Shape& shape, const TreePage& page) {
    if (shape.is_index) return absl::OkStatus();
    result_.lost_rows += page.bad_cells;
    Statement& insert = inserts_[&shape];
    if (insert.get() == nullptr) {
      XP_TRY(insert, into_.Prepare(shape.insert));
    }
    for (const TreePage::Cell& cell : page.cells) {
      if (!overflow_.Read(cell, &payload_) ||
          !ParseRecord(payload_, payload_.size(), true, &record_) || !Fits(shape, record_)) {
        ++result_.lost_rows;
        continue;
      }
      const bool chunk = shape.chunk_blob >= 0;
      if (chunk &&
          !ChunkIsSound(record_[shape.chunk_blob].bytes, record_[shape.chunk_count].integer)) {
        ++result_.lost_rows;
        ++result_.lost_chunks;
        continue;
      }
      XP_TRY(bool added, Insert(insert, shape, cell.rowid));
      if (!added) continue;
      ++result_.rows;
      if (shape.table == "event_chunk") {
        ++result_.chunks;
        result_.events += record_[shape.chunk_count].integer;
      }
    }
    return absl::OkStatus();
  }

  // Returns false if the row is there already.
  absl::StatusOr<bool> Insert(Statement& insert, const Shape& shape, int64_t rowid) {
    for (size_t i = 0; i < record_.size(); ++i) {
      const RecordValue& value = record_[i];
      const int at = int(i) + 1;
      if (shape.columns[i].is_rowid) {
        insert.Bind(at, rowid);
      } else if (value.type == RecordValue::kInt) {
        insert.Bind(at, value.integer);
      } else if (value.type == RecordValue::kReal) {
        insert.Bind(at, value.real);
      } else if (value.type == RecordValue::kText) {
        insert.Bind(at, value.bytes);
      } else if (value.type == RecordValue::kBlob) {
        sqlite3_bind_blob64(insert.get(), at, value.bytes.data(), value.bytes.size(),
                            SQLITE_STATIC);
      } else {
        insert.Bind(at, nullptr);
      }
    }
    absl::Status status = internal::ToStatus(insert.Step());
    insert.Reset();
    XP_TRY(std::move(status));
    return sqlite3_changes(into_.db()) > 0;
  }

  absl::Status ReadOrphans() {
    std::vector<uint8_t> bytes;
    for (uint32_t number : file_.pages()) {
      if (seen_.contains(number) || free_.contains(number) || overflow_.Used(number) ||
          !file_.Read(number, &bytes))
        continue;
      std::optional<TreePage> page = ParseTreePage(file_, number, bytes);
      if (!page) continue;
      // An interior page holds no rows; its children are orphans or were reached through a tree.
      if (page->kind == TreePage::kTableInterior) {
        if (page->bad_cells == 0) seen_.insert(number);
        continue;
      }
      const Shape* best = nullptr;
      for (const Shape& shape : shapes_) {
        if (shape.by_rowid == page->index() || page->cells.empty() ||
            !PageFits(shape, *page, /*all=*/true))
          continue;
        if (best == nullptr || Preference(shape) < Preference(*best)) best = &shape;
      }
      if (best == nullptr) continue;
      seen_.insert(number);
      if (!best->is_index) ++result_.orphan_pages;
      XP_TRY(TakeRows(*best, *page));
    }
    return absl::OkStatus();
  }

  void CountLost() {
    result_.pages = int64_t(file_.pages().size());
    result_.missing_pages = int64_t(file_.expected_pages() - file_.pages().size());
    result_.bad_log_frames = file_.bad_wal_frames();
    for (uint32_t page : file_.pages()) {
      result_.lost_pages += !seen_.contains(page) && !free_.contains(page) && !overflow_.Used(page);
    }
  }

  const PageFile& file_;
  Store& into_;
  std::vector<Shape> shapes_;
  OverflowReader overflow_;
  std::map<std::string, uint32_t> roots_;
  absl::flat_hash_set<uint32_t> seen_, free_;
  std::map<const Shape*, Statement> inserts_;
  std::vector<RecordValue> record_;
  std::string payload_;
  SalvageResult result_;
};

}  // namespace

absl::StatusOr<SalvageResult> Salvage(const std::filesystem::path& damaged, Store& into) {
  std::error_code error;
  if (std::filesystem::is_directory(damaged, error))
    return Invalid("{}: this is a directory, not a store", damaged.string());
  XP_TRY(PageFile file, PageFile::Open(damaged, kPageBytes));
  if (file.user_version() > uint32_t(kSchemaVersion)) {
    return Unsupported(
        "{}: its schema has version {}, but this xlaprof knows {} at most. Use a newer xlaprof",
        damaged.string(), file.user_version(), kSchemaVersion);
  }
  XP_TRY(std::vector<Shape> shapes, Shapes(into));
  XP_TRY(into.Begin());
  Salvager salvager(file, into, std::move(shapes));
  absl::StatusOr<SalvageResult> result = salvager.Run();
  if (!result.ok()) {
    into.Rollback();
    return result;
  }
  if (result->rows == 0) {
    into.Rollback();
    return Invalid(
        "{}: none of its {} pages contains a readable row of a store. Import the sources again",
        damaged.string(), result->pages);
  }
  XP_TRY(
      into.Exec("INSERT OR IGNORE INTO main.track (id, kind, name, sort) SELECT DISTINCT "
                "track_id, 'host_thread', 'track ' || track_id || ' (its name was lost)', "
                "track_id FROM main.event_chunk WHERE track_id NOT IN (SELECT id FROM main.track);"
                "INSERT OR IGNORE INTO main.track (id, kind, name, sort) SELECT DISTINCT "
                "track_id, 'counter', 'track ' || track_id || ' (its name was lost)', track_id "
                "FROM main.counter_chunk WHERE track_id NOT IN (SELECT id FROM main.track);"));
  if (result->damaged()) {
    XP_TRY(into.AddIssue(
        {}, "damaged_store", Severity::kError,
        fmt::format(
            "{} is damaged: of {} pages, {} are cut off and {} are unreadable, and all rows in them are lost. The other pages lost {} rows, and {} rows with {} events in {} chunks were read. The report is incomplete. Record again, or import the sources again.",
            damaged.filename().string(), result->pages + result->missing_pages,
            result->missing_pages, result->lost_pages, result->lost_rows, result->rows,
            result->events, result->chunks),
        {}, {},
        std::max<int64_t>(1, result->missing_pages + result->lost_pages + result->lost_rows)));
  }
  XP_TRY(into.Commit());
  return result;
}

}  // namespace xlaprof

#include "profiler/store/damaged_store.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "core/base/sqlite_files.h"
#include "core/base/temporary_folder.h"
#include "profiler/store/chunk.h"

// Pages are assigned to tables as follows. The schema (page 1 and below) names the root page of
// each table, and interior pages lead from there to the leaves. A leaf under a broken interior page
// is an orphan. Its table is recognised by the number and the types of its rows' values, which
// schema.sql makes different for nearly every pair of tables. If the schema itself is lost, the
// root pages of a fresh store are taken: xlaprof creates every store by the same statements, so
// they are the same. Pages on the list of free pages hold deleted rows and are left out.

// SQLite's recovery extension. It adds the virtual tables sqlite_dbdata (the fields of each record
// on each page) and sqlite_dbptr (the pointers from pages to pages) to a connection.
extern "C" int sqlite3_dbdata_init(sqlite3* db, char** error, const void* unused);

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// --- the tables of a store ---

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
  uint32_t root = 0;                      // root page in a fresh store
  int chunk_blob = -1, chunk_count = -1;  // positions of the blob of a chunk and of its count
  std::string insert;
};

char AffinityOf(std::string_view declared) {
  if (declared == "INTEGER") return 'i';
  if (declared == "REAL") return 'r';
  if (declared == "TEXT") return 't';
  if (declared == "BLOB") return 'b';
  return '*';
}

absl::StatusOr<Shape> ShapeOfTable(const Store& store, std::string name, uint32_t root,
                                   bool without_rowid) {
  Shape shape{.table = std::move(name), .by_rowid = !without_rowid, .root = root};
  std::vector<std::pair<int64_t, ColumnShape>> declared;
  int64_t keys = 0;
  XP_TRY(store.Each(
      "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)",
      [&](std::string column, std::string_view type, bool not_null, int64_t pk) {
        declared.emplace_back(pk, ColumnShape{column, AffinityOf(type), !not_null, false});
        keys += pk > 0;
      },
      shape.table));
  if (without_rowid) {  // key columns are stored first
    std::ranges::stable_sort(declared, {},
                             [](const auto& of) { return of.first == 0 ? INT64_MAX : of.first; });
  }
  std::string names, marks;
  for (auto& [pk, column] : declared) {
    column.is_rowid = !without_rowid && keys == 1 && pk == 1 && column.affinity == 'i';
    if (without_rowid && pk > 0) column.nullable = false;
    if (column.name == "columns") shape.chunk_blob = int(shape.columns.size());
    if (column.name == "count") shape.chunk_count = int(shape.columns.size());
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", column.name);
    marks += marks.empty() ? "?" : ", ?";
    shape.columns.push_back(column);
  }
  shape.insert =
      fmt::format("INSERT OR IGNORE INTO main.\"{}\" ({}) VALUES ({})", shape.table, names, marks);
  return shape;
}

absl::StatusOr<Shape> ShapeOfIndex(const Store& store, std::string name, uint32_t root,
                                   std::string_view table) {
  Shape shape{.table = std::move(name), .is_index = true, .by_rowid = false, .root = root};
  XP_TRY(store.Each(
      "SELECT coalesce(i.name, ''), coalesce(t.type, 'INTEGER'), coalesce(t.\"notnull\", 1) FROM "
      "pragma_index_xinfo(?1) i LEFT JOIN pragma_table_info(?2) t ON t.cid = i.cid ORDER BY "
      "i.seqno",
      [&](std::string column, std::string_view type, bool not_null) {
        shape.columns.push_back({column, AffinityOf(type), !not_null, false});
      },
      shape.table, table));
  return shape;
}

// Returns the shapes of all tables and indexes of a fresh store.
absl::StatusOr<std::vector<Shape>> Shapes(const Store& store) {
  struct Entry {
    std::string name, table;
    uint32_t root;
    bool is_index, without_rowid;
  };
  XP_TRY(auto entries,
         store.Collect(
             "SELECT name, tbl_name, rootpage, type = 'index', coalesce(sql LIKE '%WITHOUT ROWID', "
             "0) FROM main.sqlite_schema WHERE rootpage > 0 ORDER BY type = 'index', rowid",
             [](std::string name, std::string table, uint32_t root, bool is_index,
                bool without_rowid) {
               return Entry{std::move(name), std::move(table), root, is_index, without_rowid};
             }));
  std::vector<Shape> shapes;
  for (Entry& entry : entries) {
    XP_TRY(Shape shape,
           entry.is_index
               ? ShapeOfIndex(store, std::move(entry.name), entry.root, entry.table)
               : ShapeOfTable(store, std::move(entry.name), entry.root, entry.without_rowid));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// --- the records of a file ---

struct Value {
  int type = SQLITE_NULL;  // as SQLite numbers them
  int64_t integer = 0;
  double real = 0;
  std::string bytes;  // text or blob
};

struct Record {
  OptInt rowid;  // of a table tree
  std::vector<Value> values;
};

struct Page {
  uint32_t number = 0;
  std::vector<Record> records;
  bool by_rowid() const { return records.front().rowid.has_value(); }
};

bool Fits(const ColumnShape& column, int type) {
  if (type == SQLITE_NULL) return column.nullable || column.is_rowid;
  switch (column.affinity) {
    case 'i':
      return type == SQLITE_INTEGER;
    case 'r':
      return type == SQLITE_FLOAT || type == SQLITE_INTEGER;  // SQLite stores 3.0 as 3
    case 't':
      return type == SQLITE_TEXT;
    case 'b':
      return type == SQLITE_BLOB;
    default:
      return true;
  }
}

bool Fits(const Shape& shape, const Record& record) {
  return record.rowid.has_value() == shape.by_rowid &&
         record.values.size() == shape.columns.size() &&
         std::ranges::equal(shape.columns, record.values,
                            [](const ColumnShape& column, const Value& value) {
                              return Fits(column, value.type);
                            });
}

// Returns whether a row holds the words or digits that its table requires. This distinguishes
// tables whose rows have the same types.
bool SpeaksOf(const Shape& shape, const Record& record) {
  auto one_of = [&](size_t column, std::initializer_list<std::string_view> words) {
    const Value& value = record.values[column];
    return value.type == SQLITE_NULL || std::ranges::find(words, value.bytes) != words.end();
  };
  if (shape.table == "stack") {  // differs from table string: the hash is 16 hex digits
    const std::string& hash = record.values[1].bytes;
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

// Returns the table or index whose rows an orphan page holds, or null.
const Shape* Recognise(const std::vector<Shape>& shapes, const Page& page) {
  const Shape* best = nullptr;
  for (const Shape& shape : shapes) {
    if (shape.by_rowid != page.by_rowid()) continue;
    const bool fits = std::ranges::all_of(page.records, [&](const Record& record) {
      return Fits(shape, record) && SpeaksOf(shape, record);
    });
    if (fits && (best == nullptr || Preference(shape) < Preference(*best))) best = &shape;
  }
  return best;
}

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kHeaderPages = 28, kHeaderFreeTrunk = 32, kHeaderVersion = 60, kHeaderEnd = 100;

uint32_t Word(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | uint8_t(bytes[at + i]);
  return word;
}

void SetWord(std::string& bytes, size_t at, uint32_t word) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = char(word >> (24 - 8 * i));
}

// Returns whether SQLite opens a file with this header. Otherwise another header must take its place.
bool IsHeader(std::string_view header) {
  // The page size, the file's versions (1 or 2, twice), no reserved bytes, and three fixed numbers.
  constexpr size_t kVersions = 18, kReserved = 20, kSchemaFormat = 44, kEncoding = 56;
  const auto is_version = [&](size_t at) { return header[at] == 1 || header[at] == 2; };
  return header.size() == kHeaderEnd && header.starts_with(kMagic) &&
         (uint32_t(uint8_t(header[16])) << 8 | uint8_t(header[17])) == kPageBytes &&
         is_version(kVersions) && is_version(kVersions + 1) &&
         header.substr(kReserved, 4) == std::string_view("\0\x40\x20\x20", 4) &&
         Word(header, kSchemaFormat) <= 4 && Word(header, kEncoding) == 1;
}

// Names the file in an error of SQLite's.
absl::Status NameFile(const fs::path& path, const absl::Status& status) {
  if (status.ok() || Message(status).find(path.string()) != std::string_view::npos) return status;
  return Invalid("{}: its pages cannot be read: {}. Import the sources again", path.string(),
                 Message(status));
}

// Replaces the first page of a file by that of a fresh store, whose root pages are the same.
absl::Status ReplaceFirstPage(const fs::path& path, const fs::path& folder) {
  const fs::path fresh = folder / "fresh.xlaprof";
  {
    XP_TRY(Store store, Store::Create(fresh));
    XP_TRY(store.CloseLog());
  }
  std::string page(kPageBytes, '\0');
  std::ifstream(fresh, std::ios::binary).read(page.data(), kPageBytes);
  SetWord(page, kHeaderPages, uint32_t((fs::file_size(path) + kPageBytes - 1) / kPageBytes));
  SetWord(page, kHeaderFreeTrunk, 0);
  SetWord(page, kHeaderFreeTrunk + 4, 0);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  if (!file.write(page.data(), kPageBytes).flush())
    return absl::UnavailableError(fmt::format(
        "{}: cannot be written. Free space, or set TMPDIR to another disk", path.string()));
  return absl::OkStatus();
}

// A damaged file, opened so that SQLite reads its pages without believing its schema.
class DamagedFile {
 public:
  static absl::StatusOr<DamagedFile> Open(const fs::path& path) {
    DamagedFile file;
    std::string header(kHeaderEnd, '\0');
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return NotFound("{}: {}. Check the path", path.string(), std::strerror(errno));
    stream.read(header.data(), kHeaderEnd);
    header.resize(size_t(stream.gcount()));
    const bool is_header = IsHeader(header);
    std::string address = fmt::format("file:{}?immutable=1", Escaped(path));
    std::error_code error;
    const fs::path log = path.string() + "-wal";
    if (!is_header || fs::file_size(log, error) > 0) {
      XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("damaged"));
      const fs::path copy = folder.path() / "damaged.xlaprof";
      fs::copy_file(path, copy, error);
      if (!error && fs::exists(log)) fs::copy_file(log, copy.string() + "-wal", error);
      if (error)
        return absl::UnavailableError(
            fmt::format("{}: cannot be copied to {}: {}. Free space, or set TMPDIR to another disk",
                        path.string(), folder.path().string(), error.message()));
      if (!is_header) XP_TRY(ReplaceFirstPage(copy, folder.path()));
      address = fmt::format("file:{}", Escaped(copy));
      file.folder_.emplace(std::move(folder));
    }
    sqlite3* db = nullptr;
    sqlite3_open_v2(address.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr);
    file.db_.reset(db);
    // With this setting, SQLite opens files whose schema is broken, or that are shorter than their
    // header says.
    sqlite3_exec(db, "PRAGMA writable_schema = ON", nullptr, nullptr, nullptr);
    sqlite3_dbdata_init(db, nullptr, nullptr);
    XP_TRY(Statement count, file.Prepare("PRAGMA page_count"));
    XP_TRY(bool counted, count.Step());
    file.pages_ = counted ? count.Column<int64_t>(0) : 0;
    XP_TRY(const std::string first, file.BytesOf(1));
    if (IsHeader(std::string_view(first).substr(0, kHeaderEnd))) {
      file.version_ = Word(first, kHeaderVersion);
      file.free_trunk_ = Word(first, kHeaderFreeTrunk);
      file.claimed_pages_ = Word(first, kHeaderPages);
    }
    // The last page counts as missing if only a part of it is left.
    if (fs::file_size(path, error) % kPageBytes != 0) --file.pages_;
    return file;
  }

  uint32_t version() const { return version_; }
  int64_t pages() const { return pages_; }
  int64_t missing_pages() const { return std::max<int64_t>(0, claimed_pages_ - pages_); }

  // Calls fn(page, child) for each pointer from an interior page.
  template <class Fn>
  absl::Status EachPointer(Fn&& fn) const {
    XP_TRY(Statement pointers, Prepare("SELECT pgno, child FROM sqlite_dbptr('main')"));
    while (true) {
      XP_TRY(bool more, pointers.Step());
      if (!more) return absl::OkStatus();
      fn(uint32_t(pointers.Column<int64_t>(0)), uint32_t(pointers.Column<int64_t>(1)));
    }
  }

  // Calls fn(page), which returns a Status, for each page with records, or for one page.
  template <class Fn>
  absl::Status EachPage(std::optional<uint32_t> number, Fn&& fn) const {
    XP_TRY(Statement fields,
           Prepare(
               number ? "SELECT pgno, cell, field, value FROM sqlite_dbdata('main') WHERE pgno = ?1"
                      : "SELECT pgno, cell, field, value FROM sqlite_dbdata('main')"));
    if (number) fields.Bind(1, int64_t(*number));
    Page page;
    int64_t cell = -1;
    while (true) {
      XP_TRY(bool more, fields.Step());
      const uint32_t at = more ? uint32_t(fields.Column<int64_t>(0)) : 0;
      if ((!more || at != page.number) && !page.records.empty()) {
        XP_TRY(fn(page));
        page.records.clear();
      }
      if (!more) return absl::OkStatus();
      if (page.records.empty() || fields.Column<int64_t>(1) != cell) {
        page.number = at;
        cell = fields.Column<int64_t>(1);
        page.records.emplace_back();
      }
      Record& record = page.records.back();
      if (fields.Column<int64_t>(2) < 0) {
        record.rowid = fields.Column<int64_t>(3);
      } else {
        record.values.push_back(ValueOf(fields.get(), 3));
      }
    }
  }

  // Returns the pages on the list of free pages. It consists of trunks, each a u32 next trunk, a
  // u32 count and that many u32 page numbers.
  absl::StatusOr<absl::flat_hash_set<uint32_t>> FreePages() const {
    absl::flat_hash_set<uint32_t> free;
    for (uint32_t trunk = free_trunk_; trunk != 0 && free.insert(trunk).second;) {
      XP_TRY(const std::string bytes, BytesOf(trunk));
      if (bytes.empty()) break;
      const size_t count = Word(bytes, 4);
      if (count > kPageBytes / 4 - 2) break;  // not a trunk
      for (size_t i = 0; i < count; ++i) free.insert(Word(bytes, 8 + 4 * i));
      trunk = Word(bytes, 0);
    }
    return free;
  }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };

  // Returns a path as it stands in a URI.
  static std::string Escaped(const fs::path& path) {
    std::string out;
    for (const char c : fs::absolute(path).string())
      out +=
          c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", uint8_t(c)) : std::string(1, c);
    return out;
  }

  // Returns a page, or nothing if the file has no such page.
  absl::StatusOr<std::string> BytesOf(uint32_t page) const {
    XP_TRY(Statement read, Prepare("SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?1"));
    read.Bind(1, int64_t(page));
    XP_TRY(bool found, read.Step());
    return found ? std::string(read.Column<std::string_view>(0)) : std::string();
  }

  static Value ValueOf(sqlite3_stmt* stmt, int column) {
    Value value{.type = sqlite3_column_type(stmt, column)};
    if (value.type == SQLITE_INTEGER) {
      value.integer = sqlite3_column_int64(stmt, column);
    } else if (value.type == SQLITE_FLOAT) {
      value.real = sqlite3_column_double(stmt, column);
    } else if (const void* bytes = sqlite3_column_blob(stmt, column)) {
      value.bytes.assign(static_cast<const char*>(bytes),
                         size_t(sqlite3_column_bytes(stmt, column)));
    }
    return value;
  }

  absl::StatusOr<Statement> Prepare(std::string_view sql) const {
    sqlite3_stmt* stmt = nullptr;
    if (sqlite3_prepare_v2(db_.get(), sql.data(), int(sql.size()), &stmt, nullptr) != SQLITE_OK)
      return Invalid("SQLite cannot read its pages: {}. Import the sources again",
                     sqlite3_errmsg(db_.get()));
    return Statement(stmt);
  }

  std::optional<TemporaryFolder> folder_;  // of the copy; removed after the connection is closed
  std::unique_ptr<sqlite3, Close> db_;
  uint32_t version_ = 0, free_trunk_ = 0;
  int64_t claimed_pages_ = 0, pages_ = 0;
};

// --- from one to the other ---

class Recovery {
 public:
  Recovery(const DamagedFile& file, Store& into, std::vector<Shape> shapes)
      : file_(file), into_(into), shapes_(std::move(shapes)) {}

  absl::StatusOr<RecoveredRows> Run() {
    result_.pages = file_.pages();
    result_.missing_pages = file_.missing_pages();
    XP_TRY(const auto free, file_.FreePages());
    XP_TRY(AssignTrees());
    XP_TRY(file_.EachPage({}, [&](const Page& page) -> absl::Status {
      if (free.contains(page.number) || schema_pages_.contains(page.number))
        return absl::OkStatus();
      return Take(page);
    }));
    return result_;
  }

 private:
  // Calls visit(page) for the pages of a tree.
  template <class Visit>
  void Walk(uint32_t root, Visit&& visit) const {
    std::vector<uint32_t> todo = {root};
    absl::flat_hash_set<uint32_t> seen = {root};
    while (!todo.empty()) {
      const uint32_t page = todo.back();
      todo.pop_back();
      visit(page);
      const auto children = children_.find(page);
      if (children == children_.end()) continue;
      for (const uint32_t child : children->second) {
        if (seen.insert(child).second) todo.push_back(child);
      }
    }
  }

  absl::Status AssignTrees() {
    XP_TRY(file_.EachPointer(
        [&](uint32_t page, uint32_t child) { children_[page].push_back(child); }));
    Walk(1, [&](uint32_t page) { schema_pages_.insert(page); });
    std::map<std::string, uint32_t, std::less<>> roots;
    for (const uint32_t number : schema_pages_) {
      XP_TRY(file_.EachPage(number, [&](const Page& page) {
        for (const Record& record : page.records) {  // type, name, table, root page, SQL
          if (record.values.size() == 5 && record.values[3].type == SQLITE_INTEGER)
            roots[record.values[1].bytes] = uint32_t(record.values[3].integer);
        }
        return absl::OkStatus();
      }));
    }
    for (const bool in_schema : {true, false}) {
      for (const Shape& shape : shapes_) {
        const auto root = roots.find(shape.table);
        if ((root != roots.end()) != in_schema) continue;
        Walk(in_schema ? root->second : shape.root,
             [&](uint32_t page) { shape_of_page_.try_emplace(page, &shape); });
      }
    }
    return absl::OkStatus();
  }

  absl::Status Take(const Page& page) {
    const auto assigned = shape_of_page_.find(page.number);
    const Shape* shape = assigned == shape_of_page_.end() ? nullptr : assigned->second;
    const auto fits = [&](const Record& record) { return Fits(*shape, record); };
    // Rows of another table are here if a page that led here was overwritten.
    if (shape == nullptr || shape->by_rowid != page.by_rowid() ||
        std::ranges::none_of(page.records, fits))
      shape = Recognise(shapes_, page);
    if (shape == nullptr) {
      result_.lost_rows += int64_t(page.records.size());
      return absl::OkStatus();
    }
    if (shape->is_index) return absl::OkStatus();
    for (const Record& record : page.records) {
      if (!fits(record) || !IsSound(*shape, record)) {
        ++result_.lost_rows;
        continue;
      }
      XP_TRY(Insert(*shape, record));
    }
    return absl::OkStatus();
  }

  static bool IsSound(const Shape& shape, const Record& record) {
    return shape.chunk_blob < 0 || ChunkIsSound(record.values[size_t(shape.chunk_blob)].bytes,
                                                record.values[size_t(shape.chunk_count)].integer);
  }

  absl::Status Insert(const Shape& shape, const Record& record) {
    Statement& insert = inserts_[&shape];
    if (insert.get() == nullptr) {
      XP_TRY(insert, into_.Prepare(shape.insert));
    }
    for (size_t i = 0; i < record.values.size(); ++i) {
      const Value& value = record.values[i];
      const int at = int(i) + 1;
      if (shape.columns[i].is_rowid) {
        insert.Bind(at, *record.rowid);
      } else if (value.type == SQLITE_INTEGER) {
        insert.Bind(at, value.integer);
      } else if (value.type == SQLITE_FLOAT) {
        insert.Bind(at, value.real);
      } else if (value.type == SQLITE_TEXT) {
        insert.Bind(at, std::string_view(value.bytes));
      } else if (value.type == SQLITE_BLOB) {
        sqlite3_bind_blob64(insert.get(), at, value.bytes.data(), value.bytes.size(),
                            SQLITE_STATIC);
      } else {
        insert.Bind(at, nullptr);
      }
    }
    absl::Status status = internal::ToStatus(insert.Step());
    insert.Reset();
    XP_TRY(std::move(status));
    if (sqlite3_changes(into_.db()) == 0) return absl::OkStatus();  // it is there already
    ++result_.rows;
    if (shape.table == "event_chunk") {
      ++result_.chunks;
      result_.events += record.values[size_t(shape.chunk_count)].integer;
    }
    return absl::OkStatus();
  }

  const DamagedFile& file_;
  Store& into_;
  const std::vector<Shape> shapes_;
  std::map<uint32_t, std::vector<uint32_t>> children_;
  absl::flat_hash_set<uint32_t> schema_pages_;
  absl::flat_hash_map<uint32_t, const Shape*> shape_of_page_;
  std::map<const Shape*, Statement> inserts_;
  RecoveredRows result_;
};

// Gives each track whose row was lost a row that says so.
absl::Status NameLostTracks(Store& store) {
  return store.Exec(
      "INSERT OR IGNORE INTO main.track (id, kind, name, sort) SELECT DISTINCT track_id, "
      "'host_thread', 'track ' || track_id || ' (its name was lost)', track_id FROM "
      "main.event_chunk WHERE track_id NOT IN (SELECT id FROM main.track);"
      "INSERT OR IGNORE INTO main.track (id, kind, name, sort) SELECT DISTINCT track_id, 'counter', "
      "'track ' || track_id || ' (its name was lost)', track_id FROM main.counter_chunk WHERE "
      "track_id NOT IN (SELECT id FROM main.track);");
}

}  // namespace

absl::StatusOr<RecoveredRows> ReadDamagedStore(const fs::path& damaged, Store& into) {
  std::error_code error;
  if (fs::is_directory(damaged, error))
    return Invalid("{}: this is a directory, not a store", damaged.string());
  auto opened = DamagedFile::Open(damaged);
  XP_TRY(NameFile(damaged, opened.status()));
  const DamagedFile& file = *opened;
  if (file.version() > uint32_t(kSchemaVersion)) {
    return Unsupported(
        "{}: its schema has version {}, but this xlaprof knows {} at most. Use a newer xlaprof",
        damaged.string(), file.version(), kSchemaVersion);
  }
  XP_TRY(std::vector<Shape> shapes, Shapes(into));
  XP_TRY(into.Begin());
  Recovery recovery(file, into, std::move(shapes));
  absl::StatusOr<RecoveredRows> result = recovery.Run();
  if (result.ok() && result->rows == 0)
    result = Invalid(
        "{}: none of its {} pages contains a readable row of a store. Import the sources again",
        damaged.string(), result->pages);
  if (!result.ok()) {
    into.Rollback();
    return NameFile(damaged, result.status());
  }
  XP_TRY(NameLostTracks(into));
  XP_TRY(into.AddIssue(
      {}, "damaged_store", Severity::kError,
      fmt::format(
          "{} is damaged: of {} pages, {} are cut off. {} rows with {} events in {} chunks were read from the others, and {} altered rows were not. The report is incomplete. Record again, or import the sources again.",
          damaged.filename().string(), result->pages + result->missing_pages, result->missing_pages,
          result->rows, result->events, result->chunks, result->lost_rows),
      {}, {}, std::max<int64_t>(1, result->missing_pages + result->lost_rows)));
  XP_TRY(into.Commit());
  return result;
}

}  // namespace xlaprof

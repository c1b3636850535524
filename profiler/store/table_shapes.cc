#include "profiler/store/table_shapes.h"

#include <algorithm>

namespace xlaprof {
namespace {

constexpr std::string_view kChunkBlob = "columns", kChunkCount = "count";  // of the chunk tables

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
    if (column.name == kChunkBlob) shape.chunk_blob = int(shape.columns.size());
    if (column.name == kChunkCount) shape.chunk_count = int(shape.columns.size());
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

// Returns whether a nullable value is a word of the vocabulary `E`.
template <HasWords E>
bool IsWord(const SqliteValue& value) {
  return sqlite3_value_type(value.get()) == SQLITE_NULL || ParseWord<E>(BytesOf(value)) != E(0);
}

// Returns whether a row holds the words or digits that its table requires. This distinguishes
// tables whose rows have the same types.
bool SpeaksOf(const Shape& shape, const PageRecord& record) {
  constexpr size_t kStackHash = 1, kMetricUnit = 3, kGraphForm = 8;
  if (shape.table == StackRow::kTable) {  // differs from table string: the hash is 16 hex digits
    const std::string_view hash = BytesOf(record.values[kStackHash]);
    return hash.size() == 16 && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  }
  if (shape.table == MetricRow::kTable) return IsWord<MetricUnit>(record.values[kMetricUnit]);
  if (shape.table == GraphRow::kTable) return IsWord<PrintedForm>(record.values[kGraphForm]);
  return true;
}

// Ranks the tables that fit a page; the lowest is taken. Indexes come first, then tables whose rows
// a vocabulary identifies. Of process and step, step comes first: a run has few processes, so their
// table is one page and not an orphan.
int Preference(const Shape& shape) {
  if (shape.is_index) return 0;
  if (shape.table == StackRow::kTable || shape.table == MetricRow::kTable ||
      shape.table == StepRow::kTable)
    return 1;
  return 2;
}

}  // namespace

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

bool Fits(const Shape& shape, const PageRecord& record) {
  return record.rowid.has_value() == shape.by_rowid &&
         record.values.size() == shape.columns.size() &&
         std::ranges::equal(shape.columns, record.values,
                            [](const ColumnShape& column, const SqliteValue& value) {
                              return Fits(column, sqlite3_value_type(value.get()));
                            });
}

const Shape* Recognise(const std::vector<Shape>& shapes, const RecordPage& page) {
  const Shape* best = nullptr;
  for (const Shape& shape : shapes) {
    if (shape.by_rowid != page.by_rowid()) continue;
    const bool fits = std::ranges::all_of(page.records, [&](const PageRecord& record) {
      return Fits(shape, record) && SpeaksOf(shape, record);
    });
    if (fits && (best == nullptr || Preference(shape) < Preference(*best))) best = &shape;
  }
  return best;
}

}  // namespace xlaprof

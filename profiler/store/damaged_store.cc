#include "profiler/store/damaged_store.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>

#include "profiler/store/chunk.h"
#include "profiler/store/damaged_file.h"
#include "profiler/store/schema_check.h"
#include "profiler/store/table_shapes.h"

// Pages are assigned to tables as follows. The schema (page 1 and below) names the root page of
// each table, and interior pages lead from there to the leaves. A leaf under a broken interior page
// is an orphan. Its table is recognised by the number and the types of its rows' values, which
// schema.sql makes different for nearly every pair of tables. If the schema itself is lost, the
// root pages of a fresh store are taken: xlaprof creates every store by the same statements, so
// they are the same. Pages on the list of free pages hold deleted rows and are left out.

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

class Recovery {
 public:
  Recovery(const DamagedFile& file, Store& into, std::vector<Shape> shapes)
      : file_(file), into_(into), shapes_(std::move(shapes)) {}

  absl::StatusOr<RecoveredRows> Run() {
    result_.pages = file_.pages();
    result_.missing_pages = file_.missing_pages();
    XP_TRY(const auto free, file_.FreePages());
    XP_TRY(AssignTrees());
    XP_TRY(file_.EachPage({}, [&](const RecordPage& page) -> absl::Status {
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
      XP_TRY(file_.EachPage(number, [&](const RecordPage& page) {
        for (const PageRecord& record : page.records) {  // type, name, table, root page, SQL
          if (record.values.size() == 5 &&
              sqlite3_value_type(record.values[3].get()) == SQLITE_INTEGER)
            roots[std::string(BytesOf(record.values[1]))] =
                uint32_t(sqlite3_value_int64(record.values[3].get()));
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

  absl::Status Take(const RecordPage& page) {
    const auto assigned = shape_of_page_.find(page.number);
    const Shape* shape = assigned == shape_of_page_.end() ? nullptr : assigned->second;
    const auto fits = [&](const PageRecord& record) { return Fits(*shape, record); };
    // Rows of another table are here if a page that led here was overwritten.
    if (shape == nullptr || shape->by_rowid != page.by_rowid() ||
        std::ranges::none_of(page.records, fits))
      shape = Recognise(shapes_, page);
    if (shape == nullptr) {
      result_.lost_rows += int64_t(page.records.size());
      return absl::OkStatus();
    }
    if (shape->is_index) return absl::OkStatus();
    for (const PageRecord& record : page.records) {
      if (!fits(record) || !IsSound(*shape, record)) {
        ++result_.lost_rows;
        continue;
      }
      XP_TRY(Insert(*shape, record));
    }
    return absl::OkStatus();
  }

  static bool IsSound(const Shape& shape, const PageRecord& record) {
    return shape.chunk_blob < 0 ||
           ChunkIsSound(BytesOf(record.values[size_t(shape.chunk_blob)]), CountOf(shape, record));
  }
  // Returns the number of events of a chunk.
  static int64_t CountOf(const Shape& shape, const PageRecord& record) {
    return sqlite3_value_int64(record.values[size_t(shape.chunk_count)].get());
  }

  absl::Status Insert(const Shape& shape, const PageRecord& record) {
    Statement& insert = inserts_[&shape];
    if (insert.get() == nullptr) {
      XP_TRY(insert, into_.Prepare(shape.insert));
    }
    for (size_t i = 0; i < record.values.size(); ++i) {
      if (shape.columns[i].is_rowid) {
        insert.Bind(int(i) + 1, *record.rowid);
      } else {
        sqlite3_bind_value(insert.get(), int(i) + 1, record.values[i].get());
      }
    }
    absl::Status status = internal::ToStatus(insert.Step());
    insert.Reset();
    XP_TRY(std::move(status));
    if (sqlite3_changes(into_.db()) == 0) return absl::OkStatus();  // it is there already
    ++result_.rows;
    if (shape.table == "event_chunk") {
      ++result_.chunks;
      result_.events += CountOf(shape, record);
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
  XP_TRY(const DamagedFile file, DamagedFile::Open(damaged));
  XP_TRY(CheckSchemaVersion(damaged.string(), file.version()));
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
    return result;
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

// Opens a damaged store so that SQLite reads its pages without believing its schema. Internal to
// damaged_store.cc.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct FreeSqliteValue {
  void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
using SqliteValue = std::unique_ptr<sqlite3_value, FreeSqliteValue>;

// Returns the bytes of a text or blob.
std::string_view BytesOf(const SqliteValue& value);

// One record of a page, as SQLite's recovery extension decodes it.
struct PageRecord {
  OptInt rowid;  // of a table tree
  std::vector<SqliteValue> values;
};

struct RecordPage {
  uint32_t number = 0;
  std::vector<PageRecord> records;  // at least one
  bool by_rowid() const { return records.front().rowid.has_value(); }
};

// Never alters the file. A file with a log (-wal), or with a header that SQLite does not open, is
// copied into a temporary folder first. Errors of reading are InvalidArgument and name the file.
class DamagedFile {
 public:
  static absl::StatusOr<DamagedFile> Open(const std::filesystem::path& path);

  uint32_t version() const { return version_; }  // of the schema; 0: the header is lost
  int64_t pages() const { return pages_; }       // of the file and of the committed part of its log
  int64_t missing_pages() const { return std::max<int64_t>(0, claimed_pages_ - pages_); }

  // Calls fn(page, child) for each pointer from an interior page.
  template <class Fn>
  absl::Status EachPointer(Fn&& fn) const {
    XP_TRY(Statement pointers, Prepare("SELECT pgno, child FROM sqlite_dbptr('main')"));
    while (true) {
      XP_TRY(bool more, Step(pointers));
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
    RecordPage page;
    int64_t cell = -1;
    while (true) {
      XP_TRY(bool more, Step(fields));
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
      PageRecord& record = page.records.back();
      if (fields.Column<int64_t>(2) < 0) {
        record.rowid = fields.Column<int64_t>(3);
      } else {
        record.values.push_back(Copy(sqlite3_column_value(fields.get(), 3)));
      }
    }
  }

  // Returns the pages on the list of free pages, which hold deleted rows.
  absl::StatusOr<absl::flat_hash_set<uint32_t>> FreePages() const;

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  static SqliteValue Copy(sqlite3_value* value);
  absl::StatusOr<Statement> Prepare(std::string_view sql) const;
  absl::StatusOr<bool> Step(Statement& statement) const;
  absl::Status CannotRead() const;
  // Returns a page, or nothing if the file has no such page.
  absl::StatusOr<std::string> PageBytes(uint32_t page) const;

  std::string name_;                       // the damaged file's
  std::optional<TemporaryFolder> folder_;  // of the copy; removed after the connection is closed
  std::unique_ptr<sqlite3, Close> db_;
  uint32_t version_ = 0, free_trunk_ = 0;
  int64_t claimed_pages_ = 0, pages_ = 0;
};

}  // namespace xlaprof

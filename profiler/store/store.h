// A store: one run, in one SQLite file (schema.sql). Every fact that xlaprof imported or recorded,
// and what it concluded. One thread writes; any number of Stores in any processes may read the same
// file meanwhile.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/rows.h"
#include "profiler/store/sqlite.h"

namespace xlaprof {

inline constexpr int kSchemaVersion = 1;
// Small, because a store has some 36 tables and indexes with a page each at least: a store of a 1
// MB profile is half pages of 16 KiB.
inline constexpr int kPageBytes = 4096;

// Ids of table string. 0 means none.
using StringId = uint32_t;

// What part of a run is looked at: `report --steps --from --to --process`. Empty members do not
// limit. Times are ns since meta.base_epoch_ns.
struct Slice {
  OptInt first_step,
      last_step;  // by step.number where known, else step.ordinal; both ends included
  OptInt from_ns, to_ns;
  OptInt process_id;
  bool is_part_of_time() const { return first_step || last_step || from_ns || to_ns; }
  bool empty() const { return !is_part_of_time() && !process_id; }
};

// A prepared statement that is bound, stepped and read by position. Finalised with its Store or by
// itself.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* stmt = nullptr) : stmt_(stmt) {}
  Statement(Statement&& other) noexcept : stmt_(std::exchange(other.stmt_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(stmt_, other.stmt_);
    return *this;
  }
  ~Statement();

  template <class T>
  void Bind(int index, const T& value);  // index from 1
  // True: a row is there. False: done. An error names SQLite's reason.
  absl::StatusOr<bool> Step();
  void Reset();
  template <class T>
  T Column(int index) const;  // index from 0; std::string_view lives until the next Step
  bool IsNull(int index) const;
  sqlite3_stmt* get() const { return stmt_; }

 private:
  sqlite3_stmt* stmt_;
};

class Store {
 public:
  // Makes an empty store. AlreadyExists if `path` is there: of several that make it at once, one
  // does. Nothing is left of one that cannot be made.
  static absl::StatusOr<Store> Create(const std::filesystem::path& path);
  // An empty store that SQLite keeps in memory and spills to an unnamed file when large; gone when
  // closed.
  static absl::StatusOr<Store> CreateTemporary();
  // Opens read-only and never alters the file. NotFound if absent; Unimplemented, naming both
  // versions, if the schema is newer than ours; InvalidArgument if it is no store. A damaged file:
  // DataLoss (see salvage.h).
  static absl::StatusOr<Store> Open(const std::filesystem::path& path);
  // The same for reading and writing.
  static absl::StatusOr<Store> OpenForWriting(const std::filesystem::path& path);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::string& path() const;  // empty for a temporary store
  sqlite3* db() const;

  // --- writing ---
  // Inserts a row; returns its id (0 for tables without one).
  template <class Row>
  absl::StatusOr<int64_t> Add(const Row& row);
  // The id of `text`, interned. `bytes`: stored as BLOB and distinct from equal text.
  absl::StatusOr<StringId> Intern(std::string_view text, bool bytes = false);
  // The ids of a stack (innermost frame first) and of a site; equal ones are one row.
  struct Frame {
    std::string function, file;
    int64_t line = 0;  // 0: unknown
    bool is_user = false;
  };
  absl::StatusOr<int64_t> AddStack(std::span<const Frame> frames);
  absl::StatusOr<int64_t> AddSite(std::string_view function, std::string_view file, int64_t line);
  // Counts something odd in a source; the first call's offset, line and advice stay.
  absl::Status AddIssue(OptInt source_id, std::string_view code, Severity severity,
                        std::string_view advice, OptInt offset = {}, OptInt line = {},
                        int64_t count = 1);
  absl::Status SetMeta(std::string_view key, std::string_view value);

  absl::Status Begin();  // a transaction; nesting is an error
  absl::Status Commit();
  void Rollback();
  // Makes the store one file, unless somebody is reading it: then its log stays beside it.
  absl::Status CloseLog();

  // --- reading ---
  // Text of an interned string; "" for 0 and for unknown ids. Valid as long as the Store.
  std::string_view Text(StringId id) const;
  // The id of `text` if it is interned, else 0.
  StringId Find(std::string_view text) const;
  absl::StatusOr<std::optional<std::string>> Meta(std::string_view key) const;
  // A time of meta: base_epoch_ns (Unix ns of the time 0 of all rows) or window_start_ns. Nothing
  // where no source knows it, or what stands there is no number within 2^62 (146 years).
  absl::StatusOr<OptInt> MetaNs(std::string_view key) const;

  // Whole rows of the slice. `rest` is what follows `FROM table`, with parameters ?1, ?2, ...:
  // `store.Rows<StepRow>("WHERE process_id = ?1 ORDER BY ordinal", id)`.
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> Rows(std::string_view rest = "", const Params&... params) const {
    return ReadRows<Row>(Row::kTable, rest, params...);
  }
  // The same of the whole run, whatever its slice.
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> AllRows(std::string_view rest = "",
                                           const Params&... params) const {
    return ReadRows<Row>(fmt::format("main.{}", Row::kTable), rest, params...);
  }
  // Runs statements without result.
  absl::Status Exec(std::string_view sql) const;
  // Runs one statement with parameters ?1, ?2, ... and no rows.
  template <class... Params>
  absl::Status Run(std::string_view sql, const Params&... params) const;
  // Calls `fn(columns...)` for each row. Column types are those of fn's parameters: int64_t,
  // double, bool, std::string, std::string_view (until fn returns), enums of a vocabulary,
  // std::optional of these (NULL), StringId. fn returns void or absl::Status.
  template <class Fn, class... Params>
  absl::Status Each(std::string_view sql, Fn&& fn, const Params&... params) const;
  // The values that `fn` returns for each row, in order.
  template <class Fn, class... Params>
  auto Collect(std::string_view sql, Fn&& fn, const Params&... params) const;
  // The first column of the first row; empty when there is no row or it is NULL.
  template <class T, class... Params>
  absl::StatusOr<std::optional<T>> One(std::string_view sql, const Params&... params) const;

  absl::StatusOr<Statement> Prepare(std::string_view sql) const;

  // --- slice ---
  // Restricts every later read of compile, execution, transfer, fallback, step and of event scans
  // to `slice`, by temporary views of the same names; the file is not altered. NotFound when no
  // such step or process exists.
  absl::Status Restrict(const Slice& slice);
  const Slice& slice() const;

  struct Impl;  // defined in store.cc

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  static absl::StatusOr<Store> Fill(const std::filesystem::path& path);  // for Create
  absl::StatusOr<Statement*> Cached(std::string_view sql) const;         // for Add
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> ReadRows(std::string_view table, std::string_view rest,
                                            const Params&... params) const;
  std::unique_ptr<Impl> impl_;
};

// The last error of a connection as a Status: full disk, busy, corrupt, read-only, each with what
// to try.
absl::Status SqliteError(sqlite3* db, std::string_view doing);

}  // namespace xlaprof

#include "profiler/store/store_internal.h"

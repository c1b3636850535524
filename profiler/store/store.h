// A store holds one run in one SQLite file (schema.sql): every fact that xlaprof imported or
// recorded, and its conclusions. One thread writes; any number of Stores in any processes may read
// the same file at the same time.
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

#include "base/status.h"
#include "profiler/store/rows.h"
#include "profiler/store/sqlite.h"

namespace xlaprof {

// Raised when schema.sql changes. Only stores of this schema can be opened (decision 0024).
inline constexpr int kSchemaVersion = 10;
// Pages are small because a store has some 36 tables and indexes with at least one page each. Pages
// of 16 KiB would be half of the store of a 1 MB profile.
inline constexpr int kPageBytes = 4096;

// An id of table string; 0 means none.
using StringId = uint32_t;

// The part of a run that is read: `report --steps --from --to --process`. Empty members do not
// limit it. Times are ns since meta.base_epoch_ns.
struct Slice {
  // By step.number where known, else by step.ordinal; both ends are included.
  OptInt first_step, last_step;
  OptInt from_ns, to_ns;
  OptInt process_id;
  bool is_part_of_time() const { return first_step || last_step || from_ns || to_ns; }
  bool empty() const { return !is_part_of_time() && !process_id; }
};

// A prepared statement that is bound, stepped and read by position. Its destructor finalises it.
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
  template <class... Params>
  void BindAll(const Params&... params);  // from index 1
  // Returns true if a row is there, false if no row is left. An error names SQLite's reason.
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
  // Creates an empty store. Returns AlreadyExists if `path` exists; if several callers create it at
  // once, one of them does. If this fails, it leaves no file.
  static absl::StatusOr<Store> Create(const std::filesystem::path& path);
  // Makes an empty store of an empty file. If this fails, the file stays.
  static absl::StatusOr<Store> CreateIn(const std::filesystem::path& empty);
  // Creates an empty store that SQLite keeps in memory and spills to an unnamed file when large. It
  // is deleted when it is closed.
  static absl::StatusOr<Store> CreateTemporary();
  // Opens a store read-only and never alters the file. Returns NotFound if it is absent, and
  // Unimplemented, with what to do, if its schema is another than ours. Returns InvalidArgument if
  // it is not a store, and DataLoss if it is damaged (see damaged_store.h).
  static absl::StatusOr<Store> Open(const std::filesystem::path& path);
  // Opens a store for reading and writing, with the same errors.
  static absl::StatusOr<Store> OpenForWriting(const std::filesystem::path& path);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::string& path() const;  // empty for a temporary store
  sqlite3* db() const;

  // --- writing ---
  // Inserts a row of rows.h and returns its id (0 for tables without one).
  template <class Row>
  absl::StatusOr<int64_t> Add(const Row& row);
  // Interns `text` and returns its id. With `bytes`, it is stored as BLOB and is distinct from
  // equal text.
  absl::StatusOr<StringId> Intern(std::string_view text, bool bytes = false);
  // AddStack and AddSite return the id of a stack (innermost frame first) and of a site; equal ones
  // are one row.
  struct Frame {
    std::string function, file;
    int64_t line = 0;  // 0: unknown
    CodeOwner owner = CodeOwner::kUnknown;
    bool is_user() const { return owner == CodeOwner::kUser; }
  };
  absl::StatusOr<int64_t> AddStack(std::span<const Frame> frames);
  absl::StatusOr<int64_t> AddSite(std::string_view function, std::string_view file, int64_t line);
  // Counts an issue of a source. The offset, line and advice of the first call with this code stay.
  absl::Status AddIssue(OptInt source_id, std::string_view code, Severity severity,
                        std::string_view advice, OptInt offset = {}, OptInt line = {},
                        int64_t count = 1);
  absl::Status SetMeta(std::string_view key, std::string_view value);

  absl::Status Begin();  // a transaction; nesting is an error
  absl::Status Commit();
  void Rollback();
  // Makes the store a single file. If another process is reading it, its log file remains.
  absl::Status CloseLog();

  // --- reading ---
  // Returns the text of an interned string; "" for 0 and for unknown ids. Valid as long as the
  // Store.
  std::string_view Text(StringId id) const;
  // Returns the id of `text` if it is interned, else 0.
  StringId Find(std::string_view text) const;
  absl::StatusOr<std::optional<std::string>> Meta(std::string_view key) const;
  // Returns a time of meta: base_epoch_ns (Unix ns of the time 0 of all rows) or window_start_ns.
  // Returns nothing if no source knows it, or if its text is not a number within 2^62 (146 years).
  absl::StatusOr<OptInt> MetaNs(std::string_view key) const;

  // Returns whole rows of the chosen part. `rest` is what follows `FROM table`, with parameters ?1,
  // ?2, ...: `store.Rows<StepRow>("WHERE process_id = ?1 ORDER BY ordinal", id)`.
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> Rows(std::string_view rest = "", const Params&... params) const {
    return ReadRows<Row>("", rest, params...);
  }
  // Returns rows of the whole run, regardless of the chosen part.
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> AllRows(std::string_view rest = "",
                                           const Params&... params) const {
    return ReadRows<Row>("main.", rest, params...);
  }
  // Returns whether a table has rows, which takes far less time than to prepare a long statement.
  absl::StatusOr<bool> HasRows(std::string_view table) const;
  // Runs statements without results.
  absl::Status Exec(std::string_view sql) const;
  // Runs one statement with parameters ?1, ?2, ... and no rows.
  template <class... Params>
  absl::Status Run(std::string_view sql, const Params&... params) const;
  // Calls `fn(columns...)` for each row. Column types are those of fn's parameters: int64_t,
  // double, bool, std::string, std::string_view (until fn returns), enums of a vocabulary,
  // std::optional of these (NULL), StringId. fn returns void or absl::Status.
  template <class Fn, class... Params>
  absl::Status Each(std::string_view sql, Fn&& fn, const Params&... params) const;
  // Returns the values that `fn` returns for the rows, in order.
  template <class Fn, class... Params>
  auto Collect(std::string_view sql, Fn&& fn, const Params&... params) const;
  // Returns the first column of the first row, or nothing if there is no row or it is NULL.
  template <class T, class... Params>
  absl::StatusOr<std::optional<T>> One(std::string_view sql, const Params&... params) const;

  absl::StatusOr<Statement> Prepare(std::string_view sql) const;

  // --- slice ---
  // Restricts every later event scan and every later read of compile, execution, transfer,
  // fallback, step and other facts of a process to `slice`. Temporary views of the same names do
  // this; the file is not altered. Returns NotFound if no such step or process exists.
  absl::Status Restrict(const Slice& slice);
  const Slice& slice() const;

  struct Impl;  // defined in store.cc

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  absl::StatusOr<Statement*> Cached(std::string_view sql) const;         // for Add
  // `schema` is "" or "main.", which comes before the table's name.
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> ReadRows(std::string_view schema, std::string_view rest,
                                            const Params&... params) const;
  template <class Row>
  static absl::StatusOr<std::vector<Row>> TakeRows(Statement statement);
  std::unique_ptr<Impl> impl_;
};

// Returns the last error of a connection as a Status with advice: full disk, busy, corrupt,
// read-only and others. `doing` begins the message.
absl::Status SqliteError(sqlite3* db, std::string_view doing);

}  // namespace xlaprof

#include "profiler/store/store_internal.h"

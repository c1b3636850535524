#include "profiler/store/store.h"

#include <absl/cleanup/cleanup.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <deque>

#include "base/descriptor.h"
#include "base/file_system.h"
#include "base/numbers.h"
#include "profiler/store/empty_schema.h"
#include "profiler/store/schema_check.h"
#include "profiler/store/slice_views.h"
#include "profiler/store/virtual_tables.h"

namespace xlaprof {

extern const char* const kSchemaSql;

// Ids of strings are dense. An id this far above their number comes from a hostile or damaged file,
// and must not make us reserve an entry for each id below it.
static constexpr StringId kFarId = 1 << 20;

struct Store::Impl {
  std::string path;
  sqlite3* db = nullptr;
  Slice slice;
  // The statements of Add, by the address of their SQL (one static string per row type).
  absl::flat_hash_map<const void*, std::unique_ptr<Statement>> statements;
  // Interned text, both ways. Loaded from the file when it is first asked for; `texts` owns what
  // the maps view.
  mutable bool strings_loaded = false;
  mutable StringId highest_string = 0;  // highest id that is loaded
  // The number of times that INSERT into the virtual tables may have interned text, and the number
  // at the last load.
  std::shared_ptr<int64_t> sql_interned = std::make_shared<int64_t>(0);
  mutable int64_t sql_interned_loaded = 0;
  mutable std::deque<std::string> texts;
  mutable absl::flat_hash_map<std::string_view, StringId> text_ids, bytes_ids;
  mutable std::vector<std::string_view> by_id;
  // Ids that no Intern returned, because they are far above all others.
  mutable absl::flat_hash_map<StringId, std::string_view> by_far_id;
  bool wal = false;  // we switched the file to a write-ahead log
  absl::flat_hash_map<std::string, int64_t> stack_ids, site_ids;

  ~Impl() {
    statements.clear();
    // A file in WAL mode cannot be opened without writing beside it, so it leaves that mode here.
    // If another process still has it open, it stays in that mode; this does not wait for the
    // process.
    if (wal) {
      sqlite3_busy_timeout(db, 0);
      sqlite3_exec(db, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
    }
    if (db != nullptr) sqlite3_close_v2(db);
  }

  void Remember(StringId id, std::string_view text, bool bytes) const {
    texts.emplace_back(text);
    highest_string = std::max(highest_string, id);
    (bytes ? bytes_ids : text_ids).emplace(texts.back(), id);
    if (id > 2 * texts.size() + kFarId) {
      by_far_id.emplace(id, texts.back());
      return;
    }
    if (by_id.size() <= id) by_id.resize(id + 1);
    by_id[id] = texts.back();
  }
};

namespace {

absl::Status OpenConnection(const std::string& name, int flags, Store::Impl* impl) {
  sqlite3** db = &impl->db;
  int rc = sqlite3_open_v2(name.c_str(), db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (rc != SQLITE_OK) return SqliteError(*db, fmt::format("{}: cannot open", name));
  sqlite3_busy_timeout(*db, 10'000);
  // A file from outside may have triggers, which would run SQL of its own where we write to it.
  sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  return RegisterVirtualTables(*db, impl->sql_interned);
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::string& Store::path() const { return impl_->path; }
sqlite3* Store::db() const { return impl_->db; }
const Slice& Store::slice() const { return impl_->slice; }

absl::StatusOr<Store> Store::Create(const std::filesystem::path& path) {
  // If several callers create it at once, O_EXCL lets one of them succeed. The file is closed
  // before SQLite locks it, because closing any descriptor of a file ends the process's locks of
  // it.
  const FileIdentity made = Descriptor::Open(path, O_RDWR | O_CREAT | O_EXCL, 0644).identity();
  if (!made.exists && errno == EEXIST) {
    return absl::AlreadyExistsError(
        fmt::format("{}: already exists. Remove it, or choose another name", path.string()));
  }
  if (!made.exists)
    return IoError("{}: cannot create it ({}). Check that the folder exists and can be written",
                   path.string(), std::strerror(errno));
  auto store = CreateIn(path);
  if (!store.ok()) RemoveFile(path, made);
  return store;
}

absl::StatusOr<Store> Store::CreateIn(const std::filesystem::path& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path.string();
  XP_TRY(OpenConnection(impl->path, SQLITE_OPEN_READWRITE, impl.get()));
  Store store(std::move(impl));
  XP_TRY(store.Exec(fmt::format("PRAGMA page_size={}; PRAGMA synchronous=NORMAL;", kPageBytes)));
  // WAL lets readers work while we write, but needs shared memory, which network file systems do
  // not provide.
  const bool network = FileSystemOf(path) == FileSystem::kNetwork;
  if (!network) XP_TRY(store.Exec("PRAGMA journal_mode=WAL;"));
  store.impl_->wal = !network;
  XP_TRY(store.Begin());  // one for all tables
  XP_TRY(store.Exec(kSchemaSql));
  XP_TRY(store.Exec(fmt::format("PRAGMA user_version={};", kSchemaVersion)));
  XP_TRY(store.SetMeta("schema_version", fmt::to_string(kSchemaVersion)));
  if (network) {
    XP_TRY(store.SetMeta(
        "network_file_system",
        "written on a network file system: do not read it while it is being written"));
  }
  XP_TRY(store.Commit());
  return store;
}

// Copies a database to a temporary file, which `to` opens. `name` is for the message.
static absl::Status CopyToTemporary(sqlite3* from, std::string_view name, Store::Impl* to) {
  XP_TRY(OpenConnection("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, to));
  sqlite3_backup* backup = sqlite3_backup_init(to->db, "main", from, "main");
  if (backup != nullptr) sqlite3_backup_step(backup, -1);
  if (backup == nullptr || sqlite3_backup_finish(backup) != SQLITE_OK)
    return SqliteError(to->db, fmt::format("{}: cannot be copied", name));
  return absl::OkStatus();
}

absl::StatusOr<Store> Store::CreateTemporary() {
  sqlite3* schema = OpenEmptySchema();
  const absl::Cleanup closing = [&] { sqlite3_close_v2(schema); };
  auto impl = std::make_unique<Impl>();
  XP_TRY(CopyToTemporary(schema, "the schema", impl.get()));
  Store store(std::move(impl));
  XP_TRY(
      store.Exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;"));
  XP_TRY(store.Begin());
  XP_TRY(store.Exec(fmt::format("PRAGMA user_version={};", kSchemaVersion)));
  XP_TRY(store.SetMeta("schema_version", fmt::to_string(kSchemaVersion)));
  XP_TRY(store.Commit());
  return store;
}

static absl::StatusOr<Store> OpenExisting(const std::filesystem::path& path, int flags,
                                          std::unique_ptr<Store::Impl> impl,
                                          Store (*wrap)(std::unique_ptr<Store::Impl>)) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return NotFound("{}: no such file", path.string());
  if (std::filesystem::is_directory(path, error))
    return Invalid("{}: this is a directory, not a store", path.string());
  impl->path = path.string();
  XP_TRY(OpenConnection(impl->path, flags, impl.get()));
  Store store = wrap(std::move(impl));
  auto version = store.One<int64_t>("PRAGMA user_version");
  if (!version.ok()) {
    // The message must name the file as the user does, not as SQLite does.
    std::string_view what = Message(version.status());
    const char* file = sqlite3_db_filename(store.db(), "main");
    for (std::string_view name : {std::string_view(file == nullptr ? "" : file), {"store"}}) {
      if (!name.empty() && what.starts_with(name)) what.remove_prefix(name.size());
    }
    return absl::Status(version.status().code(), fmt::format("{}{}", path.string(), what));
  }
  XP_TRY(auto has_chunks, store.One<int64_t>("SELECT count(*) FROM sqlite_schema WHERE type = "
                                             "'table' AND name IN ('event_chunk', 'source')"));
  if (has_chunks.value_or(0) != 2) {
    // SQLite opens a file of 0 bytes as a database without tables.
    if (std::filesystem::file_size(path, error) == 0)
      return Invalid(
          "{}: the file is empty (0 bytes), so it is not a store. Import the sources again",
          path.string());
    return Invalid(
        "{}: this is an SQLite file, but not an xlaprof store, because it has no table event_chunk or source. Name a file that `xlaprof import` wrote",
        path.string());
  }
  XP_TRY(CheckSchemaVersion(path.string(), version->value_or(0)));
  XP_TRY(CheckSchema(store));
  return store;
}

absl::StatusOr<Store> Store::Open(const std::filesystem::path& path) {
  return OpenExisting(
      path, SQLITE_OPEN_READONLY, std::make_unique<Impl>(),
      +[](std::unique_ptr<Impl> impl) { return Store(std::move(impl)); });
}

absl::StatusOr<Store> Store::OpenForWriting(const std::filesystem::path& path) {
  XP_TRY(Store store, OpenExisting(
                          path, SQLITE_OPEN_READWRITE, std::make_unique<Impl>(),
                          +[](std::unique_ptr<Impl> impl) { return Store(std::move(impl)); }));
  if (FileSystemOf(path) != FileSystem::kNetwork) {
    XP_TRY(store.Exec("PRAGMA synchronous=NORMAL; PRAGMA journal_mode=WAL;"));
    store.impl_->wal = true;
  }
  return store;
}

absl::StatusOr<Statement> Store::Prepare(std::string_view sql) const {
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v2(impl_->db, sql.data(), int(sql.size()), &stmt, nullptr) != SQLITE_OK) {
    return SqliteError(impl_->db, path().empty() ? "store" : path());
  }
  if (stmt == nullptr) return Invalid("empty SQL statement");
  return Statement(stmt);
}

absl::StatusOr<Statement*> Store::Cached(std::string_view sql) const {
  auto& slot = impl_->statements[sql.data()];
  if (slot == nullptr) {
    XP_TRY(Statement statement, Prepare(sql));
    slot = std::make_unique<Statement>(std::move(statement));
  }
  return slot.get();
}

absl::StatusOr<bool> Store::HasRows(std::string_view table) const {
  XP_TRY(Statement statement, Prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", table)));
  return statement.Step();
}

absl::Status Store::Exec(std::string_view sql) const {
  std::string text(sql);
  if (sqlite3_exec(impl_->db, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqliteError(impl_->db, path().empty() ? "store" : path());
  }
  return absl::OkStatus();
}

absl::Status Store::Begin() { return Exec("BEGIN IMMEDIATE"); }
absl::Status Store::Commit() { return Exec("COMMIT"); }
void Store::Rollback() {
  if (!sqlite3_get_autocommit(impl_->db)) (void)Exec("ROLLBACK");
}

static absl::Status LoadStrings(const Store& store, const Store::Impl& impl) {
  if (impl.strings_loaded && *impl.sql_interned == impl.sql_interned_loaded)
    return absl::OkStatus();
  impl.strings_loaded = true;
  impl.sql_interned_loaded = *impl.sql_interned;
  return store.Each(
      "SELECT id, text, typeof(text) = 'blob' FROM string WHERE id > ?1 AND id <= 4294967295",
      [&](StringId id, std::string_view text, bool bytes) { impl.Remember(id, text, bytes); },
      impl.highest_string);
}

absl::StatusOr<StringId> Store::Intern(std::string_view text, bool bytes) {
  XP_TRY(LoadStrings(*this, *impl_));
  auto& ids = bytes ? impl_->bytes_ids : impl_->text_ids;
  if (auto found = ids.find(text); found != ids.end()) return found->second;
  StringId id = StringId(impl_->by_id.empty() ? 1 : impl_->by_id.size());
  static constexpr std::string_view kSql = "INSERT INTO string (id, text) VALUES (?, ?)";
  XP_TRY(Statement * statement, Cached(kSql));
  statement->Bind(1, id);
  if (bytes) {
    sqlite3_bind_blob64(statement->get(), 2, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT);
  } else {
    statement->Bind(2, text);
  }
  absl::Status status = internal::ToStatus(statement->Step());
  statement->Reset();
  XP_TRY(std::move(status));
  impl_->Remember(id, text, bytes);
  return id;
}

std::string_view Store::Text(StringId id) const {
  if (id != 0 && id >= impl_->by_id.size()) (void)LoadStrings(*this, *impl_);
  if (id < impl_->by_id.size()) return impl_->by_id[id];
  auto far = impl_->by_far_id.find(id);
  return far == impl_->by_far_id.end() ? std::string_view() : far->second;
}

StringId Store::Find(std::string_view text) const {
  (void)LoadStrings(*this, *impl_);
  auto found = impl_->text_ids.find(text);
  return found == impl_->text_ids.end() ? 0 : found->second;
}

absl::StatusOr<int64_t> Store::AddStack(std::span<const Frame> frames) {
  std::string key;
  for (const Frame& frame : frames) {
    key += fmt::format("{}\x1f{}\x1f{}\x1e", frame.function, frame.file, frame.line);
  }
  if (auto found = impl_->stack_ids.find(key); found != impl_->stack_ids.end())
    return found->second;
  std::string hash = fmt::format("{:016x}", std::hash<std::string>()(key));
  XP_TRY(auto known, One<int64_t>("SELECT id FROM stack WHERE hash = ?1", hash));
  int64_t id = known.value_or(0);
  if (id == 0) {
    XP_TRY(Run("INSERT INTO stack (hash) VALUES (?1)", hash));
    id = sqlite3_last_insert_rowid(impl_->db);
    int64_t depth = 0;
    for (const Frame& frame : frames) {
      XP_TRY(Run(
          "INSERT INTO frame VALUES (?1, ?2, nullif(?3, ''), nullif(?4, ''), nullif(?5, 0), nullif(?6, 'unknown'))",
          id, depth++, frame.function, frame.file, frame.line, TextOf(frame.owner)));
    }
  }
  impl_->stack_ids.emplace(std::move(key), id);
  return id;
}

absl::StatusOr<int64_t> Store::AddSite(std::string_view function, std::string_view file,
                                       int64_t line) {
  std::string key = fmt::format("{}\x1f{}\x1f{}", function, file, line);
  if (auto found = impl_->site_ids.find(key); found != impl_->site_ids.end()) return found->second;
  XP_TRY(auto known,
         One<int64_t>(
             "SELECT id FROM site WHERE function IS nullif(?1, '') AND file IS nullif(?2, '') AND "
             "line IS nullif(?3, 0)",
             function, file, line));
  int64_t id = known.value_or(0);
  if (id == 0) {
    XP_TRY(
        Run("INSERT INTO site (function, file, line) VALUES (nullif(?1, ''), nullif(?2, ''), "
            "nullif(?3, 0))",
            function, file, line));
    id = sqlite3_last_insert_rowid(impl_->db);
  }
  impl_->site_ids.emplace(std::move(key), id);
  return id;
}

absl::Status Store::CloseLog() {
  absl::Status closed = Exec("PRAGMA journal_mode=DELETE");
  return absl::IsUnavailable(closed) ? absl::OkStatus() : closed;
}

absl::Status Store::AddIssue(OptInt source_id, std::string_view code, Severity severity,
                             std::string_view advice, OptInt offset, OptInt line, int64_t count) {
  return Run(
      "INSERT INTO import_issue VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
      "ON CONFLICT (source_id, code) DO UPDATE SET count = count + excluded.count",
      source_id.value_or(0), code, severity, count, offset, line, advice);
}

absl::Status Store::SetMeta(std::string_view key, std::string_view value) {
  return Run("INSERT OR REPLACE INTO main.meta VALUES (?1, ?2)", key, value);
}

absl::StatusOr<std::optional<std::string>> Store::Meta(std::string_view key) const {
  return One<std::string>("SELECT value FROM meta WHERE key = ?1", key);
}

absl::StatusOr<OptInt> Store::MetaNs(std::string_view key) const {
  XP_TRY(auto text, Meta(key));
  const OptInt ns = text ? ParseInteger(*text) : OptInt();
  constexpr int64_t kMostNs = int64_t{1} << 62;
  if (!ns || *ns > kMostNs || *ns < -kMostNs) return OptInt();
  return ns;
}

absl::Status Store::Restrict(const Slice& slice) {
  impl_->slice = slice;
  if (slice.empty()) return absl::OkStatus();
  XP_TRY(impl_->slice, WithTimesOfSteps(*this, slice));
  return MakeSliceViews(*this, slice);
}

}  // namespace xlaprof

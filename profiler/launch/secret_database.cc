// Removes secrets from SQLite databases. Replacing bytes in place would miss texts that lie in
// several pages, and would put indexes out of order.
#include <fstream>
#include <iterator>
#include <optional>

#include "base/temporary_folder.h"
#include "profiler/launch/secret_files.h"
#include "profiler/launch/secret_names.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

struct Mask {
  const Secrets& secrets;
  int64_t removed = 0;
};

// The SQL function without_secrets(text or blob).
void WithoutSecrets(sqlite3_context* context, int, sqlite3_value** values) {
  auto& mask = *static_cast<Mask*>(sqlite3_user_data(context));
  const bool is_blob = sqlite3_value_type(values[0]) == SQLITE_BLOB;
  const void* bytes = is_blob ? sqlite3_value_blob(values[0]) : sqlite3_value_text(values[0]);
  std::string text(static_cast<const char*>(bytes), size_t(sqlite3_value_bytes(values[0])));
  const int64_t removed = mask.secrets.Remove(text);
  if (removed == 0) return sqlite3_result_value(context, values[0]);
  mask.removed += removed;
  if (is_blob) return sqlite3_result_blob(context, text.data(), int(text.size()), SQLITE_TRANSIENT);
  sqlite3_result_text(context, text.data(), int(text.size()), SQLITE_TRANSIENT);
}

class Database {
 public:
  ~Database() { sqlite3_close(db_); }
  bool Open(const std::filesystem::path& path) {
    if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
      return false;
    sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return Run("PRAGMA secure_delete = ON");
  }
  bool Run(const std::string& sql) {
    return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  // Returns the first columns of all rows, or nothing if SQLite reports an error.
  std::optional<std::vector<std::string>> Texts(const std::string& sql) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
      return std::nullopt;
    const Statement statement(prepared);
    std::vector<std::string> texts;
    int result;
    while ((result = sqlite3_step(prepared)) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(prepared, 0));
      texts.emplace_back(text != nullptr ? text : "");
    }
    if (result != SQLITE_DONE) return std::nullopt;
    return texts;
  }
  sqlite3* get() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

std::string Quoted(std::string_view text, char mark) {
  std::string quoted(1, mark);
  for (char c : text) quoted.append(c == mark ? 2 : 1, c);
  return quoted + mark;
}

// Replaces the texts of all columns. Where two texts that must differ become equal, the second one
// gets an ending.
bool MaskTables(Database& db, Mask& mask) {
  if (sqlite3_create_function_v2(db.get(), "without_secrets", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                 &mask, WithoutSecrets, nullptr, nullptr, nullptr) != SQLITE_OK)
    return false;
  const auto tables = db.Texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%'");
  if (!tables) return false;
  for (const std::string& table : *tables) {
    const auto columns = db.Texts("SELECT name FROM pragma_table_xinfo(" + Quoted(table, '\'') +
                                  ") WHERE hidden = 0");
    if (!columns) return false;
    // The values of arguments of type bytes are BLOBs here. Others are packed columns.
    const std::string types = table == "string" ? "('text', 'blob')" : "('text')";
    for (const std::string& name : *columns) {
      const std::string column = Quoted(name, '"');
      const std::string where = " WHERE typeof(" + column + ") IN " + types +
                                " AND without_secrets(" + column + ") IS NOT " + column;
      const auto found = db.Texts("SELECT count(*) FROM " + Quoted(table, '"') + where);
      if (!found) return false;
      if (found->front() == "0") continue;
      const std::string set =
          Quoted(table, '"') + " SET " + column + " = without_secrets(" + column + ")";
      const int64_t before = mask.removed;
      if (!db.Run("UPDATE OR IGNORE " + set + where)) return false;
      if (!db.Run("UPDATE " + set + " || '#' || hex(randomblob(4))" + where)) return false;
      mask.removed = before;
    }
  }
  return true;
}

// Returns the values that stand beside names of secrets in a store.
std::vector<std::string> ArgumentsOf(const std::filesystem::path& path) {
  std::vector<std::string> values;
  absl::StatusOr<Store> store = Store::Open(path);
  if (!store.ok()) return values;
  std::vector<std::string> keys;
  const absl::Status read =
      store->Each("SELECT DISTINCT text FROM string JOIN arg_chunk ON string.id = key_id",
                  [&](const std::string& key) {
                    if (SecrecyOf(key) != Secrecy::kNone) keys.push_back(key);
                  });
  if (!read.ok()) return values;
  for (const std::string& key : keys) {
    const auto take = [&](const std::string& value) {
      if (IsSecret(key, value, /*is_flag=*/false)) values.push_back(value);
    };
    (void)store->Each(
        "SELECT DISTINCT value FROM arg WHERE key = ?1 AND type IN ('string', 'bytes')", take, key);
  }
  return values;
}

// Replaces whole texts of a store, which may be too short to be looked for elsewhere.
bool MaskStrings(Database& db, const std::vector<std::string>& values, Mask& mask) {
  for (const std::string& value : values) {
    const std::string same = " WHERE CAST(text AS TEXT) = " + Quoted(value, '\'');
    if (!db.Run("UPDATE string SET text = " + Quoted(std::string(value.size(), '*'), '\'') + same))
      return false;
    mask.removed += sqlite3_changes(db.get()) > 0 ? 1 : 0;
  }
  return true;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool WriteAll(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  return bool(out.write(bytes.data(), std::streamsize(bytes.size())).flush());
}

}  // namespace

bool IsDatabase(std::string_view bytes) {
  return bytes.starts_with(std::string_view("SQLite format 3\0", 16));
}

bool RemoveFromDatabase(const Secrets& secrets, const std::string& name, std::string& bytes,
                        Masking& masking, std::string_view log) {
  const absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make("secrets");
  if (!folder.ok()) return false;
  const std::filesystem::path path = folder->path() / "store",
                              log_path = folder->path() / "store-wal";
  if (!WriteAll(path, bytes) || (!log.empty() && !WriteAll(log_path, log))) return false;
  Mask mask{.secrets = secrets};
  {
    // Takes over the log before a store is opened read-only.
    Database db;
    if (!db.Open(path)) return false;
    if (!log.empty() && !db.Run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE"))
      return false;
  }
  const std::vector<std::string> values = ArgumentsOf(path);
  {
    Database db;
    if (!db.Open(path) || !MaskStrings(db, values, mask) || !MaskTables(db, mask)) return false;
    std::string raw = mask.removed > 0 ? std::string() : bytes;
    // The free pages of a database may still hold what was deleted from it.
    const bool has_left = mask.removed > 0 || secrets.Remove(raw) > 0;
    if (has_left && !db.Run("PRAGMA journal_mode = DELETE; VACUUM")) return false;
    if (!has_left && log.empty()) return true;
  }
  bytes = ReadAll(path);
  masking.secrets += mask.removed;
  return true;
}

}  // namespace xlaprof

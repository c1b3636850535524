#include "profiler/store/damaged_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

// SQLite's recovery extension. It adds the virtual tables sqlite_dbdata (the fields of each record
// on each page) and sqlite_dbptr (the pointers from pages to pages) to a connection.
extern "C" int sqlite3_dbdata_init(sqlite3* db, char** error, const void* unused);

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMakeRoom = "Free space, or set TMPDIR to another disk";

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
    return IoError("{}: cannot be written. {}", path.string(), kMakeRoom);
  return absl::OkStatus();
}

// Returns the URI of a file.
std::string UriOf(const fs::path& path) {
  std::string out = "file:";
  for (const char c : fs::absolute(path).string())
    out +=
        c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", uint8_t(c)) : std::string(1, c);
  return out;
}

}  // namespace

std::string_view BytesOf(const SqliteValue& value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value.get()));
  return {bytes != nullptr ? bytes : "", size_t(sqlite3_value_bytes(value.get()))};
}

absl::StatusOr<DamagedFile> DamagedFile::Open(const fs::path& path) {
  DamagedFile file;
  file.name_ = path.string();
  std::string header(kHeaderEnd, '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return NotFound("{}: {}. Check the path", path.string(), std::strerror(errno));
  stream.read(header.data(), kHeaderEnd);
  header.resize(size_t(stream.gcount()));
  const bool is_header = IsHeader(header);
  std::string address = UriOf(path) + "?immutable=1";
  std::error_code error;
  const fs::path log = path.string() + "-wal";
  if (!is_header || fs::file_size(log, error) > 0) {
    XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("damaged"));
    const fs::path copy = folder.path() / "damaged.xlaprof";
    fs::copy_file(path, copy, error);
    if (!error && fs::exists(log)) fs::copy_file(log, copy.string() + "-wal", error);
    if (error)
      return IoError("{}: cannot be copied to {}: {}. {}", path.string(), folder.path().string(),
                     error.message(), kMakeRoom);
    if (!is_header) XP_TRY(ReplaceFirstPage(copy, folder.path()));
    address = UriOf(copy);
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
  XP_TRY(bool counted, file.Step(count));
  file.pages_ = counted ? count.Column<int64_t>(0) : 0;
  XP_TRY(const std::string first, file.PageBytes(1));
  if (IsHeader(std::string_view(first).substr(0, kHeaderEnd))) {
    file.version_ = Word(first, kHeaderVersion);
    file.free_trunk_ = Word(first, kHeaderFreeTrunk);
    file.claimed_pages_ = Word(first, kHeaderPages);
  }
  // The last page counts as missing if only a part of it is left.
  if (fs::file_size(path, error) % kPageBytes != 0) --file.pages_;
  return file;
}

// The list consists of trunks, each a u32 next trunk, a u32 count and that many u32 page numbers.
absl::StatusOr<absl::flat_hash_set<uint32_t>> DamagedFile::FreePages() const {
  absl::flat_hash_set<uint32_t> free;
  for (uint32_t trunk = free_trunk_; trunk != 0 && free.insert(trunk).second;) {
    XP_TRY(const std::string bytes, PageBytes(trunk));
    if (bytes.empty()) break;
    const size_t count = Word(bytes, 4);
    if (count > kPageBytes / 4 - 2) break;  // not a trunk
    for (size_t i = 0; i < count; ++i) free.insert(Word(bytes, 8 + 4 * i));
    trunk = Word(bytes, 0);
  }
  return free;
}

SqliteValue DamagedFile::Copy(sqlite3_value* value) {
  SqliteValue copy(sqlite3_value_dup(value));
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

absl::Status DamagedFile::CannotRead() const {
  return Invalid("{}: its pages cannot be read: {}. Import the sources again", name_,
                 sqlite3_errmsg(db_.get()));
}

absl::StatusOr<Statement> DamagedFile::Prepare(std::string_view sql) const {
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.data(), int(sql.size()), &stmt, nullptr) != SQLITE_OK)
    return CannotRead();
  return Statement(stmt);
}

absl::StatusOr<bool> DamagedFile::Step(Statement& statement) const {
  auto more = statement.Step();
  if (!more.ok()) return CannotRead();
  return more;
}

absl::StatusOr<std::string> DamagedFile::PageBytes(uint32_t page) const {
  XP_TRY(Statement read, Prepare("SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?1"));
  read.Bind(1, int64_t(page));
  XP_TRY(bool found, Step(read));
  return found ? std::string(read.Column<std::string_view>(0)) : std::string();
}

}  // namespace xlaprof

#include "profiler/store/origin.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>

#include "base/descriptor.h"
#include "base/numbers.h"
#include "base/version.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "[[xlaprof-origin 1; ", kEnd = "]]";
constexpr size_t kNearBytes = 1 << 10;
constexpr std::string_view kRecording = "recording-";

// A hash that is the same in all versions and on all machines, which std::hash and absl::Hash are
// not.
class StableHash {
 public:
  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      uint64_t word = 0;
      const size_t part = std::min(bytes.size(), sizeof word);
      for (size_t i = 0; i < part; ++i) word |= uint64_t(uint8_t(bytes[i])) << (8 * i);
      state_ = (state_ ^ word) * 0x9e3779b97f4a7c15;
      state_ ^= state_ >> 32;
      bytes.remove_prefix(part);
    }
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x2545f4914f6cdd1d;
};

using ReadPiece = std::function<std::string_view(size_t from, size_t size)>;

// Hashes both ends and pieces in between, at equal distances.
std::string Identity(size_t size, const ReadPiece& read) {
  constexpr size_t kPieces = 64, kPieceBytes = 4 << 10;
  StableHash hash;
  if (size <= kPieces * kPieceBytes) {
    hash.Add(read(0, size));
  } else {
    for (size_t i = 0; i < kPieces; ++i) {
      const auto last = __int128(size - kPieceBytes);
      hash.Add(read(size_t(last * i / (kPieces - 1)), kPieceBytes));
    }
  }
  return fmt::format("{}-{:016x}", size, hash.value());
}

// Returns the identity of a file on disk as it is stored there, or "" if it cannot be read.
std::string IdentityOfFile(const std::string& path) {
  const Descriptor fd = OpenToRead(path);
  struct stat info {};
  if (!fd.is_open() || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  std::string piece;
  bool failed = false;
  std::string identity = Identity(size_t(info.st_size), [&](size_t from, size_t size) {
    piece.resize(size);
    failed |= pread(fd.get(), piece.data(), size, off_t(from)) != ssize_t(size);
    return std::string_view(piece);
  });
  return failed ? "" : identity;
}

std::optional<Origin> Parse(std::string_view mark) {
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(mark.data(), mark.size()), "; ");
  if (parts.size() != 4) return std::nullopt;
  Origin origin{.writer = parts[0], .is_whole = parts[1] != "part"};
  constexpr std::string_view kTo = " to ";
  if (const size_t at = parts[2].find(kTo); at != std::string::npos) {
    origin.from_ns = ParseInteger(parts[2].substr(0, at));
    origin.to_ns = ParseInteger(parts[2].substr(at + kTo.size()));
  }
  origin.sources = absl::StrSplit(parts[3], ' ', absl::SkipEmpty());
  return origin;
}

// Returns whether a table of the file is a plain one. A view or a computed column would run SQL of
// the file wherever it is read.
absl::StatusOr<bool> IsPlainTable(sqlite3* db, const char* name) {
  constexpr const char* kSql =
      "SELECT count(*) > 0 AND total(s.type <> 'table' OR s.sql LIKE 'CREATE VIRTUAL%' OR c.hidden <> "
      "0) = 0 FROM main.sqlite_schema AS s, pragma_table_xinfo(s.name, 'main') AS c WHERE s.name = ?1";
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v2(db, kSql, -1, &stmt, nullptr) != SQLITE_OK)
    return SqliteError(db, "reading the schema");
  Statement statement(stmt);
  statement.Bind(1, std::string_view(name));
  XP_TRY(const bool row, statement.Step());
  return row && statement.Column<int64_t>(0) != 0;
}

// Returns the texts of the first column of a query's rows.
absl::StatusOr<std::vector<std::string>> Texts(sqlite3* db, const char* sql) {
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v2(db, sql, -1, &stmt, nullptr) != SQLITE_OK)
    return SqliteError(db, "reading the origin");
  Statement statement(stmt);
  std::vector<std::string> texts;
  while (true) {
    XP_TRY(const bool row, statement.Step());
    if (!row || texts.size() == kMostSources) return texts;
    texts.emplace_back(statement.Column<std::string_view>(0));
  }
}

constexpr char kMetaKey[] = "origin";
constexpr const char* kOriginSql = "SELECT value FROM main.meta WHERE key = 'origin'";
constexpr const char* kRecordingsSql =
    "SELECT 'recording-' || ring_key FROM main.recording ORDER BY id";

absl::StatusOr<StoreOrigin> ReadOrigin(sqlite3* db) {
  StoreOrigin origin;
  XP_TRY(origin.is_store, IsPlainTable(db, "event_chunk"));
  XP_TRY(const bool has_meta, IsPlainTable(db, "meta"));
  if (has_meta) {
    XP_TRY(const std::vector<std::string> marks, Texts(db, kOriginSql));
    if (!marks.empty()) origin.made_from = FindOrigin(marks[0]);
  }
  XP_TRY(const bool has_recordings, IsPlainTable(db, "recording"));
  if (has_recordings && !origin.made_from) {
    XP_TRY(origin.identities, Texts(db, kRecordingsSql));
  }
  return origin;
}

}  // namespace

bool Origin::Overlaps(const Origin& other) const {
  if (from_ns.value_or(INT64_MIN) >= other.to_ns.value_or(INT64_MAX) ||
      other.from_ns.value_or(INT64_MIN) >= to_ns.value_or(INT64_MAX))
    return false;
  return std::ranges::any_of(sources, [&](const std::string& source) {
    return std::ranges::find(other.sources, source) != other.sources.end();
  });
}

std::string TextOf(const Origin& origin) {
  std::string limits = "-";
  if (origin.from_ns || origin.to_ns) {
    const auto number = [](OptInt ns) { return ns ? fmt::to_string(*ns) : std::string("-"); };
    limits = fmt::format("{} to {}", number(origin.from_ns), number(origin.to_ns));
  }
  const size_t told = std::min(origin.sources.size(), kMostSources);
  return fmt::format(
      "{}{}; {}; {}; {}{}", kBegin, origin.writer, origin.is_whole ? "whole" : "part", limits,
      fmt::join(origin.sources.begin(), origin.sources.begin() + ptrdiff_t(told), " "), kEnd);
}

std::optional<Origin> FindOrigin(std::string_view bytes) {
  size_t begin = bytes.substr(0, kNearBytes + kBegin.size()).find(kBegin);
  if (begin == std::string_view::npos) {
    const size_t end = bytes.rfind(kEnd);
    if (end == std::string_view::npos || bytes.size() - end > kNearBytes) return std::nullopt;
    begin = bytes.substr(0, end).rfind(kBegin);
  }
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t from = begin + kBegin.size(), end = bytes.find(kEnd, from);
  if (end == std::string_view::npos) return std::nullopt;
  return Parse(bytes.substr(from, end - from));
}

std::string ContentIdentity(std::string_view bytes) {
  return Identity(bytes.size(), [&](size_t from, size_t size) { return bytes.substr(from, size); });
}

std::optional<uint64_t> SizeIn(std::string_view identity) {
  if (identity.starts_with(kRecording)) return std::nullopt;
  return ParseInteger<uint64_t>(identity.substr(0, identity.find('-')));
}

absl::StatusOr<Origin> OriginOf(const Store& store) {
  Origin origin;
  XP_TRY(const auto mark, store.Meta(kMetaKey));
  if (auto known = mark ? FindOrigin(*mark) : std::nullopt) origin = *std::move(known);
  if (origin.sources.empty()) {
    XP_TRY(origin.sources, store.Collect(kRecordingsSql, [](std::string text) { return text; }));
  }
  if (origin.sources.empty() && !store.path().empty()) {
    if (std::string own = IdentityOfFile(store.path()); !own.empty())
      origin.sources.push_back(std::move(own));
  }
  origin.writer = fmt::format("xlaprof {}", kVersion);
  const Slice& slice = store.slice();
  if (slice.empty()) return origin;
  origin.is_whole = false;
  XP_TRY(const OptInt base_ns, store.MetaNs("base_epoch_ns"));
  if (!base_ns) return origin;
  int64_t ns;
  if (slice.from_ns && !__builtin_add_overflow(*base_ns, *slice.from_ns, &ns)) origin.from_ns = ns;
  if (slice.to_ns && !__builtin_add_overflow(*base_ns, *slice.to_ns, &ns)) origin.to_ns = ns;
  return origin;
}

absl::Status SetOrigin(Origin origin, Store& store) {
  origin.writer = fmt::format("xlaprof {}", kVersion);
  return store.SetMeta(kMetaKey, TextOf(origin));
}

StoreOrigin OriginOfStoreFile(const fs::path& path) {
  sqlite3* db = nullptr;
  const absl::Cleanup closing = [&] { sqlite3_close_v2(db); };
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) !=
      SQLITE_OK)
    return {};
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  auto origin = ReadOrigin(db);
  return origin.ok() ? *std::move(origin) : StoreOrigin{};
}

}  // namespace xlaprof

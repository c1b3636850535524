#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "profiler/record/current.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

absl::Status CopyStore(const Store& from, const std::filesystem::path& to) {
  sqlite3* opened = nullptr;
  int error = sqlite3_open_v2(to.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> copy(opened, sqlite3_close);
  if (error == SQLITE_OK) {
    sqlite3_backup* backup = sqlite3_backup_init(opened, "main", from.db(), "main");
    if (backup != nullptr) sqlite3_backup_step(backup, /*all pages*/ -1);
    error = backup != nullptr ? sqlite3_backup_finish(backup) : SQLITE_ERROR;
  }
  if (error == SQLITE_OK) return absl::OkStatus();
  return IoError("{}: the recording cannot be copied there: {}", to.string(),
                 sqlite3_errmsg(opened));
}

}  // namespace

absl::StatusOr<CurrentRecording> CopyRecording(const std::filesystem::path& to) {
  XP_TRY(const CurrentRecording now, CommitRecording());
  XP_TRY(const Store from, Store::Open(now.path));
  // SQLite would take a file that exists.
  const int made = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) return IoError("{}: cannot be created: {}", to.string(), std::strerror(errno));
  close(made);
  if (absl::Status status = CopyStore(from, to); !status.ok()) {
    std::error_code ignored;
    std::filesystem::remove(to, ignored);
    return status;
  }
  return now;
}

}  // namespace xlaprof

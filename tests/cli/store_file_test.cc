// Tests files that `import -o` and `capture -o` make.
#include "cli/store_file.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <fstream>

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Watches SQLite's own files to find out what was written but not yet synced.
class WatchedFiles {
 public:
  WatchedFiles() {
    watched_ = *own();
    watched_.zName = "watched";
    watched_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
      const int rc = own()->xOpen(own(), name, file, flags, out);
      if (rc != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0) return rc;
      static const sqlite3_io_methods* methods = file->pMethods;
      static const sqlite3_io_methods watched = [] {
        sqlite3_io_methods copy = *methods;
        copy.xWrite = [](sqlite3_file* to, const void* bytes, int size, sqlite3_int64 at) {
          ++writes, ++unsynced;
          return methods->xWrite(to, bytes, size, at);
        };
        copy.xSync = [](sqlite3_file* of, int how) {
          unsynced = 0;
          return methods->xSync(of, how);
        };
        return copy;
      }();
      file->pMethods = &watched;
      return rc;
    };
    writes = unsynced = 0;
    sqlite3_vfs_register(&watched_, /*makeDflt=*/1);
  }
  ~WatchedFiles() {
    sqlite3_vfs_unregister(&watched_);
    sqlite3_vfs_register(own(), 1);
  }

  static inline int64_t writes = 0, unsynced = 0;

 private:
  static sqlite3_vfs* own() {
    static sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    return vfs;
  }
  sqlite3_vfs watched_;
};

// A file that has its final name is whole, even if the machine stops at that moment.
TEST(StoreFile, AllOfItIsOnTheDiskBeforeItHasItsName) {
  std::string name = fs::temp_directory_path() / "xlaprof-store-file-XXXXXX";
  const fs::path folder = mkdtemp(name.data());
  std::ofstream(folder / "metrics.txt") << "Metric: CompileTime\n  TotalSamples: 1\n"
                                           "  Accumulator: 01s000ms000.000us\n"
                                           "Counter: MarkStep\n  Value: 12\n";
  {
    WatchedFiles files;
    auto output = Output::Open(folder / "run.xlaprof", {.kind = OutputKind::kStore});
    ASSERT_TRUE(output.ok()) << output.status();
    auto written = WriteStoreFile({.inputs = {folder / "metrics.txt"}}, *output,
                                  [](Store&) { return absl::OkStatus(); });
    EXPECT_TRUE(written.ok()) << written.status();
    EXPECT_GT(files.writes, 0);
    EXPECT_EQ(files.unsynced, 0);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace xlaprof

#include "base/unfinished_file.h"

#include <atomic>
#include <cstdint>
#include <random>

#include "base/sqlite_files.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

fs::path NameBeside(const fs::path& output) {
  // Processes in different containers may have the same process id.
  static const uint64_t process = [] {
    std::random_device random;
    return uint64_t(random()) << 32 | random();
  }();
  static std::atomic<int64_t> files{0};
  return output.parent_path() /
         fmt::format(".{}.{:016x}.{}.part", output.filename().string(), process, ++files);
}

}  // namespace

UnfinishedFile::UnfinishedFile(fs::path output)
    : output_(std::move(output)), path_(NameBeside(output_)), leftover_(path_) {}

UnfinishedFile::~UnfinishedFile() {
  std::error_code error;
  fs::remove(path_, error);
  for (const char* suffix : kSqliteSuffixes) fs::remove(path_.string() + suffix, error);
}

absl::Status UnfinishedFile::Finish() {
  std::error_code error;
  fs::rename(path_, output_, error);
  if (error) return IoError("{}: cannot write: {}", output_.string(), error.message());
  return absl::OkStatus();
}

}  // namespace xlaprof

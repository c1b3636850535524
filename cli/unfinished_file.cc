#include "cli/unfinished_file.h"

#include <unistd.h>

namespace xlaprof {

namespace fs = std::filesystem;

UnfinishedFile::UnfinishedFile(fs::path output)
    : output_(std::move(output)),
      path_(output_.parent_path() /
            fmt::format(".{}.{}.part", output_.filename().string(), getpid())) {}

UnfinishedFile::~UnfinishedFile() {
  std::error_code error;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    fs::remove(path_.string() + suffix, error);
}

absl::Status UnfinishedFile::Finish() {
  std::error_code error;
  fs::rename(path_, output_, error);
  if (error) return IoError("{}: cannot write: {}", output_.string(), error.message());
  return absl::OkStatus();
}

}  // namespace xlaprof

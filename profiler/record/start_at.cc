#include "profiler/record/start_at.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/numbers.h"
#include "profiler/record/dead_rings.h"
#include "profiler/record/recover.h"

namespace xlaprof::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = "xlaprof-report.";
// More files of one name are an error, not a program that replaces itself.
constexpr int kMaxNumber = 1000;

std::string WithProcessNumber(std::string text) {
  const std::string pid = std::to_string(getpid());
  for (size_t at = text.find("%p"); at != text.npos; at = text.find("%p", at + pid.size()))
    text.replace(at, 2, pid);
  return text;
}

// Returns whether to record into a directory. A path that does not exist is one if its name does
// not look like that of a file.
bool IsFolder(const std::string& where, const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error)) return fs::is_directory(path, error);
  const fs::path named = where;
  return !named.has_filename() ||
         (!named.has_extension() && named.filename().string().find("%p") == std::string::npos);
}

// Creates the directories that do not exist. The destructor removes them again unless they hold
// something.
class NewFolders {
 public:
  explicit NewFolders(const fs::path& folder) {
    std::error_code none;
    for (fs::path at = folder; !at.empty() && !fs::exists(at, none); at = at.parent_path())
      made_.push_back(at);
    fs::create_directories(folder, error_);
  }
  ~NewFolders() {
    for (const fs::path& folder : made_)
      if (rmdir(folder.c_str()) != 0) return;
  }
  NewFolders(const NewFolders&) = delete;
  const std::error_code& error() const { return error_; }

 private:
  std::vector<fs::path> made_;  // the innermost first
  std::error_code error_;
};

// Returns the options that the environment sets: XLAPROF_RING_BYTES limits the ring of each thread.
absl::StatusOr<RecordOptions> OptionsFromEnvironment() {
  RecordOptions options;
  const char* given = std::getenv("XLAPROF_RING_BYTES");
  if (given == nullptr || *given == 0) return options;
  constexpr uint64_t kLeast = record::SlotsAt(0) * sizeof(record::Slot);
  const auto bytes = ParseInteger<uint64_t>(given);
  if (!bytes || *bytes < kLeast)
    return Invalid("XLAPROF_RING_BYTES={}: must be a number of bytes of at least {}", given,
                   kLeast);
  constexpr uint64_t kMost = record::SlotsAt(record::kMaxLevels - 1) * sizeof(record::Slot);
  options.ring_bytes = std::bit_floor(std::min(*bytes, kMost));
  return options;
}

// Several processes may have one number: a program that replaces itself (exec), processes of
// containers that share the directory, and copies of the recorder in libraries. The first to create
// a file owns it.
absl::StatusOr<Started> StartInFolder(const fs::path& folder, std::string_view prefix) {
  XP_TRY(const RecordOptions options, OptionsFromEnvironment());
  for (int number = 1;; ++number) {
    const fs::path path =
        folder / fmt::format("{}{}.{}{}.xlaprof", prefix, program_invocation_short_name, getpid(),
                             number == 1 ? "" : fmt::format(".{}", number));
    auto recording = StartRecording(path, options);
    if (recording.ok()) return Started{path, *std::move(recording)};
    if (!absl::IsAlreadyExists(recording.status()) || number == kMaxNumber)
      return recording.status();
  }
}

// The directory that this process and its forked children record into; empty if there is none.
fs::path& FolderOfChildren() {
  static fs::path& folder = *new fs::path;
  return folder;
}

}  // namespace

bool RecordsForkedChildren() { return !FolderOfChildren().empty(); }

absl::StatusOr<Started> StartForkedChild() {
  if (!RecordsForkedChildren())
    return absl::FailedPreconditionError("the parent does not record into a directory");
  return StartInFolder(FolderOfChildren(), "");
}

absl::StatusOr<Started> StartAt(const std::string& where) {
  const fs::path path = WithProcessNumber(where);
  if (IsFolder(where, path)) {
    const fs::path folder = path.has_filename() ? path : path.parent_path();
    NewFolders made(folder);
    if (made.error()) {
      return IoError("{}: cannot create this folder: {}. Record elsewhere", folder.string(),
                     made.error().message());
    }
    std::error_code error;
    FolderOfChildren() = fs::absolute(folder, error);
    return StartInFolder(folder, "");
  }
  XP_TRY(const RecordOptions options, OptionsFromEnvironment());
  auto recording = StartRecording(path, options);
  if (absl::IsAlreadyExists(recording.status()) && IsMappedHere(RingPath(path))) {
    return absl::AlreadyExistsError(fmt::format(
        "{}: another copy of the recorder in this process already records there. The program and the libraries that it loads may each contain a copy. Name a folder (XLAPROF_RECORD=runs/), in which each copy gets its own file",
        path.string()));
  }
  XP_TRY(std::move(recording).status());
  return Started{path, *std::move(recording)};
}

absl::StatusOr<Started> StartTemporary() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return IoError("TMPDIR: no folder for temporary files: {}", error.message());
  RemoveDeadRecordings(folder, kTemporary);
  return StartInFolder(folder, kTemporary);
}

}  // namespace xlaprof::record

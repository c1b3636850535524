#include "profiler/import/plan/find_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "profiler/import/xla/xla_dump_name.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// A directory with more files is not a capture: `xlaprof report /` must end. Files that XLA dumps
// are counted separately, because each pass of each program makes one.
constexpr size_t kMaxFiles = 20'000;
constexpr size_t kMaxDumpFiles = 1'000'000;

void Describe(FoundFile& file) {
  std::error_code error;
  file.bytes = int64_t(fs::file_size(file.path, error));
  if (error) file.bytes = 0;
  const auto time = fs::last_write_time(file.path, error);
  if (error) return;
  file.modified_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         fs::file_time_type::clock::to_sys(time).time_since_epoch())
                         .count();
}

// Lists a directory, with all directories below it.
class Walk {
 public:
  Walk(const fs::path& root, Listing& listing) : root_(root), listing_(listing) {}

  absl::Status Run() {
    std::vector<fs::path> folders = {root_};
    while (!folders.empty()) {
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      std::error_code error;
      XP_TRY(List(folder, folders, error));
      if (!error) continue;
      if (folder == root_) return IoError("{}: cannot list: {}", root_.string(), error.message());
      listing_.folders.push_back(
          {folder,
           fmt::format("{}: cannot list this directory: {}. Its files are missing from the import. "
                       "Make it readable",
                       folder.string(), error.message())});
      listing_.problems.push_back(listing_.folders.back().why);
    }
    return absl::OkStatus();
  }

 private:
  // Adds the files in `folder` itself to the listing, and the folders in it to `folders`. Sets
  // `error` if not all could be listed.
  absl::Status List(const fs::path& folder, std::vector<fs::path>& folders,
                    std::error_code& error) {
    std::error_code ignored;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with('.')) continue;
      if (entry->is_directory(ignored)) {
        if (!entry->is_symlink(ignored)) folders.push_back(entry->path());
        continue;
      }
      if (!entry->is_regular_file(ignored)) continue;
      listing_.files.push_back({.path = entry->path()});
      ++(ParseXlaDumpName(name) ? dumped_ : others_);
      if (others_ > kMaxFiles || dumped_ > kMaxDumpFiles) {
        return Invalid("{}: more than {} files. Name the capture's own directory", root_.string(),
                       others_ > kMaxFiles ? kMaxFiles : kMaxDumpFiles);
      }
    }
    return absl::OkStatus();
  }

  const fs::path& root_;
  Listing& listing_;
  size_t dumped_ = 0, others_ = 0;
};

}  // namespace

absl::StatusOr<Listing> FindFiles(std::span<const fs::path> inputs) {
  Listing listing;
  for (const fs::path& input : inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      const size_t before = listing.files.size();
      XP_TRY(Walk(input, listing).Run());
      if (listing.files.size() == before)
        listing.problems.push_back(fmt::format(
            "{}: this directory is empty. Name the one that the run wrote to", input.string()));
    } else if (input != "-" && !fs::exists(input, error)) {
      // The name may be mistyped. Without this error, the intended file would be missing silently.
      return NotFound("{}: no such file or directory", input.string());
    } else {
      listing.files.push_back({.path = input, .named = true});
    }
  }
  SortByPath(listing.files);
  const auto copies = std::ranges::unique(listing.files, {}, &FoundFile::path);
  listing.files.erase(copies.begin(), copies.end());
  for (FoundFile& file : listing.files) Describe(file);
  return listing;
}

}  // namespace xlaprof

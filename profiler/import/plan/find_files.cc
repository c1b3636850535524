#include "profiler/import/plan/find_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "profiler/import/file_kind.h"
#include "profiler/import/xla/xla_dump_name.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// A directory with more files is not a capture: `xlaprof report /` must end. Files that XLA dumps
// are counted separately, because each pass of each program makes one.
constexpr size_t kMaxFiles = 20'000;
constexpr size_t kMaxDumpFiles = 1'000'000;

// Returns where a link leads, or nothing if `path` is none.
std::optional<std::string> TargetOf(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return std::nullopt;
  const fs::path target = fs::canonical(path, error);
  return error ? fs::read_symlink(path, error).string() : target.string();
}

void Describe(FoundFile& file) {
  struct stat info {};
  if (stat(file.path.c_str(), &info) != 0) return;
  file.bytes = S_ISREG(info.st_mode) ? int64_t(info.st_size) : 0;
  file.modified_ns = int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  file.id = {uint64_t(info.st_dev), uint64_t(info.st_ino)};
  file.links_to = TargetOf(file.path);
}

// Returns what to try if a link to a file of this kind is not followed.
std::string_view AdviceFor(FileKind kind) {
  if (kind == FileKind::kDirectory) return "Name the directory, too, if it is of this run";
  if (kind == FileKind::kNone) return "Copy the file there again if it is of this run";
  return "Copy what you need of it to a file";
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
      Leave({.path = folder,
             .why = fmt::format(
                 "{}: cannot list this directory: {}. Its files are missing from the import. "
                 "Make it readable",
                 folder.string(), error.message()),
             .issue = "unreadable_folder"});
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
      const bool is_link = entry->is_symlink(ignored);
      if (entry->is_directory(ignored) && !is_link) {
        folders.push_back(entry->path());
        continue;
      }
      // A link may lead to any file, also to one of the kernel.
      const FileKind kind =
          !is_link && entry->is_regular_file(ignored) ? FileKind::kRegular : KindOf(entry->path());
      if (kind != FileKind::kRegular) {
        LeaveSpecial(entry->path(), kind);
        continue;
      }
      listing_.files.push_back({.path = entry->path()});
      ++(ParseXlaDumpName(name) ? dumped_ : others_);
      if (others_ > kMaxFiles || dumped_ > kMaxDumpFiles) {
        return Invalid("{}: more than {} files. Name the capture's own directory", root_.string(),
                       others_ > kMaxFiles ? kMaxFiles : kMaxDumpFiles);
      }
    }
    return absl::OkStatus();
  }

  void Leave(Listing::Unread unread) {
    listing_.problems.push_back(unread.why);
    listing_.unread.push_back(std::move(unread));
  }

  // Leaves what is no directory, and leads to no regular file.
  void LeaveSpecial(const fs::path& path, FileKind kind) {
    const std::optional<std::string> target = TargetOf(path);
    if (!target) {
      listing_.unread.push_back(
          {.path = path, .why = fmt::format("{}, which is not read", TextOf(kind)), .issue = ""});
      return;
    }
    const bool is_inside = kind == FileKind::kDirectory && LiesInRoot(*target);
    if (is_inside) return;  // its files are found without the link
    Leave({.path = path,
           .why = fmt::format("{}: a link to {}, {}. It is not followed. {}", path.string(),
                              *target, TextOf(kind), AdviceFor(kind)),
           // Links to directories lie beside many captures, and most lead to other data.
           .issue = kind == FileKind::kDirectory ? "" : "link_not_followed",
           .links_to = target});
  }

  bool LiesInRoot(const fs::path& real) const {
    std::error_code error;
    const fs::path root = fs::canonical(root_, error);
    return !error &&
           std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
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

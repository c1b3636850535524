#include "profiler/import/plan/identify.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/sqlite_files.h"
#include "profiler/import/file_ends.h"
#include "profiler/import/plan/derived_files.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "profiler/record/recover.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Files of this size are opened at once. Of larger ones only the ends are read.
constexpr int64_t kSmallBytes = 128 << 10;
// The memory of files that stay open until they are read, together. Other files are opened again.
constexpr size_t kOpenBytes = size_t(16) << 20;

// Returns RUN for plugins/profile/RUN/HOST.xplane.pb, and "" for other paths.
std::string RunFolder(const fs::path& path) {
  const fs::path folder = path.parent_path(), profile = folder.parent_path();
  const bool is_run =
      profile.filename() == "profile" && profile.parent_path().filename() == "plugins";
  return is_run ? folder.filename().string() : "";
}

// Returns whether a member of an archive may be a capture. Checkpoints, for example, are zip
// archives of gigabytes, of which nothing is unpacked.
bool MayBeCapture(std::string_view head) {
  if (head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd")) return true;
  if (Recognise(head).format != nullptr) return true;
  const Look look = LookOf(head);
  return look == Look::kText || look == Look::kJson;  // a log may begin with anything
}

class Identifying {
 public:
  explicit Identifying(const IdentifyOptions& options) : options_(options) {}

  Identified Run(std::vector<FoundFile> found) {
    for (FoundFile& file : found) Add(std::move(file));
    SortByPath(out_.files);
    GroupDumps(out_.files);
    FolderNames names;
    for (const IdentifiedFile& file : out_.files) names.Add(file.path);
    std::erase_if(out_.files, [&](const IdentifiedFile& file) {
      return !file.named && names.IsPartOfAStore(file.path);
    });
    for (IdentifiedFile& file : out_.files) {
      file.run_folder = RunFolder(file.path);
      // The user insists on files that are named.
      if (file.named)
        file.derived_from.reset();
      else if (!file.derived_from)
        file.derived_from = names.OriginOf(file.path);
      // The parts of a dump are known by name, and files that were made from others are not read.
      if (file.derived_from || !file.dump.empty()) {
        file.format = nullptr;
        file.look.reset();
      } else if (file.archive) {
        Describe(file, EndsOf(file.archive->members()[file.member].bytes));
      }
    }
    ListMadeFiles(out_.files);
    DescribeTraces();
    return std::move(out_);
  }

 private:
  // Adds a file, or the members of an archive.
  void Add(FoundFile&& found) {
    IdentifiedFile file{std::move(found)};
    std::optional<FileEnds> ends;
    if (file.path != "-" && !ParseXlaDumpName(file.path.filename().string())) ends = Ends(file);
    if (ends && Archive::Is(*ends)) {
      if (options_.opens_archives) AddMembers(file);
      out_.archives.push_back(std::move(file));
      return;
    }
    // Reading a file without ends reports the reason.
    if (ends) Describe(file, *ends);
    out_.files.push_back(std::move(file));
  }

  std::optional<FileEnds> Ends(IdentifiedFile& file) {
    if (file.bytes > kSmallBytes) return EndsOf(file.path);
    auto opened = InputFile::Open(file.path);
    if (!opened.ok()) return EndsOf(file.path);
    FileEnds ends = EndsOf(opened->bytes());
    // The content of a small packed file may be large.
    ends.has_last = opened->bytes().size() <= size_t(kSmallBytes);
    Keep(file, *std::move(opened));
    return ends;
  }

  absl::StatusOr<InputFile> Open(IdentifiedFile& file, bool maps_large_files) {
    if (file.opened) open_bytes_ -= file.opened->bytes().size();
    return file.Open(maps_large_files);
  }

  // Keeps an open file if there is memory for it.
  void Keep(IdentifiedFile& file, InputFile opened) {
    const size_t bytes = opened.bytes().size();
    if (bytes > kOpenBytes - open_bytes_) return;
    open_bytes_ += bytes;
    file.opened = std::make_shared<InputFile>(std::move(opened));
  }

  void AddMembers(IdentifiedFile& file) {
    file.opened.reset();
    auto archive = Archive::Open(file.path, MayBeCapture, archive_bytes_);
    if (!archive.ok()) {
      out_.problems.push_back(std::string(Message(archive.status())));
      file.note = out_.problems.back();
      return;
    }
    archive_bytes_ -= (*archive)->in_memory_bytes();
    const std::span<const Archive::Member> members = (*archive)->members();
    for (size_t i = 0; i < members.size(); ++i) {
      const fs::path name = file.path.string() + "!" + members[i].name;
      if (name.filename().string().starts_with('.') || members[i].name.starts_with("__MACOSX/"))
        continue;
      IdentifiedFile member{
          {.path = name, .modified_ns = members[i].modified_ns, .bytes = members[i].size_bytes}};
      member.archive = *archive;
      member.member = i;
      member.is_in_named_archive = file.named;
      out_.files.push_back(std::move(member));
    }
    if (!(*archive)->damage().empty()) file.note = (*archive)->damage();
  }

  // Sets what the ends of a file say of it.
  void Describe(IdentifiedFile& file, const FileEnds& ends) {
    file.origin = FindOrigin(ends.bytes);
    if (!options_.formats_are_given) Sniff(file, ends);
  }

  // Sets the format of the file, or what the file looks like.
  void Sniff(IdentifiedFile& file, const FileEnds& ends) {
    // The whole file is unpacked to see its last lines, and searched for messages between the
    // output of the program. A large file that was found in a folder may be a data set, and is left
    // alone.
    constexpr int64_t kMostFound = int64_t(8) << 20, kMostNamed = int64_t(64) << 20;
    Recognition known = Recognise(ends.bytes);
    const Look look = LookOf(ends.bytes);
    const bool may_hold_messages = known.format == nullptr && look == Look::kText &&
                                   file.bytes > kSmallBytes && file.bytes <= kMostNamed &&
                                   !IsDocument(file.path);
    const bool needs_whole =
        (!ends.has_last && !known.is_sure && MayBeCapture(ends.bytes)) || may_hold_messages;
    if (needs_whole && (file.named || file.bytes <= kMostFound)) {
      if (auto whole = Open(file, /*maps_large_files=*/false); whole.ok()) {
        known = Recognise(whole->bytes());
        Keep(file, *std::move(whole));
      }
    }
    file.format = known.format;
    if (file.format == nullptr) file.look = look;
  }

  // Describes the traces that do not lie alone.
  void DescribeTraces() {
    const auto lies_beside = [](const IdentifiedFile& file) {
      return MayBeRead(file) && file.run_folder.empty() && file.dump.empty() && file.path != "-";
    };
    if (std::ranges::count_if(out_.files, lies_beside) < 2) return;
    for (IdentifiedFile& file : out_.files) {
      if (!lies_beside(file) || file.format == nullptr || file.format->importer->span == nullptr)
        continue;
      auto opened = Open(file, file.format->importer->maps_large_files);
      if (!opened.ok()) continue;
      file.span = file.format->importer->span(opened->bytes());
      Keep(file, *std::move(opened));
    }
  }

  const IdentifyOptions& options_;
  Identified out_;
  size_t open_bytes_ = 0;                  // memory of the files that are kept
  size_t archive_bytes_ = kInMemoryBytes;  // memory that is left for the members of archives
};

}  // namespace

bool IsDocument(const fs::path& path) {
  constexpr std::string_view kDocuments[] = {".md", ".rst",  ".py", ".ipynb",
                                             ".sh", ".toml", ".cfg"};
  const std::string extension = path.extension().string(), name = path.filename().string();
  return std::ranges::find(kDocuments, extension) != std::end(kDocuments) ||
         name.starts_with("LICENSE") || name.starts_with("README");
}

bool MayBeRead(const IdentifiedFile& file) { return !file.derived_from && !file.look; }

absl::StatusOr<InputFile> IdentifiedFile::Open(bool maps_large_files) {
  if (opened) return std::move(*std::exchange(opened, nullptr));
  if (!archive) return InputFile::Open(path, maps_large_files);
  return InputFile::OfBytes(path.string(), archive->members()[member].bytes);
}

Identified Identify(std::vector<FoundFile> files, const IdentifyOptions& options) {
  return Identifying(options).Run(std::move(files));
}

absl::StatusOr<std::vector<fs::path>> FilesOnDisk(std::span<const fs::path> inputs,
                                                  bool formats_are_given) {
  XP_TRY(const Listing listing, FindFiles(inputs));
  const Identified identified =
      Identify(listing.files, {.formats_are_given = formats_are_given, .opens_archives = false});
  std::set<fs::path> unread;
  for (const IdentifiedFile& file : identified.files) {
    // An export beside its source can be made again in its place.
    const bool is_made_by_us = file.derived_from && file.origin;
    if (!file.named && (file.look || is_made_by_us)) unread.insert(file.path);
  }
  std::vector<fs::path> files;
  for (const FoundFile& file : listing.files) {
    if (unread.contains(file.path)) continue;
    files.push_back(file.path == "-" ? "/dev/stdin" : file.path);
    if (ParseXlaDumpName(file.path.filename().string())) continue;
    // SQLite keeps its logs beside the file that a link leads to, and our ring lies beside the link.
    std::error_code error;
    files.push_back(RingPath(file.path));
    const fs::path real = fs::canonical(file.path, error);
    for (const char* suffix : kSqliteSuffixes) files.push_back(real.string() + suffix);
  }
  return files;
}

}  // namespace xlaprof

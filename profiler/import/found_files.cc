#include "profiler/import/found_files.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "core/base/sqlite_files.h"
#include "profiler/import/dump_files.h"
#include "profiler/import/file_ends.h"
#include "profiler/import/formats.h"
#include "profiler/import/trace_runs.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "profiler/record/recover.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// A directory with more files is not a capture: `xlaprof report /` must end. Files that XLA dumps
// are counted separately, because each pass of each program makes one.
constexpr size_t kMaxFiles = 20'000;
constexpr size_t kMaxDumpFiles = 1'000'000;

// Returns RUN for plugins/profile/RUN/HOST.xplane.pb, and "" for other paths.
std::string RunFolder(const fs::path& path) {
  fs::path folder = path.parent_path();
  if (folder.parent_path().filename() == "profile" &&
      folder.parent_path().parent_path().filename() == "plugins") {
    return folder.filename().string();
  }
  return "";
}

struct Siblings {
  std::set<std::string> names;
  bool has_xplane = false;
};
using Names = std::map<fs::path, Siblings>;  // names of the files of each folder

Names NamesOf(std::span<const FoundFile> files) {
  Names names;
  for (const FoundFile& file : files) {
    Siblings& siblings = names[file.path.parent_path()];
    std::string name = file.path.filename().string();
    siblings.has_xplane |= name.find(".xplane.pb") != std::string::npos;
    siblings.names.insert(std::move(name));
  }
  return names;
}

// Returns the file from which pytorch/xla's scripts/debug_run.py made `path`. The script puts its
// own files beside those that the run wrote.
std::optional<std::string> DerivedByDebugRun(const fs::path& path, const Names& names) {
  auto beside = [&](const fs::path& folder, const char* file) -> std::optional<std::string> {
    const auto siblings = names.find(folder);
    if (siblings == names.end()) return std::nullopt;
    for (std::string name : {std::string(file), std::string(file) + ".0"}) {
      if (siblings->second.names.contains(name)) return name;
    }
    return std::nullopt;
  };
  const fs::path folder = path.parent_path();
  if (path.filename() == "graph_report") return beside(folder, "graphs");
  if (path.filename() == "metrics_report") return beside(folder, "metrics");
  if (folder.filename() == "graphdir") return beside(folder.parent_path(), "graphs");
  if (folder.filename() == "metrics_imgdir") return beside(folder.parent_path(), "metrics");
  return std::nullopt;
}

// Returns the file of the same directory from which a known tool made `path`. Counting both would
// count every event twice.
std::optional<std::string> DerivedFrom(const fs::path& path, const Names& names) {
  const auto& [siblings, has_xplane] = names.at(path.parent_path());
  std::string name = path.filename().string();
  for (std::string_view suffix :
       {".trace.json.gz", ".trace.json", ".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE"}) {
    if (!name.ends_with(suffix)) continue;
    std::string host = name.substr(0, name.size() - suffix.size());
    for (const char* original : {".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst"}) {
      if (siblings.contains(host + original)) return host + original;
    }
  }
  // JAX's create_perfetto_trace copies HOST.trace.json.gz.
  const bool is_copy = name == "perfetto_trace.json.gz";
  if (has_xplane && (is_copy || name.find(".op_stats") != std::string::npos ||
                     name.ends_with(".hlo_proto.pb") || name.starts_with("ALL_HOSTS."))) {
    return "the .xplane.pb beside it";
  }
  if (is_copy) {
    const auto original = std::ranges::find_if(
        siblings, [](const std::string& sibling) { return sibling.ends_with(".trace.json.gz"); });
    if (original != siblings.end()) return *original;
  }
  // tlparse writes its input to raw.log, and parts of it in other forms beside it.
  if ((name == "raw.jsonl" || name == "chromium_events.json") && siblings.contains("raw.log"))
    return "raw.log";
  return DerivedByDebugRun(path, names);
}

// Returns whether the file is next to a store that is being written, or whose writer was killed.
// Reading that store reads this file too.
bool IsPartOfAStore(const fs::path& path, const Names& names) {
  const std::set<std::string>& siblings = names.at(path.parent_path()).names;
  const std::string name = path.filename().string();
  auto is_beside = [&](std::string_view suffix) {
    if (!name.ends_with(suffix)) return false;
    const std::string store = name.substr(0, name.size() - suffix.size());
    return store.ends_with(".xlaprof") && siblings.contains(store);
  };
  return is_beside(".ring") || std::ranges::any_of(kSqliteSuffixes, is_beside);
}

// Returns whether a member of an archive may be a capture. Checkpoints, for example, are zip
// archives of gigabytes, of which nothing is unpacked.
bool MayBeCapture(std::string_view head) {
  if (head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd")) return true;
  if (Recognise(head) != nullptr) return true;
  const std::string_view looks = LooksLike(head);
  return looks == "text" || looks == "JSON";  // a log may begin with anything
}

// Sets the format of the file, or what the file looks like.
void Sniff(FoundFile& file, const FileEnds& ends) {
  file.format = Recognise(ends.bytes);
  if (file.format != nullptr) return;
  file.looks_like = ends.bytes.empty() ? kEmptyFile : LooksLike(ends.bytes);
  // The whole file is unpacked to see its last lines, and searched for messages between the output of
  // the program. A large file that was found in a folder may be a data set, and is left alone.
  constexpr int64_t kMostFound = int64_t(8) << 20, kMostNamed = int64_t(64) << 20,
                    kSeenBytes = 128 << 10;
  const bool may_hold_messages = file.looks_like == "text" && file.bytes > kSeenBytes &&
                                 file.bytes <= kMostNamed && !IsDocument(file.path);
  if ((ends.has_last && !may_hold_messages) || !MayBeCapture(ends.bytes) ||
      (!file.named && file.bytes > kMostFound))
    return;
  if (auto whole = file.Open(); whole.ok()) file.format = Recognise(whole->bytes());
  if (file.format != nullptr) file.looks_like.clear();
}

class Finder {
 public:
  Finder(bool formats_are_given, bool opens_archives)
      : formats_are_given_(formats_are_given), opens_archives_(opens_archives) {}

  absl::StatusOr<FoundFiles> Run(std::span<const fs::path> inputs) {
    for (const fs::path& input : inputs) {
      std::error_code error;
      if (fs::is_directory(input, error)) {
        const size_t before = out_.files.size();
        XP_TRY(Walk(input));
        if (out_.files.size() == before)
          out_.problems.push_back(fmt::format(
              "{}: this directory is empty. Name the one that the run wrote to", input.string()));
      } else if (input != "-" && !fs::exists(input, error)) {
        // The name may be mistyped. Without this error, the intended file would be missing
        // silently.
        return NotFound("{}: no such file or directory", input.string());
      } else {
        out_.files.push_back({.path = input, .named = true});
      }
    }
    SortFiles();
    for (FoundFile& file : out_.files) Describe(file);
    for (const FoundFile& file : out_.files) on_disk_.push_back(file.path);
    OpenArchives();
    SortFiles();
    GroupDumps(out_.files);
    const Names names = NamesOf(out_.files);
    std::erase_if(out_.files, [&](const FoundFile& file) {
      return !file.named && IsPartOfAStore(file.path, names);
    });
    for (FoundFile& file : out_.files) {
      file.run = RunFolder(file.path);
      if (!file.derived_from) file.derived_from = DerivedFrom(file.path, names);
      if (file.derived_from && file.named) file.derived_from.reset();  // the user insists
    }
    SniffAll();
    FindRoots();
    GroupTraces(out_.files);
    return std::move(out_);
  }

  // Returns the files of the inputs after Run, before archives were replaced by their members.
  const std::vector<fs::path>& on_disk() const { return on_disk_; }

 private:
  absl::Status Walk(const fs::path& root) {
    Counts counts;
    std::vector<fs::path> folders = {root};
    while (!folders.empty()) {
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      std::error_code error;
      XP_TRY(List(root, folder, counts, folders, error));
      if (!error) continue;
      if (folder == root) return IoError("{}: cannot list: {}", root.string(), error.message());
      out_.folders.push_back({.path = folder});
      out_.folders.back().note = fmt::format(
          "{}: cannot list this directory: {}. Its files are missing from the import. Make it readable",
          folder.string(), error.message());
      out_.problems.push_back(*out_.folders.back().note);
    }
    return absl::OkStatus();
  }

  struct Counts {
    size_t dumped = 0, others = 0;
  };
  // Adds the files in `folder` itself to the list, and the folders in it to `folders`. Sets `error`
  // if not all could be listed.
  absl::Status List(const fs::path& root, const fs::path& folder, Counts& counts,
                    std::vector<fs::path>& folders, std::error_code& error) {
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
      out_.files.push_back({.path = entry->path()});
      ++(ParseXlaDumpName(name) ? counts.dumped : counts.others);
      if (counts.others > kMaxFiles || counts.dumped > kMaxDumpFiles) {
        return Invalid("{}: more than {} files. Name the capture's own directory", root.string(),
                       counts.others > kMaxFiles ? kMaxFiles : kMaxDumpFiles);
      }
    }
    return absl::OkStatus();
  }

  void SortFiles() {
    auto& files = out_.files;
    std::stable_sort(files.begin(), files.end(),
                     [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
    files.erase(
        std::unique(files.begin(), files.end(),
                    [](const FoundFile& a, const FoundFile& b) { return a.path == b.path; }),
        files.end());
  }

  static void Describe(FoundFile& file) {
    std::error_code error;
    file.bytes = int64_t(fs::file_size(file.path, error));
    if (error) file.bytes = 0;
    auto time = fs::last_write_time(file.path, error);
    if (error) return;
    file.modified_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           fs::file_time_type::clock::to_sys(time).time_since_epoch())
                           .count();
  }

  // Replaces archives by their members. Asks the importers about all other files, because their
  // first bytes are unpacked here.
  void OpenArchives() {
    size_t in_memory_bytes = kInMemoryBytes;  // limit for all archives together
    std::vector<FoundFile> files;
    for (FoundFile& file : out_.files) {
      if (file.path == "-" || ParseXlaDumpName(file.path.filename().string())) {
        files.push_back(std::move(file));
        continue;
      }
      const std::optional<FileEnds> ends = EndsOf(file.path);
      if (!ends || !Archive::Is(*ends)) {
        // Reading a file without ends reports the reason.
        if (ends && !formats_are_given_) Sniff(file, *ends);
        files.push_back(std::move(file));
        continue;
      }
      if (!opens_archives_) {
        out_.archives.push_back(std::move(file));
        continue;
      }
      auto archive = Archive::Open(file.path, MayBeCapture, in_memory_bytes);
      if (!archive.ok()) {
        out_.problems.push_back(std::string(Message(archive.status())));
        file.note = out_.problems.back();
        out_.archives.push_back(std::move(file));
        continue;
      }
      in_memory_bytes -= (*archive)->in_memory_bytes();
      if (file.named) named_archives_.insert(archive->get());
      std::span<const Archive::Member> members = (*archive)->members();
      for (size_t i = 0; i < members.size(); ++i) {
        const fs::path name = fs::path(file.path.string() + "!" + members[i].name);
        if (name.filename().string().starts_with('.') || members[i].name.starts_with("__MACOSX/"))
          continue;
        files.push_back({.path = name,
                         .archive = *archive,
                         .member = i,
                         .modified_ns = members[i].modified_ns,
                         .bytes = members[i].size_bytes});
      }
      if (!(*archive)->damage().empty()) file.note = (*archive)->damage();
      out_.archives.push_back(std::move(file));
    }
    out_.files = std::move(files);
  }

  // Asks the importers about the files that OpenArchives did not ask them about. A file that none
  // of them knows belongs to no run, however new it is. The parts of a dump are known by name, and
  // files that were made from others are not read.
  void SniffAll() {
    if (formats_are_given_) return;
    for (FoundFile& file : out_.files) {
      if (file.derived_from || !file.dump.empty() || file.path == "-") {
        file.format = nullptr;
        file.looks_like.clear();
      } else if (file.archive) {
        Sniff(file, EndsOf(file.archive->members()[file.member].bytes));
      } else if (file.format == nullptr && file.looks_like.empty()) {
        if (const std::optional<FileEnds> ends = EndsOf(file.path)) Sniff(file, *ends);
      }
    }
  }

  // Finds the job of each file, by its root. Files that are named one by one are one job. Files in
  // directories that are named beside them belong to it if they are one job, too. In a directory, a
  // job's root is the folder of its text files. An XSpace or a dump belongs to the nearest such
  // folder above it, or else to the folder that holds `plugins` or the dump. So does the trace that
  // torch.profiler wrote beside `plugins`. Files of a format that has a folder of its own belong to
  // the job above it, or else to the only job beside it.
  void FindRoots() {
    std::set<fs::path> text_folders, profile_folders;
    for (const FoundFile& file : out_.files) {
      if (!file.run.empty()) profile_folders.insert(FolderOfPlugins(file));
    }
    const auto is_beside_profile = [&](const FoundFile& file) {
      return file.format != nullptr && file.format->kind == SourceKind::kTimed &&
             profile_folders.contains(file.path.parent_path());
    };
    for (FoundFile& file : out_.files) {
      if (!file.named && file.run.empty() && file.dump.empty() && MayBeRead(file) &&
          !HasOwnFolder(file) && !is_beside_profile(file))
        text_folders.insert(file.path.parent_path());
    }
    std::set<fs::path> jobs = text_folders, lone_folders;
    for (const fs::path& folder : profile_folders) jobs.insert(RootAbove(folder, text_folders));
    for (const FoundFile& file : out_.files) {
      const fs::path folder = file.path.parent_path();
      if (!file.named && file.run.empty() && HasOwnFolder(file) &&
          !jobs.contains(RootAbove(folder, jobs)))
        lone_folders.insert(folder);
    }
    const std::map<fs::path, Inside> inside = CountInside(jobs, lone_folders);
    std::map<const Archive*, std::set<fs::path>> roots;
    bool some_are_named = false;
    for (FoundFile& file : out_.files) {
      some_are_named |= file.named;
      if (file.named) continue;
      file.root = file.path.parent_path();
      if (!file.run.empty()) {
        file.root = RootAbove(FolderOfPlugins(file), text_folders);
      } else if (HasOwnFolder(file)) {
        file.root = lone_folders.contains(file.root) ? RootBeside(file.root, inside)
                                                     : RootAbove(file.root, jobs);
      } else if (!file.dump.empty() || is_beside_profile(file) || file.path.extension() == ".*") {
        file.root = RootAbove(file.root, text_folders);
      }
      if (MayBeRead(file)) roots[file.archive.get()].insert(file.root);
    }
    if (some_are_named && roots[nullptr].size() == 1) {
      for (FoundFile& file : out_.files) {
        if (!file.archive) file.root.clear();
      }
    }
    // An archive of one job that is given by name belongs to the job of the other files that were
    // named.
    for (FoundFile& file : out_.files) {
      if (named_archives_.contains(file.archive.get()) && roots[file.archive.get()].size() == 1)
        file.root.clear();
    }
  }

  // Returns the folder that holds the `plugins` of a profile's plugins/profile/RUN.
  static fs::path FolderOfPlugins(const FoundFile& file) {
    return file.path.parent_path().parent_path().parent_path().parent_path();
  }

  static bool HasOwnFolder(const FoundFile& file) {
    return file.format != nullptr && file.format->importer->has_own_folder;
  }

  // Returns the nearest folder with text files from `folder` on upwards, or `folder` if there is
  // none.
  static fs::path RootAbove(const fs::path& folder, const std::set<fs::path>& text_folders) {
    for (fs::path above = folder; !above.empty(); above = above.parent_path()) {
      if (text_folders.contains(above)) return above;
      if (above == above.parent_path()) break;
    }
    return folder;
  }

  // Counts what a directory has inside, at any depth.
  struct Inside {
    int jobs = 0, lone_folders = 0;  // folders of a format that has its own, without a job above
    fs::path job;                    // one of the jobs
  };
  static std::map<fs::path, Inside> CountInside(const std::set<fs::path>& jobs,
                                                const std::set<fs::path>& lone_folders) {
    std::map<fs::path, Inside> inside;
    const auto count = [&](const fs::path& path, bool is_job) {
      for (fs::path above = path.parent_path();; above = above.parent_path()) {
        Inside& in = inside[above];
        ++(is_job ? in.jobs : in.lone_folders);
        if (is_job) in.job = path;
        if (above.empty() || above == above.parent_path()) break;
      }
    };
    for (const fs::path& path : jobs) count(path, true);
    for (const fs::path& path : lone_folders) count(path, false);
    return inside;
  }

  // Returns the job beside `folder`: the only one in the nearest directory above that holds any, if
  // `folder` is the only one of its kind there. Otherwise it is not known whose files are in
  // `folder`, so it returns `folder`.
  static fs::path RootBeside(const fs::path& folder, const std::map<fs::path, Inside>& inside) {
    for (fs::path above = folder.parent_path();; above = above.parent_path()) {
      const Inside& in = inside.at(above);
      if (in.jobs == 1 && in.lone_folders == 1) return in.job;
      if (in.jobs > 0 || above.empty() || above == above.parent_path()) return folder;
    }
  }

  const bool formats_are_given_, opens_archives_;
  std::vector<fs::path> on_disk_;
  FoundFiles out_;
  std::set<const Archive*> named_archives_;
};

}  // namespace

bool IsDocument(const fs::path& path) {
  constexpr std::string_view kDocuments[] = {".md", ".rst",  ".py", ".ipynb",
                                             ".sh", ".toml", ".cfg"};
  const std::string extension = path.extension().string(), name = path.filename().string();
  return std::ranges::find(kDocuments, extension) != std::end(kDocuments) ||
         name.starts_with("LICENSE") || name.starts_with("README");
}

bool MayBeRead(const FoundFile& file) { return !file.derived_from && file.looks_like.empty(); }

absl::StatusOr<InputFile> FoundFile::Open() const {
  if (!archive) return InputFile::Open(path);
  return InputFile::OfBytes(path.string(), archive->members()[member].bytes);
}

absl::StatusOr<FoundFiles> FindFiles(std::span<const fs::path> inputs, bool formats_are_given) {
  return Finder(formats_are_given, /*opens_archives=*/true).Run(inputs);
}

absl::StatusOr<std::vector<fs::path>> FilesOnDisk(std::span<const fs::path> inputs,
                                                  bool formats_are_given) {
  Finder finder(formats_are_given, /*opens_archives=*/false);
  XP_TRY(const FoundFiles found, finder.Run(inputs));
  std::set<fs::path> unknown;
  for (const FoundFile& file : found.files) {
    if (!file.named && !file.looks_like.empty()) unknown.insert(file.path);
  }
  std::vector<fs::path> files;
  for (const fs::path& file : finder.on_disk()) {
    if (unknown.contains(file)) continue;
    files.push_back(file == "-" ? "/dev/stdin" : file);
    if (ParseXlaDumpName(file.filename().string())) continue;
    // SQLite keeps its logs beside the file that a link leads to, and our ring lies beside the link.
    std::error_code error;
    files.push_back(RingPath(file));
    const fs::path real = fs::canonical(file, error);
    for (const char* suffix : kSqliteSuffixes) files.push_back(real.string() + suffix);
  }
  return files;
}

}  // namespace xlaprof

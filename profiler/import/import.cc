#include "profiler/import/import.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/base/escape.h"
#include "profiler/import/importer.h"
#include "profiler/import/input.h"
#include "profiler/import/join.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr int kSureEnough = 10;          // lowest Sniff score that is believed
constexpr size_t kHeadBytes = 64 << 10;  // what Sniff sees
constexpr size_t kMaxFiles =
    20'000;  // a directory with more is no capture: `xlaprof report /` must end

// A file that was given or found.
struct File {
  fs::path path;
  bool named = false;  // given by name, not found in a directory
  const Importer* importer = nullptr;
  std::optional<std::string> derived_from, note;
  fs::path root;    // files of one root belong to one job
  std::string run;  // RUN folder of an XSpace; "" for files that are not of one capture
  int64_t modified_ns = 0;
  int64_t bytes = 0;
};

// plugins/profile/RUN/HOST.xplane.pb -> RUN
std::string RunFolder(const fs::path& path) {
  fs::path folder = path.parent_path();
  if (folder.parent_path().filename() == "profile" &&
      folder.parent_path().parent_path().filename() == "plugins") {
    return folder.filename().string();
  }
  return "";
}

// What a known tool made out of another file of the same directory; counting both would count every
// event twice.
std::optional<std::string> DerivedFrom(const fs::path& path,
                                       const std::set<std::string>& siblings) {
  std::string name = path.filename().string();
  for (std::string_view suffix :
       {".trace.json.gz", ".trace.json", ".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE"}) {
    if (!name.ends_with(suffix)) continue;
    std::string host = name.substr(0, name.size() - suffix.size());
    for (const char* original : {".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst"}) {
      if (siblings.contains(host + original)) return host + original;
    }
  }
  bool has_xplane = std::any_of(siblings.begin(), siblings.end(), [](const std::string& s) {
    return s.find(".xplane.pb") != std::string::npos;
  });
  if (has_xplane && (name.find(".op_stats") != std::string::npos ||
                     name.ends_with(".hlo_proto.pb") || name.starts_with("ALL_HOSTS."))) {
    return "the .xplane.pb beside it";
  }
  return std::nullopt;
}

absl::Status Walk(const fs::path& folder, std::vector<File>& files) {
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied,
                                        error),
      end;
  if (error) return IoError("{}: cannot list: {}", folder.string(), error.message());
  for (; walk != end; walk.increment(error)) {
    if (error) break;
    std::string name = walk->path().filename().string();
    if (name.starts_with('.')) {
      if (walk->is_directory(error)) walk.disable_recursion_pending();
      continue;
    }
    if (!walk->is_regular_file(error)) continue;
    files.push_back({.path = walk->path()});
    if (files.size() > kMaxFiles) {
      return Invalid("{}: more than {} files. Name the capture's own directory", folder.string(),
                     kMaxFiles);
    }
  }
  return absl::OkStatus();
}

const Importer* Recognise(std::string_view bytes) {
  const Importer* best = nullptr;
  int best_score = kSureEnough - 1;
  auto ask = [&](std::string_view window) {
    for (const Importer* importer : AllImporters()) {
      int score = importer->sniff(window);
      if (score > best_score) best = importer, best_score = score;
    }
  };
  ask(bytes.substr(0, kHeadBytes));
  // A log may begin with anything: its markers also count where it ends.
  if (best == nullptr && bytes.size() > kHeadBytes) ask(bytes.substr(bytes.size() - kHeadBytes));
  return best;
}

const Importer* ImporterNamed(std::string_view name) {
  for (const Importer* importer : AllImporters()) {
    if (name == importer->name) return importer;
  }
  return nullptr;
}

std::string ImporterNames() {
  std::string names;
  for (const Importer* importer : AllImporters())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", importer->name);
  return names;
}

// `metrics.txt.3`, `save.txt.3`: torch_xla appends the ordinal of the process or device.
OptInt OrdinalSuffix(const fs::path& path) {
  std::string extension = path.extension().string();
  if (extension.size() < 2 || extension.size() > 5) return {};
  int64_t value = 0;
  for (char c : extension.substr(1)) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + (c - '0');
  }
  return value;
}

class Importing {
 public:
  Importing(const ImportOptions& options, Store& store)
      : options_(options), store_(store), events_(store) {}

  absl::Status Run() {
    XP_TRY(FindFiles());
    XP_TRY(ListRuns());
    // Files that runs are appended to first: they tell how many runs there are, and so whether a
    // RUN folder's are wanted.
    for (File& file : files_) {
      if (file.run.empty()) XP_TRY(Read(file));
    }
    const bool profiles = std::any_of(files_.begin(), files_.end(), [](const File& file) {
      return !file.run.empty() && !file.derived_from;
    });
    if (read_ == 0 && !profiles) return Nothing();
    XP_TRY(DivideRuns(store_));
    XP_TRY(NameTextRuns());
    for (File& file : files_) {
      if (!file.run.empty()) XP_TRY(Read(file));
    }
    XP_TRY(store_.Run("UPDATE process SET run_id = ?1 WHERE run_id IS NULL", selected_run_id_));
    XP_TRY(events_.Flush());
    if (read_ == 0) return Nothing();
    return JoinSources(store_);
  }

 private:
  absl::Status FindFiles() {
    if (!options_.as_format.empty() && ImporterNamed(options_.as_format) == nullptr) {
      return Invalid("--as {}: no such format. Known: {}", options_.as_format, ImporterNames());
    }
    for (const fs::path& input : options_.inputs) {
      std::error_code error;
      if (fs::is_directory(input, error)) {
        size_t before = files_.size();
        XP_TRY(Walk(input, files_));
        if (files_.size() == before)
          problems_.push_back(fmt::format("{}: an empty directory", input.string()));
      } else {
        files_.push_back({.path = input, .named = true});
      }
    }
    std::sort(files_.begin(), files_.end(),
              [](const File& a, const File& b) { return a.path < b.path; });
    files_.erase(std::unique(files_.begin(), files_.end(),
                             [](const File& a, const File& b) { return a.path == b.path; }),
                 files_.end());
    std::map<fs::path, std::set<std::string>> siblings;
    for (const File& file : files_)
      siblings[file.path.parent_path()].insert(file.path.filename().string());
    for (File& file : files_) {
      std::error_code error;
      file.run = RunFolder(file.path);
      file.bytes = int64_t(fs::file_size(file.path, error));
      if (error) file.bytes = 0;
      total_bytes_ += file.bytes;
      auto time = fs::last_write_time(file.path, error);
      if (!error) {
        file.modified_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               fs::file_time_type::clock::to_sys(time).time_since_epoch())
                               .count();
      }
      file.derived_from = DerivedFrom(file.path, siblings[file.path.parent_path()]);
      if (file.derived_from && file.named) file.derived_from.reset();  // the user insists
    }
    FindRoots();
    return absl::OkStatus();
  }

  // Files named one by one are one job. In a directory, a job's root is where its text files lie;
  // an XSpace belongs to the nearest such folder above it, else to the folder that holds `plugins`.
  void FindRoots() {
    std::set<fs::path> text_folders;
    for (File& file : files_) {
      if (!file.named && file.run.empty() && !file.derived_from)
        text_folders.insert(file.path.parent_path());
    }
    for (File& file : files_) {
      if (file.named) continue;
      file.root = file.path.parent_path();
      if (file.run.empty()) continue;
      fs::path above = file.root.parent_path().parent_path().parent_path();
      file.root = above;
      for (fs::path folder = above; !folder.empty(); folder = folder.parent_path()) {
        if (text_folders.contains(folder)) {
          file.root = folder;
          break;
        }
        if (folder == folder.parent_path()) break;
      }
    }
  }

  // Runs by root and RUN folder, newest last; the chosen one is the newest, or what --run says.
  // Runs inside text files (restart marks) are only known after reading; see NameTextRuns.
  absl::Status ListRuns() {
    std::map<fs::path, int64_t> newest_of_root;
    for (File& file : files_) {
      if (file.derived_from) continue;
      int64_t& newest = newest_of_root[file.root];
      newest = std::max(newest, file.modified_ns);
    }
    std::map<std::pair<fs::path, std::string>, int64_t> folders;
    for (const File& file : files_) {
      if (!file.run.empty() && !file.derived_from) {
        int64_t& newest = folders[{file.root, file.run}];
        newest = std::max(newest, file.modified_ns);
      }
    }
    std::vector<Candidate> runs;
    for (const auto& [root, newest] : newest_of_root) {
      std::string prefix = newest_of_root.size() > 1 ? root.string() : "";
      size_t before = runs.size();
      for (const auto& [key, modified] : folders) {
        if (key.first == root) {
          runs.push_back({root, key.second, prefix.empty() ? key.second : prefix + "/" + key.second,
                          modified});
        }
      }
      if (runs.size() == before) {
        runs.push_back({root, "", prefix.empty() ? "the run" : prefix, newest});
      }
    }
    // RUN folders are named by their time, and files may have been copied: names decide within a
    // root.
    std::stable_sort(runs.begin(), runs.end(), [&](const Candidate& a, const Candidate& b) {
      if (a.root != b.root)
        return std::pair(newest_of_root[a.root], a.root) <
               std::pair(newest_of_root[b.root], b.root);
      return a.folder < b.folder;
    });
    if (runs.empty()) return absl::OkStatus();
    chosen_ = int(runs.size()) - 1;
    runs_ = std::move(runs);
    if (options_.run.empty()) return absl::OkStatus();
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (options_.run == runs_[i].label ||
          (!runs_[i].folder.empty() && options_.run == runs_[i].folder)) {
        chosen_ = int(i);
        run_found_ = true;
      }
    }
    return absl::OkStatus();  // else it may name a run inside a text file
  }

  bool Wanted(const File& file) const {
    if (runs_.empty()) return true;
    const Candidate& run = runs_[size_t(chosen_)];
    return file.root == run.root &&
           (file.run.empty() || (file.run == run.folder && folder_selected_));
  }

  absl::Status Read(File& file) {
    SourceRow source{
        .path = file.path.string(), .bytes = file.bytes, .derived_from = file.derived_from};
    if (file.derived_from) {
      source.note =
          "made from another file of this run: not imported, or every event would count twice";
      return internal::ToStatus(store_.Add(source));
    }
    if (!Wanted(file)) {
      source.note = fmt::format("belongs to another run than {}",
                                run_label_.empty() ? runs_[size_t(chosen_)].label : run_label_);
      return internal::ToStatus(store_.Add(source));
    }
    auto opened = InputFile::Open(file.path);
    if (!opened.ok()) {
      source.note = std::string(Message(opened.status()));
      problems_.push_back(*source.note);
      XP_TRY(int64_t id, store_.Add(source));
      return store_.AddIssue(id, "unreadable_file", "warning", *source.note);
    }
    std::string_view bytes = opened->bytes();
    source.bytes = opened->disk_bytes();
    file.importer =
        options_.as_format.empty() ? Recognise(bytes) : ImporterNamed(options_.as_format);
    if (file.importer == nullptr) {
      source.note = fmt::format("not recognised: looks like {}", LooksLike(bytes));
      problems_.push_back(
          fmt::format("{}: not a format that xlaprof knows; its first bytes look like {}. Try --as "
                      "with one of: {}",
                      file.path.string(), LooksLike(bytes), ImporterNames()));
      XP_TRY(int64_t id, store_.Add(source));
      if (!file.named) return absl::OkStatus();
      return store_.AddIssue(id, "not_recognised", "warning", problems_.back());
    }
    source.format = file.importer->name;
    source.sha256 = opened->Sha256();
    XP_TRY(int64_t id, store_.Add(source));
    ImportContext context(store_, events_, id);
    if (!opened->damage().empty()) {
      XP_TRY(context.Issue(
          "damaged_compression", "warning",
          fmt::format("{}; what came before it was read. Copy the file again", opened->damage())));
    }
    context.progress = [&](size_t done) { Progress(file, done); };
    absl::Status status = file.importer->read({file.path.string(), bytes}, context);
    done_bytes_ += file.bytes;
    if (!status.ok()) {
      if (status.code() != absl::StatusCode::kInvalidArgument &&
          status.code() != absl::StatusCode::kDataLoss &&
          status.code() != absl::StatusCode::kNotFound &&
          status.code() != absl::StatusCode::kUnimplemented) {
        return status;  // the store, not the file, is at fault
      }
      problems_.push_back(std::string(Message(status)));
      XP_TRY(store_.Run("UPDATE source SET note = ?2 WHERE id = ?1", id, problems_.back()));
      return store_.AddIssue(id, "unreadable_file", "warning", problems_.back());
    }
    ++read_;
    XP_TRY(NumberRanks(file, id));
    return store_.Run("UPDATE source SET imported = 1 WHERE id = ?1", id);
  }

  // `.0` alone means nothing; `.0` beside `.1` are the ranks of a job.
  absl::Status NumberRanks(const File& file, int64_t source_id) {
    OptInt ordinal = OrdinalSuffix(file.path);
    if (!ordinal) return absl::OkStatus();
    auto siblings = std::count_if(files_.begin(), files_.end(), [&](const File& other) {
      return OrdinalSuffix(other.path) &&
             fs::path(other.path).replace_extension() == fs::path(file.path).replace_extension();
    });
    if (siblings < 2) return absl::OkStatus();
    return store_.Run("UPDATE process SET rank = ?2 WHERE source_id = ?1 AND rank IS NULL",
                      source_id, *ordinal);
  }

  // Gives each segment of the text files its run, counted from the end: the last segment is the
  // newest run's.
  absl::Status NameTextRuns() {
    XP_TRY(auto segments, store_.One<int64_t>("SELECT max(segment) + 1 FROM process"));
    int64_t text_runs = segments.value_or(1);
    std::vector<int> folder_runs;  // of the chosen root, oldest first
    const Candidate& chosen = runs_[size_t(chosen_)];
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].root == chosen.root && !runs_[i].folder.empty()) folder_runs.push_back(int(i));
    }
    int64_t count = std::max<int64_t>(text_runs, std::max<size_t>(1, folder_runs.size()));
    std::vector<RunRow> rows;
    for (int64_t i = 0; i < count; ++i) {
      int64_t from_end = count - 1 - i;
      int folder = from_end < int64_t(folder_runs.size())
                       ? folder_runs[folder_runs.size() - 1 - size_t(from_end)]
                       : -1;
      RunRow row{.label = folder >= 0 ? runs_[size_t(folder)].label
                                      : fmt::format("{} of {}", i + 1, count)};
      if (folder >= 0 && runs_[size_t(folder)].folder == chosen.folder) row.selected = true;
      row.why = folder >= 0 ? "its own folder under plugins/profile"
                            : "restart mark in a file that is appended to";
      rows.push_back(row);
    }
    if (folder_runs.empty()) {
      rows.back().label = count == 1 ? chosen.label : rows.back().label;
      rows.back().selected = true;
      if (count == 1) rows.back().why = "the only one in these files";
    }
    if (!options_.run.empty() && !run_found_) {
      bool found = false;
      for (RunRow& row : rows) {
        row.selected = row.label == options_.run;
        found |= row.selected;
      }
      if (!found) {
        std::string labels;
        for (const RunRow& row : rows) labels += fmt::format("\n  {}", row.label);
        for (const Candidate& run : runs_) {
          if (run.root != chosen.root) labels += fmt::format("\n  {}", run.label);
        }
        return NotFound("--run {}: no such run. There are:{}", options_.run, labels);
      }
    }
    for (const Candidate& run : runs_) {  // other jobs under the given directory: listed
      if (run.root != chosen.root)
        XP_TRY(store_.Add(RunRow{.label = run.label, .why = "another directory"}));
    }
    std::vector<int64_t> ids;
    for (const RunRow& row : rows) {
      XP_TRY(int64_t id, store_.Add(row));
      ids.push_back(id);
      if (row.selected) XP_TRY(store_.SetMeta("run_label", row.label));
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].selected) continue;
      selected_run_id_ = ids[i];
      run_label_ = rows[i].label;
      folder_selected_ = folder_runs.empty() || rows[i].label == chosen.label;
    }
    // Sources with fewer segments than the others saw the later runs only.
    std::map<int64_t, int64_t> last_segment;        // of each source
    std::vector<std::array<int64_t, 3>> processes;  // id, source, segment
    XP_TRY(store_.Each("SELECT id, coalesce(source_id, 0), segment, run_id IS NULL FROM process",
                       [&](int64_t id, int64_t source, int64_t segment, bool homeless) {
                         int64_t& last = last_segment.try_emplace(source, segment).first->second;
                         last = std::max(last, segment);
                         if (homeless) processes.push_back({id, source, segment});
                       }));
    for (auto [id, source, segment] : processes) {
      const int64_t from_end = last_segment[source] - segment;
      XP_TRY(store_.Run("UPDATE process SET run_id = ?2 WHERE id = ?1", id,
                        ids[size_t(count - 1 - from_end)]));
    }
    return absl::OkStatus();
  }

  absl::Status Nothing() const {
    std::string message;
    for (const std::string& problem : problems_)
      message += fmt::format("{}{}", message.empty() ? "" : "\n", Printable(problem));
    if (files_.size() > 1)
      message += fmt::format("\nnone of {} files could be read", files_.size());
    if (message.empty()) message = "nothing to read";
    return Invalid("{}", message);
  }

  void Progress(const File& file, size_t done) const {
    if (options_.progress) {
      options_.progress(
          double(done_bytes_ + int64_t(done)) / double(std::max<int64_t>(1, total_bytes_)),
          file.path.filename().string());
    }
  }

  struct Candidate {
    fs::path root;
    std::string folder, label;
    int64_t modified_ns = 0;
  };

  const ImportOptions& options_;
  Store& store_;
  EventWriter events_;
  std::vector<File> files_;
  std::vector<Candidate> runs_;
  int chosen_ = 0;
  bool run_found_ = false;
  bool folder_selected_ =
      true;  // the selected run is the chosen RUN folder's, not only one of an appended file
  std::string run_label_;  // of the selected run, once it is known
  int64_t selected_run_id_ = 0;
  int read_ = 0;
  int64_t total_bytes_ = 0, done_bytes_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace

absl::Status Import(const ImportOptions& options, Store& store) {
  XP_TRY(store.Begin());
  absl::Status status = Importing(options, store).Run();
  if (!status.ok()) {
    store.Rollback();
    return status;
  }
  return store.Commit();
}

}  // namespace xlaprof

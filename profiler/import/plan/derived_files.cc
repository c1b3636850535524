#include "profiler/import/plan/derived_files.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/sqlite_files.h"
#include "profiler/import/store_file.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "profiler/store/origin.h"

namespace xlaprof {

namespace fs = std::filesystem;

void FolderNames::Add(const fs::path& path) {
  Folder& folder = folders_[path.parent_path()];
  std::string name = path.filename().string();
  folder.has_xplane |= name.find(".xplane.pb") != std::string::npos;
  folder.names.insert(std::move(name));
}

std::optional<std::string> FolderNames::FirstIn(const fs::path& folder,
                                                std::span<const std::string> names) const {
  const auto found = folders_.find(folder);
  if (found == folders_.end()) return std::nullopt;
  for (const std::string& name : names) {
    if (found->second.names.contains(name)) return name;
  }
  return std::nullopt;
}

std::optional<std::string> FolderNames::OriginInDebugRun(const fs::path& path) const {
  static const std::string kGraphs[] = {"graphs", "graphs.0"},
                           kMetrics[] = {"metrics", "metrics.0"};
  const fs::path folder = path.parent_path();
  if (path.filename() == "graph_report") return FirstIn(folder, kGraphs);
  if (path.filename() == "metrics_report") return FirstIn(folder, kMetrics);
  if (folder.filename() == "graphdir") return FirstIn(folder.parent_path(), kGraphs);
  if (folder.filename() == "metrics_imgdir") return FirstIn(folder.parent_path(), kMetrics);
  return std::nullopt;
}

std::optional<std::string> FolderNames::OriginOf(const fs::path& path) const {
  const fs::path folder = path.parent_path();
  const auto& [siblings, has_xplane] = folders_.at(folder);
  const std::string name = path.filename().string();
  for (std::string_view suffix :
       {".trace.json.gz", ".trace.json", ".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string host = name.substr(0, name.size() - suffix.size());
    const std::string originals[] = {host + ".xplane.pb", host + ".xplane.pb.gz",
                                     host + ".xplane.pb.zst"};
    if (auto original = FirstIn(folder, originals)) return original;
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
  // `xlaprof run` writes its report beside what it recorded.
  if (name == "report.txt" && siblings.contains("run.jsonl")) return "the files beside it";
  return OriginInDebugRun(path);
}

bool FolderNames::IsPartOfAStore(const fs::path& path) const {
  const std::set<std::string>& siblings = folders_.at(path.parent_path()).names;
  const std::string name = path.filename().string();
  auto is_beside = [&](std::string_view suffix) {
    if (!name.ends_with(suffix)) return false;
    const std::string store = name.substr(0, name.size() - suffix.size());
    return store.ends_with(".xlaprof") && siblings.contains(store);
  };
  return is_beside(".ring") || std::ranges::any_of(kSqliteSuffixes, is_beside);
}

namespace {

// The files of one program, which have one stem.
struct Program {
  fs::path folder;
  int64_t module = 0;
  int program = -1, buffers = -1;  // places in the list of files; -1: none
  int rank = 0;                    // rank of the file at `program`; lower is better
  std::vector<size_t> others;
};

// Ranks a dumped program; lower is better. XLA's input says more than XLA's output, and a proto is
// exact while a text is not.
int Rank(const XlaDumpName& name) {
  return (name.kind == XlaDumpName::kAfter ? 2 : 0) + (name.is_proto ? 0 : 1);
}

struct DumpFile {
  fs::path folder;
  XlaDumpName name;
};

// Returns the dump that a file belongs to: that of its folder, or of the folder above if its own
// folder is named after a program. The result views `file` or `folder`.
std::optional<DumpFile> DumpFileOf(const fs::path& path, std::string& file, std::string& folder) {
  file = path.filename().string();
  if (auto name = ParseXlaDumpName(file)) return DumpFile{path.parent_path(), *name};
  folder = path.parent_path().filename().string();
  auto name = ParseXlaDumpName(folder);
  if (!name) return std::nullopt;
  name->kind = XlaDumpName::kPart;
  return DumpFile{path.parent_path().parent_path(), *name};
}

// Returns the name of a dump. JAX and XLA dump the same compilations: each dump is read by itself,
// and they are joined later.
std::string DumpOf(const DumpFile& file) {
  return file.name.is_jax ? file.folder / "jax_ir*" : file.folder;
}

bool IsProgram(const XlaDumpName& name) {
  return name.kind == XlaDumpName::kBefore || name.kind == XlaDumpName::kAfter;
}

// Marks the files that were named, as in `xlaprof report DIR/*.mlir`. They are in the order of
// their names, and so of the programs.
void MarkNamed(std::vector<IdentifiedFile>& files) {
  std::set<std::pair<std::string, std::string>> programs;  // by dump and stem
  for (IdentifiedFile& found : files) {
    std::string file, folder;
    if (!found.named) continue;
    const auto dumped = DumpFileOf(found.path, file, folder);
    if (!dumped || !IsProgram(dumped->name)) continue;
    const std::string dump = DumpOf(*dumped);
    if (programs.emplace(dump, dumped->name.stem).second) found.dump = dump;
  }
}

}  // namespace

void GroupDumps(std::vector<IdentifiedFile>& files) {
  MarkNamed(files);
  std::map<std::string, std::map<std::string, Program>> dumps;
  std::vector<bool> taken(files.size(), false);
  for (size_t i = 0; i < files.size(); ++i) {
    std::string file, folder;
    if (files[i].named) continue;
    const auto dumped = DumpFileOf(files[i].path, file, folder);
    if (!dumped) continue;
    taken[i] = true;
    Program& program = dumps[DumpOf(*dumped)][std::string(dumped->name.stem)];
    program.folder = dumped->folder;
    program.module = dumped->name.module;
    if (IsProgram(dumped->name) && (program.program < 0 || Rank(dumped->name) < program.rank)) {
      if (program.program >= 0) program.others.push_back(size_t(program.program));
      program.program = int(i);
      program.rank = Rank(dumped->name);
    } else if (dumped->name.kind == XlaDumpName::kBuffers && program.buffers < 0) {
      program.buffers = int(i);
    } else {
      program.others.push_back(i);
    }
  }
  if (dumps.empty()) return;

  std::vector<IdentifiedFile> out;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!taken[i]) out.push_back(std::move(files[i]));
  }
  for (auto& [dump, programs] : dumps) {
    std::vector<std::pair<const std::string, Program>*> order;
    for (auto& entry : programs) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->second.module < b->second.module;
    });
    for (auto* entry : order) {
      auto& [stem, program] = *entry;
      std::string read;
      for (int place : {program.program, program.buffers}) {
        // Buffers without their program say nothing.
        if (place < 0 || program.program < 0) continue;
        IdentifiedFile& file = files[size_t(place)];
        if (read.empty()) read = file.path.filename().string();
        file.dump = dump;
        out.push_back(std::move(file));
      }
      if (program.program < 0 && program.buffers >= 0)
        program.others.push_back(size_t(program.buffers));
      if (program.others.empty()) continue;
      IdentifiedFile rest{{.path = program.folder / (stem + ".*")}};
      for (size_t i : program.others) {
        rest.bytes += files[i].bytes;
        rest.modified_ns = std::max(rest.modified_ns, files[i].modified_ns);
      }
      const size_t count = program.others.size();
      rest.derived_from = read.empty() ? "a program that was not dumped" : read;
      rest.note =
          read.empty()
              ? fmt::format(
                    "{} file{} of a program whose HLO is missing: dump it with --xla_dump_hlo_as_text or --xla_dump_hlo_as_proto",
                    count, count == 1 ? "" : "s")
              : fmt::format("{} other file{} that XLA wrote for this program: not imported", count,
                            count == 1 ? "" : "s");
      out.push_back(std::move(rest));
    }
  }
  files = std::move(out);
}

namespace {

bool IsStore(const IdentifiedFile& file) {
  return file.format != nullptr && file.format->importer->is_store;
}

class Making {
 public:
  explicit Making(std::vector<IdentifiedFile>& files) : files_(files) {}

  void Run() {
    if (files_.size() < 2) return;
    ReadStores();
    for (IdentifiedFile& file : files_) {
      if (file.derived_from || !file.origin || file.origin->sources.empty()) continue;
      made_.push_back(&file);
      wanted_.insert(file.origin->sources.begin(), file.origin->sources.end());
    }
    if (!made_.empty()) {
      FindSources();
      ListWhatHasASource();
      ListWhatHasASibling();
    }
  }

 private:
  // Reads what stores say of their origin, and lists copies of recordings.
  void ReadStores() {
    for (IdentifiedFile& file : files_) {
      if (file.derived_from || !IsStore(file)) continue;
      StoreOrigin origin = OriginOfStore(file);
      if (!origin.is_store) exports_.insert(&file);
      if (origin.made_from) {
        file.origin = std::move(origin.made_from);
        continue;
      }
      for (std::string& identity : origin.identities) AddRecording(std::move(identity), file);
    }
  }

  StoreOrigin OriginOfStore(IdentifiedFile& file) {
    if (file.archive == nullptr) {
      if (StoreOrigin origin = OriginOfStoreFile(file.path); origin.is_store || origin.made_from)
        return origin;
    }
    const auto opened = Reopen(file);
    if (!opened.ok()) return {};
    const auto unpacked = StoreFile::Of(file.path.string(), opened->bytes());
    return unpacked.ok() ? OriginOfStoreFile(unpacked->path()) : StoreOrigin{};
  }

  void AddRecording(std::string identity, IdentifiedFile& file) {
    IdentifiedFile*& known = source_of_[std::move(identity)];
    if (known == nullptr) {
      known = &file;
      return;
    }
    IdentifiedFile* copy = &file;
    if (file.bytes > known->bytes) std::swap(copy, known);
    List(
        *copy, known->path.string(),
        fmt::format("holds the same recording as {}, which is read instead", known->path.string()));
  }

  // Opens a file beside what identifying it has opened.
  static absl::StatusOr<InputFile> Reopen(const IdentifiedFile& file) {
    if (file.archive != nullptr)
      return InputFile::OfBytes(file.path.string(), file.archive->members()[file.member].bytes);
    return InputFile::Open(file.path, /*maps_large_files=*/true);
  }

  // Finds the files that the others may have been made from, by their content.
  void FindSources() {
    std::set<uint64_t> sizes;
    for (const std::string& identity : wanted_) {
      if (const auto size = SizeIn(identity)) sizes.insert(*size);
    }
    for (IdentifiedFile& file : files_) {
      if (file.derived_from || file.look || sizes.empty()) continue;
      // The size of packed content is known only when it is unpacked.
      if (file.opened != nullptr) {
        AddSource(file, file.opened->bytes(), sizes);
      } else if (auto opened = Reopen(file); opened.ok()) {
        AddSource(file, opened->bytes(), sizes);
      }
    }
  }

  void AddSource(IdentifiedFile& file, std::string_view bytes, const std::set<uint64_t>& sizes) {
    if (!sizes.contains(bytes.size())) return;
    std::string identity = ContentIdentity(bytes);
    if (wanted_.contains(identity)) source_of_.try_emplace(std::move(identity), &file);
  }

  void ListWhatHasASource() {
    for (IdentifiedFile* file : made_) {
      const IdentifiedFile* first = nullptr;
      bool all_are_there = true;
      for (const std::string& identity : file->origin->sources) {
        const auto found = source_of_.find(identity);
        const bool is_there = found != source_of_.end() && found->second != file;
        all_are_there &= is_there;
        // An original is named rather than another file that was made from it.
        if (is_there && (first == nullptr || (first->origin && !found->second->origin)))
          first = found->second;
      }
      if (first == nullptr) continue;
      List(*file, first->path.string(),
           all_are_there
               ? fmt::format("made from {}: not imported, because every event would count twice",
                             first->path.string())
               : fmt::format("made from {} and from files that are not here: not imported, because "
                             "events would count twice. To read it, name it alone",
                             first->path.string()));
    }
  }

  void ListWhatHasASibling() {
    std::vector<IdentifiedFile*> left;
    for (IdentifiedFile* file : made_) {
      if (!file->derived_from) left.push_back(file);
    }
    std::ranges::stable_sort(left, std::greater(), [&](const IdentifiedFile* file) {
      const bool is_read = file->format != nullptr && !exports_.contains(file);
      return std::tuple(is_read, is_read && file->origin->is_whole,
                        is_read ? file->format->importer->keeps : 0);
    });
    std::vector<const IdentifiedFile*> read;
    for (IdentifiedFile* file : left) {
      const auto same = std::ranges::find_if(read, [&](const IdentifiedFile* other) {
        return other->run_folder == file->run_folder && other->origin->Overlaps(*file->origin);
      });
      if (same != read.end()) {
        List(*file, (*same)->path.string(),
             fmt::format("made from the same run as {}, which is read instead",
                         (*same)->path.string()));
      } else if (file->format != nullptr && !exports_.contains(file)) {
        read.push_back(file);
      }
    }
  }

  static void List(IdentifiedFile& file, std::string from, std::string note) {
    file.derived_from = std::move(from);
    file.note = std::move(note);
    file.format = nullptr;
    file.look.reset();
  }

  std::vector<IdentifiedFile>& files_;
  std::vector<IdentifiedFile*> made_;  // files with a mark
  std::set<std::string> wanted_;       // identities of what they were made from
  std::map<std::string, IdentifiedFile*> source_of_;
  std::set<const IdentifiedFile*> exports_;  // exports to SQLite, which no importer reads
};

}  // namespace

void ListMadeFiles(std::vector<IdentifiedFile>& files) { Making(files).Run(); }

}  // namespace xlaprof

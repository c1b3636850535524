#include "profiler/import/plan/made_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "profiler/import/store_file.h"
#include "profiler/store/origin.h"

namespace xlaprof {
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

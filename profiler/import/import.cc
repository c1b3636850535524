#include "profiler/import/import.h"

#include <algorithm>
#include <map>

#include "core/base/escape.h"
#include "profiler/import/formats.h"
#include "profiler/import/found_files.h"
#include "profiler/import/importer.h"
#include "profiler/import/join/join.h"
#include "profiler/import/run_choice.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

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

// Whether an importer's error is about the file; else the store is at fault.
bool IsAboutInput(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ||
         status.code() == absl::StatusCode::kDataLoss ||
         status.code() == absl::StatusCode::kNotFound ||
         status.code() == absl::StatusCode::kUnimplemented;
}

class Importing {
 public:
  Importing(const ImportOptions& options, Store& store, SourceHashes& hashes)
      : options_(options), store_(store), hashes_(hashes), events_(store) {}

  absl::Status Run() {
    if (!options_.as_format.empty() && ImporterNamed(options_.as_format) == nullptr) {
      return Invalid("--as {}: no such format. Known: {}", options_.as_format, ImporterNames());
    }
    XP_TRY(FoundFiles found, FindFiles(options_.inputs));
    files_ = std::move(found.files);
    problems_ = std::move(found.problems);
    for (const FoundFile& file : files_) total_bytes_ += file.bytes;
    for (const FoundFile& archive : found.archives) XP_TRY(ListArchive(archive));
    runs_.FromFolders(files_, options_.run);
    // Files that runs are appended to first: they tell how many runs there are, and so whether a
    // RUN folder's are wanted.
    for (const FoundFile& file : files_) {
      if (file.run.empty()) XP_TRY(Read(file));
    }
    const bool profiles = std::any_of(files_.begin(), files_.end(), [](const FoundFile& file) {
      return !file.run.empty() && !file.derived_from;
    });
    if (read_ == 0 && !profiles) return Nothing();
    XP_TRY(DivideRuns(store_));
    XP_TRY(runs_.FromSegments(store_));
    for (const FoundFile& file : files_) {
      if (!file.run.empty()) XP_TRY(Read(file));
    }
    XP_TRY(store_.Run("UPDATE process SET run_id = ?1 WHERE run_id IS NULL", runs_.run_id()));
    XP_TRY(events_.Flush());
    if (read_ == 0) return Nothing();
    return JoinSources(store_);
  }

 private:
  // An archive itself holds no facts; what is wrong with it is an issue of its own.
  absl::Status ListArchive(const FoundFile& archive) {
    SourceRow source{.path = archive.path.string(), .bytes = archive.bytes};
    source.note = archive.note ? *archive.note : "an archive: its files are listed one by one";
    XP_TRY(int64_t id, store_.Add(source));
    if (!archive.note) return absl::OkStatus();
    return store_.AddIssue(
        id, "damaged_archive", "warning",
        fmt::format("{}. What could be read of it was read. Copy or pack it again", *archive.note));
  }

  absl::Status Read(const FoundFile& file) {
    SourceRow source{
        .path = file.path.string(), .bytes = file.bytes, .derived_from = file.derived_from};
    if (file.derived_from) {
      source.note = file.note ? *file.note
                              : "made from another file of this run: not imported, or every event "
                                "would count twice";
      if (not_imported_.empty())
        not_imported_ = fmt::format("{}: {}", file.path.string(), *source.note);
      return internal::ToStatus(store_.Add(source));
    }
    if (!runs_.Wants(file)) {
      source.note = fmt::format("belongs to another run than {}", runs_.label());
      return internal::ToStatus(store_.Add(source));
    }
    auto opened = file.Open();
    if (!opened.ok()) {
      source.note = std::string(Message(opened.status()));
      problems_.push_back(*source.note);
      XP_TRY(int64_t id, store_.Add(source));
      return store_.AddIssue(id, "unreadable_file", "warning", *source.note);
    }
    struct Kept {
      std::shared_ptr<const Archive> archive;  // whose bytes they may be
      InputFile file;
    };
    const auto kept = std::make_shared<Kept>(Kept{file.archive, *std::move(opened)});
    const std::shared_ptr<InputFile> input(kept, &kept->file);
    const std::string_view bytes = input->bytes();
    source.bytes = int64_t(input->disk().size());
    const Importer* importer =
        options_.as_format.empty() ? Recognise(bytes) : ImporterNamed(options_.as_format);
    if (importer == nullptr) return NotRecognised(file, bytes, std::move(source));
    source.format = importer->name;
    XP_TRY(int64_t id, store_.Add(source));
    ImportContext context(store_, events_, id);
    hashes_.Add(id, input);
    XP_TRY(TellDamage(file, *input, context));
    context.progress = [&](size_t done) {
      Progress(file, done);
      input->Forget(done);
    };
    const bool is_shared = !file.dump.empty();
    if (is_shared) context.Continue(dumps_[file.dump]);
    absl::Status status = importer->read({file.path.string(), bytes}, context);
    if (is_shared) dumps_[file.dump] = context.place();
    done_bytes_ += file.bytes;
    if (!status.ok()) {
      if (!IsAboutInput(status)) return status;
      problems_.push_back(std::string(Message(status)));
      XP_TRY(store_.Run("UPDATE source SET note = ?2 WHERE id = ?1", id, problems_.back()));
      return store_.AddIssue(id, "unreadable_file", "warning", problems_.back());
    }
    ++read_;
    XP_TRY(NumberRanks(file, id));
    return store_.Run("UPDATE source SET imported = 1 WHERE id = ?1", id);
  }

  absl::Status NotRecognised(const FoundFile& file, std::string_view bytes, SourceRow source) {
    source.note = fmt::format("not recognised: looks like {}", LooksLike(bytes));
    problems_.push_back(
        fmt::format("{}: not a format that xlaprof knows; its first bytes look like {}. Try --as "
                    "with one of: {}",
                    file.path.string(), LooksLike(bytes), ImporterNames()));
    XP_TRY(int64_t id, store_.Add(source));
    if (!file.named) return absl::OkStatus();
    return store_.AddIssue(id, "not_recognised", "warning", problems_.back());
  }

  absl::Status TellDamage(const FoundFile& file, const InputFile& opened, ImportContext& context) {
    if (!opened.damage().empty()) {
      XP_TRY(context.Issue(
          "damaged_coding", "warning",
          fmt::format("{}; what came before it was read. Copy the file again", opened.damage())));
    }
    if (!file.archive) return absl::OkStatus();
    const std::string& damage = file.archive->members()[file.member].damage;
    if (damage.empty()) return absl::OkStatus();
    return context.Issue(
        "damaged_archive", "warning",
        fmt::format("{}; what came before it was read. Copy the archive again", damage));
  }

  // `.0` alone means nothing; `.0` beside `.1` are the ranks of a job.
  absl::Status NumberRanks(const FoundFile& file, int64_t source_id) {
    OptInt ordinal = OrdinalSuffix(file.path);
    if (!ordinal) return absl::OkStatus();
    auto siblings = std::count_if(files_.begin(), files_.end(), [&](const FoundFile& other) {
      return OrdinalSuffix(other.path) &&
             fs::path(other.path).replace_extension() == fs::path(file.path).replace_extension();
    });
    if (siblings < 2) return absl::OkStatus();
    return store_.Run("UPDATE process SET rank = ?2 WHERE source_id = ?1 AND rank IS NULL",
                      source_id, *ordinal);
  }

  absl::Status Nothing() const {
    std::string message;
    for (const std::string& problem : problems_)
      message += fmt::format("{}{}", message.empty() ? "" : "\n", Printable(problem));
    if (message.empty()) message = Printable(not_imported_);
    if (files_.size() > 1)
      message += fmt::format("\nnone of {} files could be read", files_.size());
    if (message.empty()) message = "nothing to read";
    return Invalid("{}", message);
  }

  void Progress(const FoundFile& file, size_t done) const {
    if (options_.progress) {
      options_.progress(
          double(done_bytes_ + int64_t(done)) / double(std::max<int64_t>(1, total_bytes_)),
          file.path.filename().string());
    }
  }

  const ImportOptions& options_;
  Store& store_;
  SourceHashes& hashes_;
  EventWriter events_;
  std::vector<FoundFile> files_;
  RunChoice runs_;
  std::map<std::string, ImportContext::Place> dumps_;  // where each dump's process has got to
  int read_ = 0;
  int64_t total_bytes_ = 0, done_bytes_ = 0;
  std::vector<std::string> problems_;
  std::string not_imported_;  // why the first of those that were left out was
};

}  // namespace

absl::Status Import(const ImportOptions& options, Store& store, SourceHashes& hashes) {
  XP_TRY(store.Begin());
  absl::Status status = Importing(options, store, hashes).Run();
  if (!status.ok()) {
    store.Rollback();
    return status;
  }
  hashes.Hurry();
  return store.Commit();
}

absl::Status Import(const ImportOptions& options, Store& store) {
  SourceHashes hashes;
  XP_TRY(Import(options, store, hashes));
  return hashes.Write(store);
}

}  // namespace xlaprof

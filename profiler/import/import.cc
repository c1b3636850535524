#include "profiler/import/import.h"

#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <map>

#include "core/base/escape.h"
#include "core/base/numbers.h"
#include "profiler/import/formats.h"
#include "profiler/import/found_files.h"
#include "profiler/import/importer.h"
#include "profiler/import/join/join.h"
#include "profiler/import/run_choice.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Returns the ordinal of the process or device that torch_xla appends to a name: 3 for
// `metrics.txt.3` and `save.txt.3`.
OptInt OrdinalSuffix(const fs::path& path) {
  std::string extension = path.extension().string();
  if (extension.size() < 2 || extension.size() > 5) return {};
  return ParseCount(std::string_view(extension).substr(1));
}

// Returns whether an importer's error is about the file; if not, the store is at fault.
bool IsAboutInput(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ||
         status.code() == absl::StatusCode::kDataLoss ||
         status.code() == absl::StatusCode::kNotFound ||
         status.code() == absl::StatusCode::kUnimplemented;
}

class Importing {
 public:
  Importing(const ImportOptions& options, Store& store)
      : options_(options), store_(store), events_(store) {}

  absl::Status Run() {
    if (!options_.as_format.empty() && FormatNamed(options_.as_format) == nullptr) {
      return Invalid("--as {}: no such format. Known: {}", options_.as_format, FormatNames());
    }
    XP_TRY(FoundFiles found, FindFiles(options_.inputs, !options_.as_format.empty()));
    files_ = std::move(found.files);
    problems_ = std::move(found.problems);
    for (const FoundFile& file : files_) total_bytes_ += file.bytes;
    for (const FoundFile& archive : found.archives) XP_TRY(ListArchive(archive));
    for (const FoundFile& folder : found.folders) XP_TRY(ListFolder(folder));
    CountRanks();
    runs_.FromFolders(files_, options_.run);
    // Files that runs are appended to are read first. They show how many runs there are, and so
    // whether the files of a RUN folder are wanted.
    for (const FoundFile& file : files_) {
      if (file.run.empty()) XP_TRY(Read(file));
    }
    const bool profiles = std::any_of(files_.begin(), files_.end(), [](const FoundFile& file) {
      return !file.run.empty() && MayBeRead(file);
    });
    if (read_ == 0 && !profiles) return Nothing();
    XP_TRY(DivideRuns(store_));
    XP_TRY(runs_.FromSegments(store_));
    for (const FoundFile& file : files_) {
      if (!file.run.empty()) XP_TRY(Read(file));
    }
    XP_TRY(NumberRanks());
    XP_TRY(store_.Run("UPDATE process SET run_id = ?1 WHERE run_id IS NULL", runs_.run_id()));
    XP_TRY(events_.Flush());
    XP_TRY(TellUnboundFlows());
    if (read_ == 0) return Nothing();
    return JoinSources(store_);
  }

 private:
  // Lists an archive, which holds no facts itself. Its damage is an issue of its own.
  absl::Status ListArchive(const FoundFile& archive) {
    SourceRow source{.path = archive.path.string(), .bytes = archive.bytes};
    source.note = archive.note ? *archive.note : "an archive: its files are listed separately";
    XP_TRY(int64_t id, store_.Add(source));
    if (!archive.note) return absl::OkStatus();
    return store_.AddIssue(
        id, "damaged_archive", Severity::kWarning,
        fmt::format("{}. The readable part was imported. Copy or pack it again.", *archive.note));
  }

  absl::Status ListFolder(const FoundFile& folder) {
    XP_TRY(int64_t id, store_.Add(SourceRow{.path = folder.path.string(), .note = folder.note}));
    return store_.AddIssue(id, "unreadable_folder", Severity::kWarning, *folder.note);
  }

  absl::Status TellUnboundFlows() {
    std::map<OptInt, UnboundFlows> by_source;
    for (const auto& [track_id, unbound] : events_.unbound_flows()) {
      XP_TRY(auto source_id,
             store_.One<int64_t>("SELECT p.source_id FROM track t JOIN process p ON p.id = "
                                 "t.process_id WHERE t.id = ?1",
                                 track_id));
      by_source[source_id].Add(unbound);
    }
    for (const auto& [source_id, unbound] : by_source) {
      XP_TRY(store_.AddIssue(
          source_id, "flows_left_out", Severity::kInfo,
          "Ends of flows (arrows) were left out. Their thread has no event at that time, the event is tens of thousands of events earlier in the file, or it has a flow already: an event keeps one incoming and one outgoing flow.",
          unbound.first_offset, {}, unbound.count));
    }
    return absl::OkStatus();
  }

  absl::Status Read(const FoundFile& file) {
    SourceRow source{
        .path = file.path.string(), .bytes = file.bytes, .derived_from = file.derived_from};
    if (file.derived_from) {
      source.note =
          file.note
              ? *file.note
              : "made from another file of this run: not imported, because every event would count twice";
      if (not_imported_.empty())
        not_imported_ = fmt::format("{}: {}", file.path.string(), *source.note);
      return internal::ToStatus(store_.Add(source));
    }
    // An empty file of this run is worth a warning. Either the run wrote nothing there, or a packed
    // file is damaged from its first byte on, which opening it reports.
    const bool is_empty = file.looks_like == kEmptyFile && runs_.Wants(file);
    if (!file.looks_like.empty() && !is_empty) {
      ++tried_;
      return NotRecognised(file, file.looks_like, std::move(source));
    }
    if (!runs_.Wants(file)) {
      source.note = fmt::format("belongs to another run than {}", runs_.label());
      return internal::ToStatus(store_.Add(source));
    }
    ++tried_;
    auto opened = file.Open();
    if (!opened.ok()) {
      source.note = std::string(Message(opened.status()));
      problems_.push_back(*source.note);
      XP_TRY(int64_t id, store_.Add(source));
      return store_.AddIssue(id, issue_codes::kUnreadableFile, Severity::kWarning, *source.note);
    }
    const absl::Cleanup forget = [&] {
      if (file.archive) file.archive->Forget(file.member);
    };
    InputFile input = *std::move(opened);
    const std::string_view bytes = input.bytes();
    source.bytes = int64_t(input.disk().size());
    if (int64_t(bytes.size()) != *source.bytes) source.unpacked_bytes = int64_t(bytes.size());
    const bool is_asked_for = !options_.as_format.empty();
    const Format* format = is_asked_for ? FormatNamed(options_.as_format) : Recognise(bytes);
    if (format == nullptr) return NotRecognised(file, LooksLike(bytes), std::move(source));
    source.format = format->name;
    if (format->framework != Framework::kUnknown) source.framework = format->framework;
    XP_TRY(int64_t id, store_.Add(source));
    ImportContext context(store_, events_, id);
    XP_TRY(TellDamage(file, input, context));
    context.progress = [&](size_t done) {
      Progress(file, done);
      input.Forget(done);
    };
    const bool is_shared = !file.dump.empty();
    if (is_shared) context.Continue(dumps_[file.dump]);
    absl::Status status = format->Read({file.path.string(), bytes}, context, is_asked_for);
    if (is_shared) dumps_[file.dump] = context.position();
    done_bytes_ += file.bytes;
    if (input.HasShrunk()) {
      XP_TRY(context.Issue(
          "shrunk_file", Severity::kError,
          fmt::format(
              "{}: the file was truncated while it was read, perhaps by log rotation. Everything after its new end is missing. Read the rotated copy, or read the file again when nothing truncates it.",
              file.path.string())));
    }
    if (!status.ok()) {
      if (!IsAboutInput(status)) return status;
      problems_.push_back(std::string(Message(status)));
      XP_TRY(store_.Run("UPDATE source SET note = ?2 WHERE id = ?1", id, problems_.back()));
      return store_.AddIssue(id, issue_codes::kUnreadableFile, Severity::kWarning,
                             problems_.back());
    }
    ++read_;
    NoteRank(file, id);
    return store_.Run("UPDATE source SET imported = 1 WHERE id = ?1", id);
  }

  absl::Status NotRecognised(const FoundFile& file, std::string_view looks_like, SourceRow source) {
    source.note = fmt::format("not recognised: looks like {}", looks_like);
    const std::string what =
        fmt::format("{}: not a format that xlaprof knows; its first bytes look like {}",
                    file.path.string(), looks_like);
    unknown_.push_back(what);
    if (!file.named && IsDocument(file.path)) return absl::OkStatus();
    XP_TRY(int64_t id, store_.Add(source));
    if (!file.named) return absl::OkStatus();
    return store_.AddIssue(id, "not_recognised", Severity::kWarning,
                           fmt::format("{}. Try --as with one of: {}", what, FormatNames()));
  }

  absl::Status TellDamage(const FoundFile& file, const InputFile& opened, ImportContext& context) {
    if (!opened.damage().empty()) {
      XP_TRY(context.Issue(issue_codes::kDamagedCoding, Severity::kWarning,
                           fmt::format("{}. Everything before that was read. Copy the file again.",
                                       opened.damage())));
    }
    if (!file.archive) return absl::OkStatus();
    const std::string& damage = file.archive->members()[file.member].damage;
    if (damage.empty()) return absl::OkStatus();
    return context.Issue(
        "damaged_archive", Severity::kWarning,
        fmt::format("{}. Everything before that was read. Copy the archive again.", damage));
  }

  // Notes the rank of a source. `.0` alone means nothing; `.0` beside `.1` are the ranks of a job.
  void NoteRank(const FoundFile& file, int64_t source_id) {
    const OptInt ordinal = OrdinalSuffix(file.path);
    if (ordinal && ranks_[WithoutOrdinal(file)] > 1) rank_of_source_[source_id] = *ordinal;
  }
  absl::Status NumberRanks() {
    if (rank_of_source_.empty()) return absl::OkStatus();
    std::vector<std::pair<int64_t, int64_t>> rank_of;
    XP_TRY(
        store_.Each("SELECT id, source_id FROM process WHERE "
                    "rank IS NULL AND source_id IS NOT NULL",
                    [&](int64_t id, int64_t source_id) {
                      const auto rank = rank_of_source_.find(source_id);
                      if (rank != rank_of_source_.end()) rank_of.emplace_back(id, rank->second);
                    }));
    for (const auto& [id, rank] : rank_of)
      XP_TRY(store_.Run("UPDATE process SET rank = ?2 WHERE id = ?1", id, rank));
    return absl::OkStatus();
  }

  void CountRanks() {
    for (const FoundFile& file : files_) {
      if (OrdinalSuffix(file.path)) ++ranks_[WithoutOrdinal(file)];
    }
  }
  static std::string WithoutOrdinal(const FoundFile& file) {
    return fs::path(file.path).replace_extension().string();
  }

  absl::Status Nothing() const {
    constexpr size_t kTold = 20;
    std::string message;
    auto tell = [&](std::string_view line) {
      message += fmt::format("{}{}", message.empty() ? "" : "\n", line);
    };
    auto tell_all = [&](const std::vector<std::string>& lines) {
      for (size_t i = 0; i < std::min(lines.size(), kTold); ++i) tell(Printable(lines[i]));
      if (lines.size() > kTold) tell(fmt::format("and {} more", lines.size() - kTold));
    };
    tell_all(problems_);
    tell_all(unknown_);
    if (!unknown_.empty()) {
      message += fmt::format("{}Try --as with one of: {}", unknown_.size() == 1 ? ". " : "\n",
                             FormatNames());
    }
    if (message.empty()) message = Printable(not_imported_);
    if (tried_ > 1) message += fmt::format("\nnone of {} files could be read", tried_);
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
  EventWriter events_;
  std::vector<FoundFile> files_;
  RunChoice runs_;
  std::map<std::string, ImportContext::Position> dumps_;  // how far each dump's process was read
  std::map<std::string, int> ranks_;  // how many files differ by their ordinal only
  std::map<int64_t, int64_t> rank_of_source_;
  int read_ = 0;
  size_t tried_ = 0;  // files of this run or of no run
  int64_t total_bytes_ = 0, done_bytes_ = 0;
  std::vector<std::string> problems_;
  std::vector<std::string> unknown_;  // files that no importer knows, one line each
  std::string not_imported_;          // why the first file that was left out is not imported
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

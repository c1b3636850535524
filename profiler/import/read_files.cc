#include "profiler/import/read_files.h"

#include <absl/cleanup/cleanup.h>

#include <algorithm>

#include "base/escape.h"
#include "profiler/import/formats.h"
#include "profiler/store/issue_codes.h"
#include "profiler/store/origin.h"

namespace xlaprof {
namespace {

// Returns whether an importer's error is about the file; if not, the store is at fault.
bool IsAboutInput(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ||
         status.code() == absl::StatusCode::kDataLoss ||
         status.code() == absl::StatusCode::kNotFound ||
         status.code() == absl::StatusCode::kUnimplemented;
}

// Returns what is known of a file before it is read.
SourceRow RowOf(const IdentifiedFile& file) {
  return {.path = file.path.string(), .bytes = file.bytes, .links_to = file.links_to};
}

}  // namespace

absl::StatusOr<bool> FileReader::ListUnread(const IdentifiedFile& file, bool is_wanted) {
  if (file.derived_from) {
    SourceRow source = RowOf(file);
    source.derived_from = file.derived_from;
    source.note = file.note ? *file.note
                            : "made from another file of this run: not imported, because every "
                              "event would count twice";
    if (not_imported_.empty())
      not_imported_ = fmt::format("{}: {}", file.path.string(), *source.note);
    XP_TRY(store_.Add(source));
    return true;
  }
  // An empty file of this run is worth a warning. Either the run wrote nothing there, or a packed
  // file is damaged from its first byte on, which opening it reports.
  const bool is_told_by_opening = file.look == Look::kEmpty && is_wanted;
  if (!file.look || is_told_by_opening) return false;
  XP_TRY(NotRecognised(file, *file.look));
  return true;
}

absl::Status FileReader::ListOther(const IdentifiedFile& file, std::string_view chosen) {
  XP_TRY(const bool is_listed, ListUnread(file, /*is_wanted=*/false));
  if (is_listed) return absl::OkStatus();
  SourceRow source = RowOf(file);
  source.note = fmt::format("belongs to another run than {}", chosen);
  return internal::ToStatus(store_.Add(source));
}

absl::Status FileReader::Read(IdentifiedFile& file, const Place& place) {
  // Another name of a file, or a link to it, shows the same events again.
  if (file.id.is_known()) {
    const auto [first, is_new] = name_of_.try_emplace(file.id, file.path.string());
    if (!is_new && !file.derived_from) {
      file.derived_from = first->second;
      file.note = fmt::format("the same file as {}, under another name", first->second);
    }
  }
  XP_TRY(const bool is_listed, ListUnread(file, /*is_wanted=*/true));
  if (is_listed) return absl::OkStatus();
  const bool is_asked_for = !options_.as_format.empty();
  const Format* format = is_asked_for ? FormatNamed(options_.as_format) : file.format;
  auto opened = file.Open(format != nullptr && format->importer->maps_large_files);
  SourceRow source = RowOf(file);
  if (!opened.ok()) {
    ++tried_;
    source.note = std::string(Message(opened.status()));
    problems_.push_back(*source.note);
    XP_TRY(int64_t id, store_.Add(source));
    return store_.AddIssue(id, issue_codes::kUnreadableFile, Severity::kWarning, *source.note);
  }
  const absl::Cleanup forget = [&] {
    if (file.archive) file.archive->Forget(file.member);
  };
  // The parts of a dump and standard input were not recognised before.
  if (format == nullptr) format = Recognise(opened->bytes()).format;
  if (format == nullptr) return NotRecognised(file, LookOf(opened->bytes()));
  source.bytes = int64_t(opened->disk().size());
  if (int64_t(opened->bytes().size()) != *source.bytes)
    source.unpacked_bytes = int64_t(opened->bytes().size());
  return ReadAs(*format, file, *opened, std::move(source), place);
}

absl::Status FileReader::ReadAs(const Format& format, const IdentifiedFile& file, InputFile& input,
                                SourceRow source, const Place& place) {
  ++tried_;
  source.format = format.name;
  source.kind = format.kind;
  if (format.framework != Framework::kUnknown) source.framework = format.framework;
  XP_TRY(int64_t id, store_.Add(source));
  ImportContext context(store_, events_, id);
  XP_TRY(TellDamage(file, input, context));
  context.progress = [&](size_t done) {
    TellProgress(file, done);
    input.Forget(done);
  };
  const bool is_part_of_dump = !file.dump.empty();
  if (is_part_of_dump) context.Continue(dumps_[file.dump]);
  absl::Status status = format.Read({file.path.string(), input.bytes()}, context,
                                    /*is_asked_for=*/!options_.as_format.empty());
  if (is_part_of_dump) dumps_[file.dump] = context.position();
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
    return store_.AddIssue(id, issue_codes::kUnreadableFile, Severity::kWarning, problems_.back());
  }
  ++read_;
  AddIdentities(file, format, input, std::move(context.identities));
  if (place.rank) rank_of_source_[id] = *place.rank;
  return store_.Run("UPDATE source SET imported = 1 WHERE id = ?1", id);
}

void FileReader::AddIdentities(const IdentifiedFile& file, const Format& format,
                               const InputFile& input, std::vector<std::string> known) {
  if (known.empty()) known.push_back(ContentIdentity(input.bytes()));
  // A file that was made from this one was also made from the sources of this one.
  if (file.origin) {
    known.insert(known.end(), file.origin->sources.begin(), file.origin->sources.end());
  }
  std::vector<std::string>& all =
      format.kind == SourceKind::kTimed ? timed_identities_ : other_identities_;
  for (std::string& identity : known) {
    if (std::ranges::find(all, identity) == all.end() && all.size() < kMostSources)
      all.push_back(std::move(identity));
  }
}

absl::Status FileReader::NotRecognised(const IdentifiedFile& file, Look look) {
  ++tried_;
  const std::string what =
      fmt::format("{}: not a format that xlaprof knows; its first bytes look like {}",
                  file.path.string(), TextOf(look));
  unknown_.push_back(what);
  if (!file.named && IsDocument(file.path)) return absl::OkStatus();
  SourceRow source = RowOf(file);
  source.note = fmt::format("not recognised: looks like {}", TextOf(look));
  XP_TRY(int64_t id, store_.Add(source));
  if (!file.named) return absl::OkStatus();
  return store_.AddIssue(id, "not_recognised", Severity::kWarning,
                         fmt::format("{}. Try --as with one of: {}", what, FormatNames()));
}

absl::Status FileReader::TellDamage(const IdentifiedFile& file, const InputFile& opened,
                                    ImportContext& context) {
  if (!opened.damage().empty()) {
    XP_TRY(context.Issue(
        issue_codes::kDamagedCoding, Severity::kWarning,
        fmt::format("{}. Everything before that was read. Copy the file again.", opened.damage())));
  }
  if (!file.archive) return absl::OkStatus();
  const std::string& damage = file.archive->members()[file.member].damage;
  if (damage.empty()) return absl::OkStatus();
  return context.Issue(
      "damaged_archive", Severity::kWarning,
      fmt::format("{}. Everything before that was read. Copy the archive again.", damage));
}

absl::Status FileReader::Finish() {
  XP_TRY(NumberRanks());
  XP_TRY(events_.Flush());
  XP_TRY(TellUnboundFlows());
  // The events of the run come from the sources with times. Without one of them, nothing counts
  // twice.
  return SetOrigin({.sources = timed_identities_.empty() ? other_identities_ : timed_identities_},
                   store_);
}

absl::Status FileReader::NumberRanks() {
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

absl::Status FileReader::TellUnboundFlows() {
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

absl::Status FileReader::NothingRead(std::span<const std::string> problems) const {
  constexpr size_t kTold = 20;
  std::string message;
  auto tell = [&](std::string_view line) {
    message += fmt::format("{}{}", message.empty() ? "" : "\n", line);
  };
  auto tell_all = [&](const std::vector<std::string>& lines) {
    for (size_t i = 0; i < std::min(lines.size(), kTold); ++i) tell(Printable(lines[i]));
    if (lines.size() > kTold) tell(fmt::format("and {} more", lines.size() - kTold));
  };
  std::vector<std::string> all(problems.begin(), problems.end());
  all.insert(all.end(), problems_.begin(), problems_.end());
  tell_all(all);
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

void FileReader::TellProgress(const IdentifiedFile& file, size_t done) const {
  if (options_.progress) {
    options_.progress(
        double(done_bytes_ + int64_t(done)) / double(std::max<int64_t>(1, total_bytes_)),
        file.path.filename().string());
  }
}

}  // namespace xlaprof

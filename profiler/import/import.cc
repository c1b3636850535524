#include "profiler/import/import.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "profiler/import/formats.h"
#include "profiler/import/join/join.h"
#include "profiler/import/plan/find_files.h"
#include "profiler/import/plan/identify.h"
#include "profiler/import/plan/places.h"
#include "profiler/import/read_files.h"

namespace xlaprof {
namespace {

// Lists an archive, which holds no facts itself. Its damage is an issue of its own.
absl::Status ListArchive(Store& store, const IdentifiedFile& archive) {
  SourceRow source{
      .path = archive.path.string(), .bytes = archive.bytes, .links_to = archive.links_to};
  source.note = archive.note ? *archive.note : "an archive: its files are listed separately";
  XP_TRY(int64_t id, store.Add(source));
  if (!archive.note) return absl::OkStatus();
  return store.AddIssue(
      id, "damaged_archive", Severity::kWarning,
      fmt::format("{}. The readable part was imported. Copy or pack it again.", *archive.note));
}

absl::Status ListUnread(Store& store, const Listing::Unread& unread) {
  XP_TRY(int64_t id,
         store.Add(SourceRow{
             .path = unread.path.string(), .note = unread.why, .links_to = unread.links_to}));
  if (unread.issue.empty()) return absl::OkStatus();
  return store.AddIssue(id, unread.issue, Severity::kWarning, unread.why);
}

// Writes table run, and gives each process its run. Returns the id of the chosen run.
absl::StatusOr<int64_t> WriteRuns(const RunPlan& plan, Store& store) {
  for (const PlannedRun& run : plan.other_jobs)
    XP_TRY(store.Add(RunRow{.label = run.label, .why = run.why}));
  std::vector<int64_t> ids;
  for (const PlannedRun& run : plan.runs) {
    XP_TRY(int64_t id,
           store.Add(RunRow{.label = run.label, .selected = run.is_chosen, .why = run.why}));
    ids.push_back(id);
  }
  XP_TRY(store.SetMeta("run_label", plan.runs[plan.chosen].label));
  // Sources with fewer segments than the others saw the later runs only.
  std::map<int64_t, int64_t> last_segment;        // by source
  std::vector<std::array<int64_t, 3>> processes;  // id, source, segment
  XP_TRY(store.Each("SELECT id, coalesce(source_id, 0), segment, run_id IS NULL FROM process",
                    [&](int64_t id, int64_t source, int64_t segment, bool has_no_run) {
                      int64_t& last = last_segment.try_emplace(source, segment).first->second;
                      last = std::max(last, segment);
                      if (has_no_run) processes.push_back({id, source, segment});
                    }));
  for (auto [id, source, segment] : processes) {
    const int64_t from_end = last_segment[source] - segment;
    XP_TRY(store.Run("UPDATE process SET run_id = ?2 WHERE id = ?1", id,
                     ids[ids.size() - 1 - size_t(from_end)]));
  }
  return ids[plan.chosen];
}

class Importing {
 public:
  Importing(const ImportOptions& options, Store& store) : options_(options), store_(store) {}

  absl::StatusOr<RunPlan> Plan() {
    if (!options_.as_format.empty() && FormatNamed(options_.as_format) == nullptr) {
      return Invalid("--as {}: no such format. Known: {}", options_.as_format, FormatNames());
    }
    XP_TRY(Listing listing, FindFiles(options_.inputs));
    Identified identified =
        Identify(std::move(listing.files), {.formats_are_given = !options_.as_format.empty()});
    files_ = std::move(identified.files);
    problems_ = std::move(listing.problems);
    problems_.insert(problems_.end(), identified.problems.begin(), identified.problems.end());
    for (const IdentifiedFile& archive : identified.archives) XP_TRY(ListArchive(store_, archive));
    for (const Listing::Unread& unread : listing.unread) XP_TRY(ListUnread(store_, unread));
    places_ = PlaceFiles(files_);
    const JobPlan& job = job_.emplace(files_, places_, options_.run);
    int64_t total_bytes = 0;
    for (const IdentifiedFile& file : files_) total_bytes += file.bytes;
    reader_.emplace(options_, store_, total_bytes);
    // The files to which runs are appended are read first. They show how many runs there are, and
    // so whether the files of a capture are wanted.
    bool has_captures = false;
    for (size_t i = 0; i < files_.size(); ++i) {
      has_captures |= !places_[i].capture.empty() && MayBeRead(files_[i]);
      if (!places_[i].capture.empty()) continue;
      XP_TRY(job.IsShared(places_[i]) ? reader_->Read(files_[i], places_[i])
                                      : reader_->ListOther(files_[i], job.chosen()->label));
    }
    if (reader_->read() == 0 && !has_captures) return reader_->NothingRead(problems_);
    XP_TRY(DivideRuns(store_));
    XP_TRY(auto segments, store_.One<int64_t>("SELECT max(segment) + 1 FROM process"));
    return PlanRuns(job, size_t(segments.value_or(1)));
  }

  absl::Status Run() {
    XP_TRY(const RunPlan plan, Plan());
    XP_TRY(const int64_t run_id, WriteRuns(plan, store_));
    for (size_t i = 0; i < files_.size(); ++i) {
      if (places_[i].capture.empty()) continue;
      const bool is_wanted = plan.takes_capture && job_->IsOfCapture(places_[i]);
      XP_TRY(is_wanted ? reader_->Read(files_[i], places_[i])
                       : reader_->ListOther(files_[i], plan.runs[plan.chosen].label));
    }
    XP_TRY(store_.Run("UPDATE process SET run_id = ?1 WHERE run_id IS NULL", run_id));
    XP_TRY(reader_->Finish());
    if (reader_->read() == 0) return reader_->NothingRead(problems_);
    return JoinSources(store_);
  }

 private:
  const ImportOptions& options_;
  Store& store_;
  std::vector<std::string> problems_;  // one line each: inputs that could not be found or listed
  std::vector<IdentifiedFile> files_;
  std::vector<Place> places_;  // of files_
  std::optional<JobPlan> job_;
  std::optional<FileReader> reader_;
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

absl::StatusOr<RunPlan> PlanImport(const ImportOptions& options) {
  XP_TRY(Store store, Store::CreateTemporary());
  XP_TRY(store.Begin());
  return Importing(options, store).Plan();
}

}  // namespace xlaprof

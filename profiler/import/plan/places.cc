#include "profiler/import/plan/places.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/numbers.h"

namespace xlaprof {
namespace {

struct Trace {
  const IdentifiedFile* file = nullptr;
  Place* place = nullptr;
  // Times of the trace's own clock if it is not known when it began.
  int64_t begin_ns = 0, end_ns = 0;

  const TraceSpan& span() const { return *file->span; }
};

bool AreOneJob(const Trace& trace_a, const Trace& trace_b) {
  const TraceSpan &a = trace_a.span(), &b = trace_b.span();
  if (a.base_epoch_ns.has_value() != b.base_epoch_ns.has_value()) return false;
  if (a.world_size != b.world_size) return false;
  if (a.rank.has_value() != b.rank.has_value()) return false;
  if (a.rank && a.rank == b.rank) return false;
  // Without a clock, times say nothing: ranks alone decide.
  if (!a.base_epoch_ns) return a.rank.has_value();
  return trace_a.begin_ns <= trace_b.end_ns && trace_b.begin_ns <= trace_a.end_ns;
}

std::string NameOf(const Trace& first) {
  if (!first.span().base_epoch_ns) return first.file->path.filename().string();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(time_t(first.begin_ns / 1'000'000'000)));
}

void NameCaptures(std::vector<Trace>& traces) {
  std::ranges::stable_sort(traces, {}, &Trace::begin_ns);
  std::vector<std::vector<Trace*>> captures;
  for (Trace& trace : traces) {
    auto fits = [&](const std::vector<Trace*>& capture) {
      return std::ranges::all_of(capture,
                                 [&](const Trace* other) { return AreOneJob(*other, trace); });
    };
    auto capture = std::ranges::find_if(captures, fits);
    if (capture == captures.end()) capture = captures.insert(captures.end(), std::vector<Trace*>());
    capture->push_back(&trace);
  }
  if (captures.size() < 2) return;
  std::map<std::string, int> names;
  for (const auto& capture : captures) ++names[NameOf(*capture.front())];
  for (const auto& capture : captures) {
    std::string name = NameOf(*capture.front());
    if (names[name] > 1) name += " " + capture.front()->file->path.filename().string();
    for (Trace* trace : capture) {
      trace->place->capture = name;
      trace->place->is_of_traces = true;
    }
  }
}

// Groups traces that are next to one another. The ranks of one job that were recorded together are
// one capture, which is named by the time of its recording; all other traces are captures of their
// own. Does nothing in a job with one trace, or whose captures have RUN folders. `places` are those of
// `files`, with their roots.
void GroupTraces(std::span<const IdentifiedFile> files, std::vector<Place>& places) {
  std::map<std::filesystem::path, std::vector<Trace>> traces;  // by root
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].span) continue;
    const TraceSpan& span = *files[i].span;
    Trace trace{.file = &files[i], .place = &places[i]};
    const int64_t base_ns = span.base_epoch_ns.value_or(0);
    if (span.first_ns <= span.last_ns &&
        !__builtin_add_overflow(span.first_ns, base_ns, &trace.begin_ns) &&
        !__builtin_add_overflow(span.last_ns, base_ns, &trace.end_ns))
      traces[places[i].root].push_back(trace);
  }
  // RUN folders separate the captures already.
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].run_folder.empty() && MayBeRead(files[i])) traces.erase(places[i].root);
  }
  for (auto& [root, found] : traces) NameCaptures(found);
}

namespace fs = std::filesystem;

// Returns the folder that holds the `plugins` of a profile's plugins/profile/RUN.
fs::path FolderOfPlugins(const IdentifiedFile& file) {
  return file.path.parent_path().parent_path().parent_path().parent_path();
}

bool HasOwnFolder(const IdentifiedFile& file) {
  return file.format != nullptr && file.format->importer->has_own_folder;
}

// Returns the nearest of `folders` from `folder` on upwards, or `folder` if there is none.
fs::path NearestAbove(const fs::path& folder, const std::set<fs::path>& folders) {
  for (fs::path above = folder; !above.empty(); above = above.parent_path()) {
    if (folders.contains(above)) return above;
    if (above == above.parent_path()) break;
  }
  return folder;
}

// Counts what a directory has inside, at any depth.
struct Inside {
  int jobs = 0, lone_folders = 0;  // folders of a format that has its own, without a job above
  fs::path job;                    // one of the jobs
};

class Roots {
 public:
  explicit Roots(std::span<const IdentifiedFile> files) {
    for (const IdentifiedFile& file : files) {
      if (!file.run_folder.empty()) profile_folders_.insert(FolderOfPlugins(file));
    }
    for (const IdentifiedFile& file : files) {
      if (!file.named && file.run_folder.empty() && file.dump.empty() && MayBeRead(file) &&
          !HasOwnFolder(file) && !IsBesideProfile(file))
        text_folders_.insert(file.path.parent_path());
    }
    jobs_ = text_folders_;
    for (const fs::path& folder : profile_folders_)
      jobs_.insert(NearestAbove(folder, text_folders_));
    for (const IdentifiedFile& file : files) {
      const fs::path folder = file.path.parent_path();
      if (!file.named && file.run_folder.empty() && HasOwnFolder(file) &&
          !jobs_.contains(NearestAbove(folder, jobs_)))
        lone_folders_.insert(folder);
    }
    for (const fs::path& path : jobs_) Count(path, true);
    for (const fs::path& path : lone_folders_) Count(path, false);
  }

  fs::path Of(const IdentifiedFile& file) const {
    const fs::path folder = file.path.parent_path();
    if (file.named) return "";
    if (!file.run_folder.empty()) return NearestAbove(FolderOfPlugins(file), text_folders_);
    if (HasOwnFolder(file))
      return lone_folders_.contains(folder) ? JobBeside(folder) : NearestAbove(folder, jobs_);
    const bool is_rest_of_dump = file.path.extension() == ".*";
    if (!file.dump.empty() || IsBesideProfile(file) || is_rest_of_dump)
      return NearestAbove(folder, text_folders_);
    return folder;
  }

 private:
  bool IsBesideProfile(const IdentifiedFile& file) const {
    return file.format != nullptr && file.format->kind == SourceKind::kTimed &&
           profile_folders_.contains(file.path.parent_path());
  }

  void Count(const fs::path& path, bool is_job) {
    for (fs::path above = path.parent_path();; above = above.parent_path()) {
      Inside& in = inside_[above];
      ++(is_job ? in.jobs : in.lone_folders);
      if (is_job) in.job = path;
      if (above.empty() || above == above.parent_path()) break;
    }
  }

  // Returns the job beside `folder`: the only one in the nearest directory above that holds any, if
  // `folder` is the only one of its kind there. Otherwise it is not known whose files are in
  // `folder`, so it returns `folder`.
  fs::path JobBeside(const fs::path& folder) const {
    for (fs::path above = folder.parent_path();; above = above.parent_path()) {
      const Inside& in = inside_.at(above);
      if (in.jobs == 1 && in.lone_folders == 1) return in.job;
      if (in.jobs > 0 || above.empty() || above == above.parent_path()) return folder;
    }
  }

  std::set<fs::path> profile_folders_;  // they hold `plugins`
  std::set<fs::path> text_folders_, jobs_, lone_folders_;
  std::map<fs::path, Inside> inside_;
};

// Lets files in directories and archives belong to the job of the files that were named beside
// them, if they are one job.
void JoinNamed(std::span<const IdentifiedFile> files, std::vector<Place>& places) {
  std::map<const Archive*, std::set<fs::path>> roots;
  bool some_are_named = false;
  for (size_t i = 0; i < files.size(); ++i) {
    some_are_named |= files[i].named;
    if (!files[i].named && MayBeRead(files[i]))
      roots[files[i].archive.get()].insert(places[i].root);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const Archive* archive = files[i].archive.get();
    const bool is_asked_for = archive == nullptr ? some_are_named : files[i].is_in_named_archive;
    if (is_asked_for && roots[archive].size() == 1) places[i].root.clear();
  }
}

// Returns the ordinal of the process or device that torch_xla appends to a name: 3 for
// `metrics.txt.3` and `save.txt.3`.
std::optional<int64_t> OrdinalSuffix(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension.size() < 2 || extension.size() > 5) return {};
  return ParseCount(std::string_view(extension).substr(1));
}

// `.0` alone means nothing; `.0` beside `.1` are the ranks of a job.
void FindRanks(std::span<const IdentifiedFile> files, std::vector<Place>& places) {
  std::map<std::string, int> count;  // of files that differ by their ordinal only
  const auto stem = [](const fs::path& path) {
    return fs::path(path).replace_extension().string();
  };
  for (const IdentifiedFile& file : files) {
    if (OrdinalSuffix(file.path)) ++count[stem(file.path)];
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const auto ordinal = OrdinalSuffix(files[i].path);
    if (ordinal && count[stem(files[i].path)] > 1) places[i].rank = ordinal;
  }
}

}  // namespace

std::vector<Place> PlaceFiles(std::span<const IdentifiedFile> files) {
  const Roots roots(files);
  std::vector<Place> places;
  for (const IdentifiedFile& file : files)
    places.push_back({.root = roots.Of(file), .capture = file.run_folder, .rank = {}});
  JoinNamed(files, places);
  FindRanks(files, places);
  GroupTraces(files, places);
  return places;
}

}  // namespace xlaprof

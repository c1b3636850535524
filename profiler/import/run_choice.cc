#include "profiler/import/run_choice.h"

#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

namespace xlaprof {

namespace fs = std::filesystem;

namespace {

// Returns the name of the only run: that of its only file, or else of the folder of its files.
std::string NameOf(std::span<const FoundFile> files) {
  fs::path name;
  for (const FoundFile& file : files) {
    if (!MayBeRead(file)) continue;
    name = name.empty() ? file.path : file.root;
  }
  return name.has_filename() ? name.filename().string() : "the run";
}

// Returns the digits of the time that a run is named by, such as 2026_11_21_03_04_55; "" for other
// names.
std::string TimeIn(std::string_view run) {
  constexpr size_t kDate = 8;
  if (run.empty() || run.front() < '0' || run.front() > '9') return "";
  std::string digits(run);
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  return digits.size() < kDate ? "" : digits;
}

// Returns whether the files of a run that is named by its time are as old as its name says, in
// whatever time zone. If they are not, they are copies.
bool AreAsOldAs(const std::string& time, int64_t modified_ns) {
  absl::Time named;
  constexpr size_t kSecond = 14;
  const std::string digits = (time + "000000").substr(0, kSecond);
  if (!absl::ParseTime("%E4Y%m%d%H%M%S", digits, &named, nullptr)) return false;
  return absl::AbsDuration(absl::FromUnixNanos(modified_ns) - named) < absl::Hours(24);
}

// Returns whether `path` is inside a folder `part`. "/tb/fallback_1/plugins" is inside "fallback_1"
// and "tb/fallback_1", not inside "fallback".
bool LiesUnder(const fs::path& path, const std::string& part) {
  return fmt::format("/{}/", path.generic_string()).find(fmt::format("/{}/", part)) !=
         std::string::npos;
}

}  // namespace

void RunChoice::FromFolders(std::span<const FoundFile> files, std::string_view wanted) {
  wanted_ = wanted;
  struct Root {
    int64_t modified_ns = 0;
    std::map<std::string, std::pair<bool, int64_t>> runs;  // by name: it is of traces, time of its
                                                           // newest file
  };
  std::map<fs::path, Root> roots;
  for (const FoundFile& file : files) {
    if (!MayBeRead(file)) continue;
    Root& root = roots[file.root];
    root.modified_ns = std::max(root.modified_ns, file.modified_ns);
    if (file.run.empty()) continue;
    auto& [is_traces, modified_ns] = root.runs[file.run];
    is_traces |= file.is_trace;
    modified_ns = std::max(modified_ns, file.modified_ns);
  }
  bool are_copies = false;  // some files of runs that are named by their time are copies
  for (const auto& [path, root] : roots) {
    const std::string prefix = roots.size() > 1 ? path.string() : "";
    std::string newest;
    for (const auto& [run, found] : root.runs) {
      const std::string time = TimeIn(run);
      newest = std::max(newest, time);
      are_copies |= !time.empty() && !AreAsOldAs(time, found.second);
    }
    for (const auto& [run, found] : root.runs) {
      runs_.push_back({path, run, prefix.empty() ? run : prefix + "/" + run, found.first, newest,
                       root.modified_ns});
    }
    if (root.runs.empty())
      runs_.push_back(
          {path, "", prefix.empty() ? NameOf(files) : prefix, false, "", root.modified_ns});
  }
  if (runs_.empty()) return;
  Order(are_copies);
  chosen_ = runs_.size() - 1;
  if (!wanted_.empty()) Find();
}

void RunChoice::Order(bool files_are_copies) {
  std::ranges::stable_sort(runs_, {}, [](const Candidate& run) {
    return std::tuple(!run.time.empty(), run.time, run.modified_ns, run.root, run.folder);
  });
  const auto named =
      std::ranges::partition_point(runs_, [](const Candidate& run) { return run.time.empty(); });
  const bool has_both = named != runs_.begin() && named != runs_.end();
  if (has_both && !files_are_copies && std::prev(named)->modified_ns > runs_.back().modified_ns)
    std::rotate(runs_.begin(), named, runs_.end());
  const size_t count = runs_.size();
  by_name_ =
      !runs_.back().time.empty() || (count > 1 && runs_[count - 1].root == runs_[count - 2].root);
}

// Finds the run that `wanted_` names. If it finds none, `wanted_` may name a run inside a text
// file.
void RunChoice::Find() {
  std::vector<size_t> under;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const Candidate& run = runs_[i];
    if (wanted_ == run.label || (!run.folder.empty() && wanted_ == run.folder)) {
      chosen_ = i;
      found_ = true;
    }
    if (LiesUnder(run.root / run.folder, wanted_)) under.push_back(i);
  }
  if (found_ || under.size() != 1) return;
  chosen_ = under.front();
  found_ = true;
}

bool RunChoice::Wants(const FoundFile& file) const {
  if (runs_.empty()) return true;
  const Candidate& run = runs_[chosen_];
  return file.root == run.root &&
         (file.run.empty() || (file.run == run.folder && folder_selected_));
}

const std::string& RunChoice::label() const {
  return label_.empty() && !runs_.empty() ? runs_[chosen_].label : label_;
}

absl::Status RunChoice::Select(std::vector<RunRow>& rows) const {
  bool found = false;
  for (RunRow& row : rows) {
    row.selected = row.label == wanted_;
    found |= row.selected;
  }
  if (found) return absl::OkStatus();
  std::string labels;
  for (const RunRow& row : rows) labels += fmt::format("\n  {}", row.label);
  for (const Candidate& run : runs_) {
    if (run.root != runs_[chosen_].root) labels += fmt::format("\n  {}", run.label);
  }
  return NotFound("--run {}: no such run. The runs are:{}", wanted_, labels);
}

absl::Status RunChoice::FromSegments(Store& store) {
  XP_TRY(auto segments, store.One<int64_t>("SELECT max(segment) + 1 FROM process"));
  const int64_t text_runs = segments.value_or(1);
  std::vector<size_t> folder_runs;  // runs of the chosen root, oldest first
  const Candidate& chosen = runs_[chosen_];
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].root == chosen.root && !runs_[i].folder.empty()) folder_runs.push_back(i);
  }
  const int64_t count = std::max<int64_t>(text_runs, std::max<size_t>(1, folder_runs.size()));
  const bool is_newest = runs_.size() > 1 && wanted_.empty();
  std::vector<RunRow> rows;
  for (int64_t i = 0; i < count; ++i) {
    const size_t from_end = size_t(count - 1 - i);
    const Candidate* folder = from_end < folder_runs.size()
                                  ? &runs_[folder_runs[folder_runs.size() - 1 - from_end]]
                                  : nullptr;
    RunRow row{.label = folder != nullptr ? folder->label : fmt::format("{} of {}", i + 1, count)};
    row.selected = folder != nullptr && folder->folder == chosen.folder;
    row.why = folder == nullptr   ? "a restart mark in a file to which runs append"
              : folder->is_traces ? "traces that were recorded together"
                                  : "its own folder under plugins/profile";
    if (row.selected && is_newest)
      row.why += fmt::format(", the newest by {}", by_name_ ? "its name" : "the time of its files");
    rows.push_back(row);
  }
  if (folder_runs.empty()) {
    rows.back().selected = true;
    if (count == 1) {
      rows.back().label = chosen.label;
      rows.back().why = runs_.size() == 1 ? "the only one in these files"
                        : is_newest       ? "the newest directory by the time of its files"
                                          : "a directory of its own";
    }
  }
  if (!wanted_.empty() && !found_) XP_TRY(Select(rows));
  for (const Candidate& run : runs_) {  // other jobs under the given directory: listed
    if (run.root != chosen.root)
      XP_TRY(store.Add(RunRow{.label = run.label, .why = "another directory"}));
  }
  std::vector<int64_t> ids;
  for (const RunRow& row : rows) {
    XP_TRY(int64_t id, store.Add(row));
    ids.push_back(id);
    if (!row.selected) continue;
    XP_TRY(store.SetMeta("run_label", row.label));
    run_id_ = id;
    label_ = row.label;
    folder_selected_ = folder_runs.empty() || row.label == chosen.label;
  }
  // Sources with fewer segments than the others saw the later runs only.
  std::map<int64_t, int64_t> last_segment;        // by source
  std::vector<std::array<int64_t, 3>> processes;  // id, source, segment
  XP_TRY(store.Each("SELECT id, coalesce(source_id, 0), segment, run_id IS NULL FROM process",
                    [&](int64_t id, int64_t source, int64_t segment, bool homeless) {
                      int64_t& last = last_segment.try_emplace(source, segment).first->second;
                      last = std::max(last, segment);
                      if (homeless) processes.push_back({id, source, segment});
                    }));
  for (auto [id, source, segment] : processes) {
    const int64_t from_end = last_segment[source] - segment;
    XP_TRY(store.Run("UPDATE process SET run_id = ?2 WHERE id = ?1", id,
                     ids[size_t(count - 1 - from_end)]));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof

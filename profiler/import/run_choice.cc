#include "profiler/import/run_choice.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace xlaprof {

namespace fs = std::filesystem;

namespace {

// What the only run is called: as its only file, or else as the folder of its files.
std::string NameOf(std::span<const FoundFile> files) {
  fs::path name;
  for (const FoundFile& file : files) {
    if (file.derived_from) continue;
    name = name.empty() ? file.path : file.root;
  }
  return name.has_filename() ? name.filename().string() : "the run";
}

// The digits of the time that a run is named by, such as 2026_11_21_03_04_55; of other names none.
std::string TimeIn(std::string_view run) {
  constexpr size_t kDate = 8;
  if (run.empty() || run.front() < '0' || run.front() > '9') return "";
  std::string digits(run);
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  return digits.size() < kDate ? "" : digits;
}

}  // namespace

void RunChoice::FromFolders(std::span<const FoundFile> files, std::string_view wanted) {
  wanted_ = wanted;
  std::map<fs::path, int64_t> newest_of_root;
  std::set<std::pair<fs::path, std::string>> folders, traces;  // traces: those that are no folders
  for (const FoundFile& file : files) {
    if (file.derived_from) continue;
    int64_t& newest = newest_of_root[file.root];
    newest = std::max(newest, file.modified_ns);
    if (file.run.empty()) continue;
    if (file.is_trace) traces.insert({file.root, file.run});
    folders.insert({file.root, file.run});
  }
  for (const auto& [root, newest] : newest_of_root) {
    std::string prefix = newest_of_root.size() > 1 ? root.string() : "";
    const size_t before = runs_.size();
    for (const auto& key : folders) {
      if (key.first != root) continue;
      runs_.push_back({root, key.second, prefix.empty() ? key.second : prefix + "/" + key.second,
                       traces.contains(key)});
    }
    if (runs_.size() == before)
      runs_.push_back({root, "", prefix.empty() ? NameOf(files) : prefix});
  }
  // Runs are named by their time, and files may have been copied: names decide within a root, and
  // between roots where each has such a name.
  std::map<fs::path, std::string> times;
  for (const Candidate& run : runs_)
    times[run.root] = std::max(times[run.root], TimeIn(run.folder));
  const bool by_name = std::ranges::none_of(times, &std::string::empty,
                                            [](const auto& root) { return root.second; });
  auto age = [&](const Candidate& run) {
    return std::tuple(by_name ? times[run.root] : "", newest_of_root[run.root], run.root,
                      run.folder);
  };
  std::ranges::stable_sort(runs_, {}, age);
  if (runs_.empty()) return;
  chosen_ = runs_.size() - 1;
  if (wanted_.empty()) return;
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (wanted_ == runs_[i].label || (!runs_[i].folder.empty() && wanted_ == runs_[i].folder)) {
      chosen_ = i;
      found_ = true;
    }
  }  // else it may name a run inside a text file
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
  return NotFound("--run {}: no such run. There are:{}", wanted_, labels);
}

absl::Status RunChoice::FromSegments(Store& store) {
  XP_TRY(auto segments, store.One<int64_t>("SELECT max(segment) + 1 FROM process"));
  const int64_t text_runs = segments.value_or(1);
  std::vector<size_t> folder_runs;  // of the chosen root, oldest first
  const Candidate& chosen = runs_[chosen_];
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].root == chosen.root && !runs_[i].folder.empty()) folder_runs.push_back(i);
  }
  const int64_t count = std::max<int64_t>(text_runs, std::max<size_t>(1, folder_runs.size()));
  std::vector<RunRow> rows;
  for (int64_t i = 0; i < count; ++i) {
    const size_t from_end = size_t(count - 1 - i);
    const Candidate* folder = from_end < folder_runs.size()
                                  ? &runs_[folder_runs[folder_runs.size() - 1 - from_end]]
                                  : nullptr;
    RunRow row{.label = folder != nullptr ? folder->label : fmt::format("{} of {}", i + 1, count)};
    row.selected = folder != nullptr && folder->folder == chosen.folder;
    row.why = folder == nullptr   ? "restart mark in a file that is appended to"
              : folder->is_traces ? "traces that were recorded together"
                                  : "its own folder under plugins/profile";
    rows.push_back(row);
  }
  if (folder_runs.empty()) {
    rows.back().selected = true;
    if (count == 1)
      rows.back().label = chosen.label, rows.back().why = "the only one in these files";
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
  std::map<int64_t, int64_t> last_segment;        // of each source
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

#include "profiler/import/plan/run_plan.h"

#include <absl/time/time.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Returns the name of the only run: that of its only file, or else of the folder of its files.
std::string NameOfOnlyRun(std::span<const IdentifiedFile> files, std::span<const Place> places) {
  fs::path name;
  for (size_t i = 0; i < files.size(); ++i) {
    if (MayBeRead(files[i])) name = name.empty() ? files[i].path : places[i].root;
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

JobPlan::JobPlan(std::span<const IdentifiedFile> files, std::span<const Place> places,
                 std::string_view wanted)
    : wanted_(wanted) {
  struct InRoot {
    bool is_of_traces = false;
    int64_t modified_ns = 0;  // time of its newest file
    size_t files = 0;
  };
  struct Root {
    int64_t modified_ns = 0;
    size_t shared_files = 0;
    std::map<std::string, InRoot> captures;  // by name
  };
  std::map<fs::path, Root> roots;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!MayBeRead(files[i])) continue;
    Root& root = roots[places[i].root];
    root.modified_ns = std::max(root.modified_ns, files[i].modified_ns);
    if (places[i].capture.empty()) {
      ++root.shared_files;
      continue;
    }
    InRoot& capture = root.captures[places[i].capture];
    ++capture.files;
    capture.is_of_traces |= places[i].is_of_traces;
    capture.modified_ns = std::max(capture.modified_ns, files[i].modified_ns);
  }
  bool are_copies = false;  // some files of captures that are named by their time are copies
  for (const auto& [path, root] : roots) {
    const std::string prefix = roots.size() > 1 ? path.string() : "";
    std::string newest;
    for (const auto& [name, capture] : root.captures) {
      const std::string time = TimeIn(name);
      newest = std::max(newest, time);
      are_copies |= !time.empty() && !AreAsOldAs(time, capture.modified_ns);
    }
    for (const auto& [name, capture] : root.captures) {
      captures_.push_back({.root = path,
                           .name = name,
                           .label = prefix.empty() ? name : prefix + "/" + name,
                           .is_of_traces = capture.is_of_traces,
                           .files = root.shared_files + capture.files,
                           .time = newest,
                           .modified_ns = root.modified_ns});
    }
    if (!root.captures.empty()) continue;
    captures_.push_back({.root = path,
                         .name = "",
                         .label = prefix.empty() ? NameOfOnlyRun(files, places) : prefix,
                         .files = root.shared_files,
                         .time = "",
                         .modified_ns = root.modified_ns});
  }
  if (captures_.empty()) return;
  Order(are_copies);
  chosen_ = captures_.size() - 1;
  if (!wanted_.empty()) Find();
}

void JobPlan::Order(bool files_are_copies) {
  std::ranges::stable_sort(captures_, {}, [](const Capture& capture) {
    return std::tuple(!capture.time.empty(), capture.time, capture.modified_ns, capture.root,
                      capture.name);
  });
  const auto named = std::ranges::partition_point(
      captures_, [](const Capture& capture) { return capture.time.empty(); });
  const bool has_both = named != captures_.begin() && named != captures_.end();
  if (has_both && !files_are_copies && std::prev(named)->modified_ns > captures_.back().modified_ns)
    std::rotate(captures_.begin(), named, captures_.end());
  const size_t count = captures_.size();
  by_name_ = !captures_.back().time.empty() ||
             (count > 1 && captures_[count - 1].root == captures_[count - 2].root);
}

void JobPlan::Find() {
  std::vector<size_t> under;
  for (size_t i = 0; i < captures_.size(); ++i) {
    const Capture& capture = captures_[i];
    if (wanted_ == capture.label || (!capture.name.empty() && wanted_ == capture.name)) {
      chosen_ = i;
      found_ = true;
    }
    if (LiesUnder(capture.root / capture.name, wanted_)) under.push_back(i);
  }
  if (found_ || under.size() != 1) return;
  chosen_ = under.front();
  found_ = true;
}

bool JobPlan::IsShared(const Place& place) const {
  return chosen() == nullptr || (place.root == chosen()->root && place.capture.empty());
}

bool JobPlan::IsOfCapture(const Place& place) const {
  return chosen() != nullptr && place.root == chosen()->root && !place.capture.empty() &&
         place.capture == chosen()->name;
}

std::string_view JobPlan::why_newest() const {
  return by_name_ ? "by its name" : "by the time of its files";
}

namespace {

// Chooses the run that the user wants.
absl::Status Choose(const JobPlan& job, RunPlan& plan) {
  const auto found = std::ranges::find(plan.runs, job.wanted(), &PlannedRun::label);
  if (found != plan.runs.end()) {
    plan.chosen = size_t(found - plan.runs.begin());
    return absl::OkStatus();
  }
  std::string labels;
  for (const auto* runs : {&plan.runs, &plan.other_jobs}) {
    for (const PlannedRun& run : *runs) labels += fmt::format("\n  {}", run.label);
  }
  return NotFound("--run {}: no such run. The runs are:{}", job.wanted(), labels);
}

}  // namespace

absl::StatusOr<RunPlan> PlanRuns(const JobPlan& job, size_t shared_runs) {
  if (job.chosen() == nullptr)
    return RunPlan{.runs = {{.label = "the run", .why = "the only one in these files"}}};
  const JobPlan::Capture& chosen = *job.chosen();
  const bool is_newest = job.captures().size() > 1 && job.wanted().empty();
  RunPlan plan;
  std::vector<const JobPlan::Capture*> captures;  // those of the job, oldest first
  for (const JobPlan::Capture& capture : job.captures()) {
    if (capture.root != chosen.root)
      plan.other_jobs.push_back(
          {.label = capture.label, .why = "another directory", .files = capture.files});
    else if (!capture.name.empty())
      captures.push_back(&capture);
  }
  const size_t count = std::max<size_t>({1, shared_runs, captures.size()});
  const size_t older = count - captures.size();  // runs before the first capture
  for (size_t i = 0; i < count; ++i) {
    if (i < older) {
      plan.runs.push_back({.label = fmt::format("{} of {}", i + 1, count),
                           .why = "a restart mark in a file to which runs append",
                           .files = chosen.files});
      continue;
    }
    const JobPlan::Capture& capture = *captures[i - older];
    PlannedRun run{.label = capture.label, .files = capture.files};
    run.why = capture.is_of_traces ? "traces that were recorded together"
                                   : "its own folder under plugins/profile";
    if (capture.name == chosen.name) {
      plan.chosen = i;
      if (is_newest) run.why += fmt::format(", the newest {}", job.why_newest());
    }
    plan.runs.push_back(std::move(run));
  }
  if (captures.empty()) {
    plan.chosen = count - 1;
    if (count == 1) {
      plan.runs.back().label = chosen.label;
      plan.runs.back().why = job.captures().size() == 1 ? "the only one in these files"
                             : is_newest ? "the newest directory by the time of its files"
                                         : "a directory of its own";
    }
  }
  if (!job.wanted().empty() && !job.found_wanted()) XP_TRY(Choose(job, plan));
  plan.runs[plan.chosen].is_chosen = true;
  plan.takes_capture = captures.empty() || plan.runs[plan.chosen].label == chosen.label;
  return plan;
}

}  // namespace xlaprof

// The fourth stage of an import, which opens no file either: tells which runs there are and which
// of them is read, the newest or the one that the user names.
//
// Runs become known in two steps. Jobs, and the captures in them, are known before anything is read
// (JobPlan). Restart marks, inside the files that runs are appended to, are known when those of the
// chosen job were read (PlanRuns).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/import/plan/identify.h"
#include "profiler/import/plan/places.h"

namespace xlaprof {

class JobPlan {
 public:
  // A capture of a job, or a job whose files are of no capture.
  struct Capture {
    std::filesystem::path root;
    std::string name;   // Place::capture
    std::string label;  // what --run takes
    bool is_of_traces = false;
    size_t files = 0;         // how many of its files may be read, with those that it shares
    std::string time;         // digits of the newest name of its root; "": none has a time
    int64_t modified_ns = 0;  // time of the newest file of its root
  };

  // Chooses the newest capture, or the one that `wanted` (--run; "" for none) names: a label, a
  // RUN folder, or a part of a path that only one capture has. Captures that are named by their
  // time are ordered by it. They count as newer than others, whose files may be copies. If the
  // files of captures that are named by their time are not copies, the times of the files decide
  // instead which kind is newer.
  JobPlan(std::span<const IdentifiedFile> files, std::span<const Place> places,
          std::string_view wanted);

  // Returns all captures, the newest last.
  std::span<const Capture> captures() const { return captures_; }
  // Returns the chosen capture; null if no file may be read.
  const Capture* chosen() const { return captures_.empty() ? nullptr : &captures_[chosen_]; }
  // Returns whether a file at this place is of the chosen job and of no capture: runs may be
  // appended to it.
  bool IsShared(const Place& place) const;
  // Returns whether a file at this place is of the chosen capture.
  bool IsOfCapture(const Place& place) const;
  // Returns whether `wanted` names one of captures(). If not, it may name a run inside a file.
  bool found_wanted() const { return found_; }
  const std::string& wanted() const { return wanted_; }
  // Returns why the chosen capture is the newest: "by its name" or "by the time of its files".
  std::string_view why_newest() const;

 private:
  void Order(bool files_are_copies);
  void Find();

  std::string wanted_;
  std::vector<Capture> captures_;
  size_t chosen_ = 0;
  bool found_ = false;
  bool by_name_ = false;
};

struct PlannedRun {
  std::string label;  // what --run takes
  std::string why;    // how it is told from the others
  bool is_chosen = false;
  size_t files = 0;  // how many files may be read for it
};

struct RunPlan {
  std::vector<PlannedRun> other_jobs;  // runs of other directories
  std::vector<PlannedRun> runs;        // runs of the chosen job, oldest first
  size_t chosen = 0;                   // place in `runs`
  // True if the chosen run is that of the chosen capture; false: it is an older one, which only the
  // shared files show.
  bool takes_capture = true;
};

// Plans the runs of the chosen job, whose shared files show `shared_runs` runs (at least 1). Files
// show the latest runs: the last run of each file is the newest. Returns NotFound if the run that
// the user wants is not among them; the message lists the runs.
absl::StatusOr<RunPlan> PlanRuns(const JobPlan& job, size_t shared_runs);

}  // namespace xlaprof

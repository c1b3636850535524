// Chooses which of the runs in the files is read: the newest, or the one that the user names.
#pragma once

#include <string>
#include <vector>

#include "profiler/import/found_files.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Runs become known in two steps. Folders (a root, and in it RUN folders of profiles) are known
// before anything is read. Restart marks, inside the files that runs are appended to, are known
// only afterwards.
class RunChoice {
 public:
  // Finds runs by root and RUN folder. Chooses the newest, or the one that `wanted` (--run; "" for
  // none) names: a label, a RUN folder, or a part of a path that only one run has. Runs that are
  // named by their time are ordered by it. They count as newer than others, whose files may be
  // copies. If the files of runs that are named by their time are not copies, the times of the
  // files decide instead which kind is newer.
  void FromFolders(std::span<const FoundFile> files, std::string_view wanted);
  // Call it after the text files were read and before the profiles are. It gives each segment of
  // the text files its run, counted from the end, because the last segment is the newest run's, and
  // writes table run. Returns NotFound if `wanted` is not a run; the message lists the runs.
  absl::Status FromSegments(Store& store);

  bool Wants(const FoundFile& file) const;
  // Returns the label of the chosen run, for people.
  const std::string& label() const;
  int64_t run_id() const { return run_id_; }  // row of table run; set by FromSegments

 private:
  struct Candidate {
    std::filesystem::path root;
    std::string folder, label;
    bool is_traces = false;   // no folder: Chrome traces that were recorded together
    std::string time;         // digits of the newest name of its root; "": none has a time
    int64_t modified_ns = 0;  // time of the newest file of its root
  };
  void Order(bool files_are_copies);
  void Find();
  absl::Status Select(std::vector<RunRow>& rows) const;

  std::string wanted_;
  std::vector<Candidate> runs_;  // newest last
  size_t chosen_ = 0;
  bool found_ = false;    // `wanted_` is one of runs_
  bool by_name_ = false;  // the newest run is known by its name, not by the time of its files
  // True if the run is that of the chosen RUN folder, not only one of an appended file.
  bool folder_selected_ = true;
  std::string label_;  // label of the run, once it is known
  int64_t run_id_ = 0;
};

}  // namespace xlaprof

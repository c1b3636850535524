// Which run of those that files tell of is read: the newest, or the one that the user names.
#pragma once

#include <string>
#include <vector>

#include "profiler/import/found_files.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Runs are known in two steps: folders (a root, in it RUN folders of profiles) before anything is
// read, restart marks inside the files that runs are appended to only afterwards.
class RunChoice {
 public:
  // By root and RUN folder; chosen is the newest, or what `wanted` (--run; "" for none) says.
  void FromFolders(std::span<const FoundFile> files, std::string_view wanted);
  // After the text files were read and before the profiles are: gives each segment of the text
  // files its run, counted from the end, since the last segment is the newest run's, and writes
  // table run. NotFound when `wanted` is no run; the message lists them.
  absl::Status FromSegments(Store& store);

  bool Wants(const FoundFile& file) const;
  // Of the chosen run, for people.
  const std::string& label() const;
  int64_t run_id() const { return run_id_; }  // row of table run; after FromSegments

 private:
  struct Candidate {
    std::filesystem::path root;
    std::string folder, label;
    bool is_traces = false;  // no folder: Chrome traces that were recorded together
  };
  absl::Status Select(std::vector<RunRow>& rows) const;

  std::string wanted_;
  std::vector<Candidate> runs_;  // newest last
  size_t chosen_ = 0;
  bool found_ = false;  // `wanted_` is one of runs_
  bool folder_selected_ =
      true;            // the run is the chosen RUN folder's, not only one of an appended file
  std::string label_;  // of the run, once it is known
  int64_t run_id_ = 0;
};

}  // namespace xlaprof

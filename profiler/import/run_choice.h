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
  // By root and RUN folder; chosen is the newest, or what `wanted` (--run; "" for none) says: a
  // label, a RUN folder, or the part of a path that only one run lies under. Runs that are named by
  // their time are ordered by that; they are newer than others, whose files may be copies, unless
  // the files that have names are no copies.
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
    bool is_traces = false;   // no folder: Chrome traces that were recorded together
    std::string time;         // digits of the newest name of its root; "": none has a time
    int64_t modified_ns = 0;  // newest of its root
  };
  void Order(bool files_are_copies);
  void Find();
  absl::Status Select(std::vector<RunRow>& rows) const;

  std::string wanted_;
  std::vector<Candidate> runs_;  // newest last
  size_t chosen_ = 0;
  bool found_ = false;    // `wanted_` is one of runs_
  bool by_name_ = false;  // the newest is so by its name, not by the time of its files
  bool folder_selected_ =
      true;            // the run is the chosen RUN folder's, not only one of an appended file
  std::string label_;  // of the run, once it is known
  int64_t run_id_ = 0;
};

}  // namespace xlaprof

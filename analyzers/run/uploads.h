// What the host uploads to devices: how much, from which memory, and how often.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// How often each process copied arrays of each size to a device.
struct UploadSizes {
  using Counts = std::map<int64_t, int64_t>;  // uploads, by bytes
  std::map<int64_t, Counts> by_process;

  static absl::StatusOr<UploadSizes> Of(const Run& run);
};

// Finds uploads from pageable memory in a profile of kernels. The driver copies such memory through
// a buffer of its own, so the call that asks for the copy blocks its thread.
struct PageableUploads {
  int64_t count = 0;
  int64_t blocked_ns = 0;     // time of the calls on the host
  int64_t longest_ns = 0;     // the longest of them
  int64_t longest_ts_ns = 0;  // its start
  static absl::StatusOr<PageableUploads> Of(const Run& run);
};

// Finds tensors that the thread that makes the steps uploads one by one, many right after each
// other, such as those of a Python loop that makes a tensor of each list.
struct UploadBursts {
  // The inputs of one line of the user's code that are such uploads.
  struct Line {
    SourcePlace place;
    int64_t inputs = 0;  // of one execution
  };

  int64_t uploads = 0;            // in all bursts of the steady time
  int64_t exposed_ns = 0;         // time of these bursts in which the device was idle
  double per_turn = 0;            // uploads in a steady step, or else for each execution
  bool by_steps = false;          // `per_turn` counts steps
  double share = 0;               // `exposed_ns` as a part of the steady time
  std::vector<Interval> longest;  // the longest bursts, the longest first
  std::vector<Line> lines;        // the most inputs first; empty if they are not known

  static absl::StatusOr<UploadBursts> Of(const Run& run);
};

// Finds out which tensors the thread that makes the steps uploads in each of them.
struct StepUploads {
  std::vector<int64_t> starts_ns;  // of the uploads by the leading thread (HostTimeline), sorted
  bool has_others = false;         // other threads upload as well, as a loader does
  OptReal usual_bytes, largest_bytes;  // of one upload; empty if no source tells sizes
  double per_step = 0;                 // of all threads; 0: unknown
  // The inputs of the graph that the run executes most, if their size and number identify them as
  // what is uploaded. They have a place in the user's code.
  std::optional<InputsOfLine> inputs;

  static absl::StatusOr<StepUploads> Of(const Run& run, int64_t process_id);
};

}  // namespace xlaprof

// Assigns a store's tracks to planes and lines of an XSpace. There is a plane for the host threads
// of each process and one for each of its devices, with the names that XProf's tools expect.
#pragma once

#include <string>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

// A line. Its name is for XProf; viewers show display_name, the track's own name, if it differs.
struct XSpaceLine {
  int64_t track_id = 0;    // ref track
  int64_t id = 0;          // unique in the plane
  int64_t display_id = 0;  // the track's own number, if it is not the id; otherwise 0
  std::string name, display_name;
  bool is_async = false;  // events that belong to no thread
};

// A counter's values. They go into the line of the counter's parent track, or into a line of their
// own.
struct XSpaceCounter {
  int64_t track_id = 0;
  int64_t line_id = 0;
  std::string line_name, name;
};

struct XSpacePlane {
  OptInt process_id;  // ref process
  OptInt pid;         // distinguishes processes; empty for a single one without a number
  std::string name;   // /host:CPU, /device:TPU:0
  OptText device;     // the store's name, unless the plane's name has it
  bool is_device = false;
  bool has_steps = false;  // a line named Steps
  bool is_gpu() const { return name.starts_with("/device:GPU:"); }
  bool is_tpu() const { return name.starts_with("/device:TPU:"); }
  std::vector<XSpaceLine> lines;
  std::vector<XSpaceCounter> counters;
};

// Returns the planes of the chosen part of the run in display order, hosts before devices.
absl::StatusOr<std::vector<XSpacePlane>> XSpaceLayout(const Store& store);

}  // namespace xlaprof

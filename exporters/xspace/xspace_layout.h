// Which planes and lines of an XSpace a store's tracks become: a plane for the host threads of each
// process, one for each of its devices, in the names that XProf's tools look for.
#pragma once

#include <string>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

// A line is named for XProf, and shown by its track's own name where that is another.
struct XSpaceLine {
  int64_t track_id = 0;    // ref track
  int64_t id = 0;          // of the plane's lines alone
  int64_t display_id = 0;  // the track's own number, where it is not the id; 0: it is
  std::string name, display_name;
  bool is_async = false;  // events of no thread
};

// A counter's samples: in the line of the track that it belongs to, else in one of its own.
struct XSpaceCounter {
  int64_t track_id = 0;
  int64_t line_id = 0;
  std::string line_name, name;
};

struct XSpacePlane {
  OptInt process_id;  // ref process
  OptInt pid;         // to tell processes apart; empty where there is one without a number
  std::string name;   // /host:CPU, /device:TPU:0
  OptText device;     // the store's name of it, where the plane's name does not hold it
  bool is_device = false;
  bool has_steps = false;  // a line named Steps
  bool is_gpu() const { return name.starts_with("/device:GPU:"); }
  bool is_tpu() const { return name.starts_with("/device:TPU:"); }
  std::vector<XSpaceLine> lines;
  std::vector<XSpaceCounter> counters;
};

// Planes with what the store's slice holds, hosts before devices, in order of display.
absl::StatusOr<std::vector<XSpacePlane>> XSpaceLayout(const Store& store);

}  // namespace xlaprof

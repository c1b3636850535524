// The figures and words of large_transfer. The figures of a finding depend on what the store holds:
// copies with times, or metrics of their bytes or of their times.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/uploads.h"
#include "profiler/store/store.h"

namespace xlaprof {

// The unit that repeats in a run. Counts of reports without step marks are given per execution.
enum class Turn : uint8_t { kStep, kExecution };

// Copies on the timeline.
struct ExposedCopies {
  Direction direction = Direction::kUnknown;
  double share = 0;  // the part of the steady time that copies took while the device was idle
  OptReal mean_bytes;
  std::vector<OptInt> bytes_of_evidence;  // one per entry of evidence
};

// Copies whose bytes a metric counts.
struct CopiedBytes {
  Direction direction = Direction::kUnknown;
  Turn turn = Turn::kStep;
  double bytes_per_turn = 0, copies_per_turn = 0;
  bool usual_is_known = false;  // false: it may be only the weights' first upload
  double link_bytes_per_second = 0;
  int64_t least_ns_per_turn = 0;  // the time of the bytes at that speed
  int64_t execute_ns_per_turn = 0;
  OptInt timed_ns_per_turn;       // the measured time, if another metric has it
  bool has_first_upload = false;  // the metrics start before the weights were uploaded
  std::string metric;
  double sum_bytes = 0;  // the metric's sum
};

// Tensors of the host that are uploaded one by one.
struct SmallUploads {
  Turn turn = Turn::kStep;
  double uploads_per_turn = 0;
  int64_t mean_ns = 0, execute_ns = 0;
  bool has_first_upload = false;
  bool may_be_weights = false;  // the run is short, so these may only be the weights
};

// Uploads whose times a metric sums up, while nothing counts their bytes.
struct TimedUploads {
  double share = 0;  // the part of the time of uploads, executions and compilations
  int64_t mean_ns = 0;
  int64_t fallback_calls = 0;  // calls of ops without lowering whose results these are; 0: others
};

// Uploads from pageable memory, which block the calling thread.
struct BlockingUploads {
  double share = 0;  // the part of the steady time that the calls took
};

// Many uploads, one right after the other, on the thread that makes the steps.
struct UploadsOneByOne {
  Turn turn = Turn::kStep;
  double uploads_per_turn = 0;
  double share = 0;  // the part of the steady time that they took while the device was idle
  std::vector<UploadBursts::Line> lines;  // the most inputs first; empty if they are not known
};

using LargeTransferFigures = std::variant<ExposedCopies, CopiedBytes, SmallUploads, TimedUploads,
                                          BlockingUploads, UploadsOneByOne>;

// Says what is copied, how long that takes, and how to copy less.
Words SayLargeTransfer(const Finding& finding, Framework framework);

}  // namespace xlaprof

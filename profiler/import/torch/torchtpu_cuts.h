// The cuts of TorchTPU's lazy graph in torch's structured log.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/torch/trace_records.h"

namespace xlaprof {

// One graph that TorchTPU looked up in its cache, compiled if it was not there, and started.
struct TorchtpuCut {
  int64_t offset = 0, line = 0;
  int64_t start_epoch_ns = 0;
  int64_t dur_ns = 0;  // of the lookup, and of lowering if it missed; compilation comes later
  std::string op;      // its first operation
  CutKind cause = CutKind::kUnknown;
  bool is_hit = false, has_failed = false;
  std::string_view ops, stablehlo;  // payloads that print the graph; empty if it was a hit
};

class TorchtpuCuts {
 public:
  // Takes a record if it is about a cut, and returns whether it is. What its views point into must
  // stay valid.
  bool Take(const TraceRecord& record);
  // Returns the cuts in the order in which they began.
  std::vector<TorchtpuCut> Finish();
  int64_t odd_records() const { return odd_records_; }
  int64_t first_odd_line() const { return first_odd_line_; }

 private:
  bool TakeEvent(const TraceRecord& record);
  bool TakeGraph(const TraceRecord& record);

  std::vector<TorchtpuCut> cuts_;
  bool ends_in_graph_ = false;  // the log ends before the last cut's graph is whole
  int64_t odd_records_ = 0, first_odd_line_ = 0;
};

// Writes the executions, compilations, graphs and, if no cut marks a step, the steps of one process.
// A cut's time in the store is that since the epoch plus `offset_ns`. `cuts` must stay valid.
class TorchtpuCutWriter {
 public:
  TorchtpuCutWriter(const std::vector<TorchtpuCut>& cuts, int64_t process_id, int64_t offset_ns,
                    ImportContext& context)
      : cuts_(cuts), process_id_(process_id), offset_ns_(offset_ns), context_(context) {}

  // Writes the issues and the steps. Call it once, first.
  absl::Status Begin();
  // Writes the cuts that begin before a time and were not written; all of these for NULL.
  absl::Status WriteBefore(OptInt epoch_ns);

 private:
  // The graphs that begin with one operation.
  struct Known {
    int64_t graph_id = 0;
    bool is_only = true;
  };

  absl::Status Write(const TorchtpuCut& cut, bool is_last_part, OptInt step_id);
  // Returns the graph of a cut that hit the cache, if only one graph begins with its operation.
  OptInt OnlyGraphOf(const TorchtpuCut& cut) const;
  // Writes the graph of a cut, unless it is known, and returns its row. Sets the function of the
  // compilation, and its site if it is known: without laziness, the line of the operation is the one
  // that ran it.
  absl::StatusOr<OptInt> GraphOf(const TorchtpuCut& cut, CompileRow& compile);

  const std::vector<TorchtpuCut>& cuts_;
  const int64_t process_id_, offset_ns_;
  ImportContext& context_;
  std::vector<OptInt> step_of_cut_;                    // rows of table step
  size_t next_ = 0;                                    // the first cut that was not written
  absl::flat_hash_map<std::string, int64_t> by_hash_;  // rows of table graph
  absl::flat_hash_map<std::string, Known> by_op_;
};

}  // namespace xlaprof

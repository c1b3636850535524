// Places where a graph was cut before its step mark: reads of values, and ops that ran on the CPU.
// Both look alike in a log. They are separated here for the analyzers sync_point and fallback, so
// that each is reported once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/run.h"
#include "base/status.h"
#include "base/xla_shape.h"

namespace xlaprof {

// The times of the executions of a cut that were measured.
struct MeasuredTimes {
  int64_t sum_ns = 0, longest_ns = 0, count = 0;
  void Add(int64_t ns);
  // Estimates the time of `all` executions: those that were not measured take the mean of the measured
  // ones without the longest. Returns nothing if all were measured, or only one, which shows no rate.
  std::optional<int64_t> OfAll(int64_t all) const;
};

// One place in the user's code (or one scope, if no line is known) that cut the graph early.
struct EarlyCut {
  Subject subject;
  SourcePlace library;  // the library's line that cut, which the user's line called; may be empty
  // If no source names the line: the user's line that made the value. The cut is there or later.
  SourcePlace value_place;
  std::vector<int64_t> executions;  // ids, in order
  std::optional<int64_t> steps;     // steps of the processes that cut here; empty if not known
  bool is_save = false;             // our lazy runtime read the tensors to write them to a file
  enum class Value { kUnknown, kScalar, kTensor } value = Value::kUnknown;  // the value read
  std::optional<XlaShape> shape;       // shape of the first result, for example pred[32]
  std::optional<int64_t> nodes;        // size of the largest graph that was evaluated early
  int64_t graphs = 0;                  // different graphs that were evaluated here
  std::optional<InputsOfLine> inputs;  // the most inputs of one line in such a graph
  // An input that enters later graphs where this cut read a tensor: what was read came back.
  std::optional<InputsOfLine> returned;
  // How often it cut. This is more than `executions` if only a profile shows these, and counters show
  // that its op was called more often.
  int64_t count = 0;
  MeasuredTimes waits;  // in which the host was blocked
  // The device spent this time on nodes that run again at the step mark, if it is known which do.
  MeasuredTimes repeats;
  bool runs_nothing_again = false;  // of the executions that are known, none has nodes that run again
  // These times in the whole run, if only some of the executions were measured.
  std::optional<int64_t> estimated_wait_ns, estimated_again_ns;
  // The part of these times that is lost. The device's work on the steps' own graphs takes its time
  // with or without the cuts, and the host may be blocked meanwhile.
  double lost = 1;
  // Returns the time that the host was blocked and of the nodes that ran twice, as far as it is lost:
  // in the whole run if that can be estimated, or else in the executions that were measured.
  std::optional<int64_t> cost_ns() const;
  // Returns where the cut is, or else where its value was made.
  SourcePlace place() const { return subject.file ? subject.place() : value_place; }
  std::string op;       // the op without lowering that cut here; "" if it was a read, or unknown
  bool likely = false;  // `op` is the only candidate, but no count proves it
  // Ops without lowering cut here, as often as these lines, but which of them is not known.
  bool of_some_op = false;
};

// An op without lowering, as the metrics or the log count it.
struct FallbackOp {
  static constexpr size_t kMaxCandidates = 8;  // more are not kept
  std::string op;                              // aten::nonzero
  std::optional<int64_t> count;                // calls; empty if it is named but not counted
  std::vector<int> cuts;  // indices of its EarlyCuts, most frequent first; empty: no line is known
  std::vector<int> candidates;  // the first cuts that may be its own, if there are several
  int64_t candidate_count = 0;  // number of cuts that may be its own
  std::vector<Subject> sites;   // its callers in the exit summary, most calls first
  SourcePlace library;          // the library's line that the first of them called; may be empty
  bool printed = false;         // in all known stacks, torch called it to print a tensor
};

// A line at which ops without lowering run, or numbers are read. The source does not say which.
struct UnnamedCalls {
  Subject subject;
  int64_t count = 0;
  bool printed = false;  // torch called it to print, as in FallbackOp
};

struct EarlyCuts {
  std::vector<EarlyCut> cuts;           // most frequent first
  std::vector<FallbackOp> ops;          // aten::_local_scalar_dense excluded
  std::optional<int64_t> scalar_reads;  // calls of aten::_local_scalar_dense
  // The places at which stacks show such calls, with their counts, most calls first.
  std::vector<std::pair<Subject, int64_t>> scalar_read_sites;
  // Most calls first. Lines with a known op are left out, and so are lines at which `cuts` has an
  // execution.
  std::vector<UnnamedCalls> unnamed;

  static absl::StatusOr<EarlyCuts> Of(const Run& run);
};

}  // namespace xlaprof

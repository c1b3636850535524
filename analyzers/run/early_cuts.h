// Places where a graph was cut before its step mark: reads of values, and ops that ran on the CPU.
// Both look alike in a log; the analyzers sync_point and fallback divide them here, so that each is
// told once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"
#include "core/base/xla_shape.h"

namespace xlaprof {

// One place in the user's code (or one scope, where no line is known) that cut the graph early.
struct EarlyCut {
  Subject subject;
  std::vector<int64_t> executions;  // ids, in order
  std::optional<int64_t> steps;     // of the processes that cut here; empty: not known
  enum class Value { kUnknown, kScalar, kTensor } value = Value::kUnknown;  // what was read
  std::optional<XlaShape> shape;   // of the first result, such as pred[32]
  std::optional<int64_t> nodes;    // of the largest graph that was evaluated early
  std::optional<int64_t> wait_ns;  // time that the host was blocked, where measured
  int64_t waits_measured = 0;      // executions with a measured wait
  std::string op;       // the op without lowering that cut here; "" if it was a read, or unknown
  bool likely = false;  // `op` is the only candidate, not proven by its count
};

// An op without lowering, as the metrics or the log count it.
struct FallbackOp {
  static constexpr size_t kMaxCandidates = 8;  // that are kept
  std::string op;                // aten::nonzero
  std::optional<int64_t> count;  // calls; empty: named, not counted
  int cut = -1;                  // index of its EarlyCut; -1: its line is not known
  std::vector<int> candidates;   // the first cuts it may be, when there are several
  int64_t candidate_count = 0;   // how many it may be
  std::vector<Subject> sites;    // where the exit summary says it was called, most calls first
  bool printed = false;          // torch called it to print a tensor, wherever a stack is known
};

// A line at which ops without lowering run, or numbers are read: its source does not say which.
struct UnnamedCalls {
  Subject subject;
  int64_t count = 0;
  bool printed = false;  // as in FallbackOp
};

struct EarlyCuts {
  std::vector<EarlyCut> cuts;           // most frequent first
  std::vector<FallbackOp> ops;          // aten::_local_scalar_dense excluded
  std::optional<int64_t> scalar_reads;  // aten::_local_scalar_dense, calls
  // The places at which stacks show the call, with its count there; most calls first.
  std::vector<std::pair<Subject, int64_t>> scalar_read_sites;
  // Most calls first. Left out are lines of which an op is known, and those at which `cuts` shows
  // an execution: it tells of them.
  std::vector<UnnamedCalls> unnamed;

  static absl::StatusOr<EarlyCuts> Of(const Run& run);
};

}  // namespace xlaprof

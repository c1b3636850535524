// The finding fallback: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzers/finding.h"
#include "base/source_place.h"
#include "base/xla_shape.h"

namespace xlaprof {

// An op without lowering. Finding::subject names it; Finding::count is the number of its calls, if
// that is known.
struct FallbackOpFigures {
  // The op cut these graphs before the step mark, at its known places.
  struct Cut {
    int64_t executions = 0;         // that the capture shows
    int64_t count = 0;              // more if counters show that there were more
    std::optional<XlaShape> shape;  // shape of the op's first input
    bool is_likely = false;         // the place is the only candidate, and no count proves it
  };
  enum class Cost : uint8_t {
    kUnmeasured,
    kWaits,           // time that the host waited for the executions of the cut that were measured
    kEstimatedWaits,  // the same for all of its executions, estimated from those that were measured
    kTransfers,       // time of the transfers at the op's places
    kShareOfMetrics,  // part of the time of all ops' copies, which metrics sum up
  };
  std::optional<Cut> cut;               // empty if no place is known
  std::vector<Subject> candidates;      // cuts that may be the op's, if its cut is not known
  int64_t more_candidates = 0;          // number of candidates that are not listed
  std::vector<SourcePlace> call_sites;  // most calls first, at most four
  bool is_printed = false;              // torch calls it to print a tensor
  bool has_log = false;                 // a log of executions with their lines was read
  Cost cost = Cost::kUnmeasured;
  int64_t measured = 0;  // executions or transfers whose time is the cost
  // Set for kShareOfMetrics: the time of all ops' copies, the calls of all ops, and whether reads of
  // numbers were subtracted.
  int64_t measured_ns = 0, copied_calls = 0;
  bool has_reads = false;
};

// Calls at a line for which torch_xla does not name the op. Finding::count is the number of calls.
struct UnnamedCallsFigures {
  std::vector<std::string> possible_ops;  // ops without lowering at unknown lines
  bool may_be_read = false;               // it may also be a read of a number at an unknown line
  bool is_printed = false;                // torch calls it to print a tensor
};

// A program that found no device.
struct WholeProgramFigures {
  SourcePlace printed_at;  // where the log has this message
};

using FallbackFigures = std::variant<FallbackOpFigures, UnnamedCallsFigures, WholeProgramFigures>;

// Returns the op whose gradient `op` computes: aten::huber_loss for aten::huber_loss_backward.out. Returns
// "" if `op` is no gradient.
std::string ForwardOpOf(std::string_view op);

// Says what runs on the CPU, what that costs, and what to write instead.
Words SayFallback(const Finding& finding, Framework framework);

}  // namespace xlaprof

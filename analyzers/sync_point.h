// The finding sync_point: figures and words. Three kinds of captures show reads, each in its way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "analyzers/finding.h"
#include "core/base/xla_shape.h"

namespace xlaprof {

// The value that the host reads from the device.
enum class ReadValue : uint8_t { kUnknown, kBoolean, kNumber, kTensor };

// Reads of one place that a log or a profile shows as executions before the step mark.
// Finding::cost_ns is the wait of those executions whose wait was measured.
struct EarlyReadFigures {
  ReadValue value = ReadValue::kUnknown;
  std::optional<XlaShape> shape;  // of the first value that was read
  std::optional<int64_t> nodes;   // of the largest graph that a read evaluated
  int64_t waits_measured = 0;     // executions
  bool may_be_fallback = false;   // an op without lowering may have caused the read
};

// A log of compilations alone: it tells which graphs a read compiled, and not how often it came.
struct CompiledReadFigures {
  int64_t graphs = 0;
};

// Reads as the counters and metrics of a report tell of them. Finding::count is their number.
struct CountedReadFigures {
  enum class Counted : uint8_t {
    kCallsAtPlace,  // calls of aten::_local_scalar_dense at the finding's place
    kCalls,         // its calls, at places that are not known
    kFetches,       // fetches from the device that neither such calls nor counted ops explain
  };
  Counted counted = Counted::kCalls;
  ReadValue value = ReadValue::kNumber;
  bool goes_on = true;                // false: the count is the same at several steps
  std::optional<int64_t> executions;  // in which the reads came; a bound of the steps
  bool may_be_fallback = false;       // ops without lowering, which are not counted, may be part
  bool time_is_shared = false;        // the time that is known is also that of other transfers
  // The counts that the report and the log give for the whole run.
  std::optional<int64_t> read_calls;  // of aten::_local_scalar_dense
  std::optional<int64_t> fetches;
  std::string fetch_metric;   // that counts the fetches
  std::string profiler_line;  // torch_xla's own, as it was printed, if only it counts the fetches
};

// Reads of one place in a program that runs op by op. Finding::subject names the operation.
struct ReadOperationFigures {
  bool counts_elements = false;  // otherwise it reads a number
  int64_t blocked_ns = 0;        // the step's thread, in copies and waits
  // How long the device idles in the steady steps, if that is less than all reads block.
  std::optional<int64_t> device_idle_ns;
};

using SyncPointFigures =
    std::variant<EarlyReadFigures, CompiledReadFigures, CountedReadFigures, ReadOperationFigures>;

// Says what the host reads, how often, and how the program can do without.
Words SaySyncPoint(const Finding& finding, Framework framework);

}  // namespace xlaprof

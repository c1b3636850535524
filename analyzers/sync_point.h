// The finding sync_point: figures and words. Four kinds of captures show reads, each in its own
// way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "analyzers/finding.h"
#include "analyzers/run/graph_nodes.h"
#include "base/source_place.h"
#include "base/xla_shape.h"

namespace xlaprof {

// The value that the host reads from the device.
enum class ReadValue : uint8_t { kUnknown, kBoolean, kNumber, kTensor };

// Reads at one place that a log or a profile shows as executions before the step mark.
// Finding::cost_ns is the sum of the waits for these executions and of the time of nodes that run again.
struct EarlyReadFigures {
  ReadValue value = ReadValue::kUnknown;
  std::optional<XlaShape> shape;  // shape of the first value that was read
  std::optional<int64_t> nodes;   // size of the largest graph that a read evaluated
  int64_t graphs = 0;             // different graphs that the reads evaluated
  // So many inputs of one line in such a graph that they may be the rounds of a loop without a step
  // mark.
  std::optional<InputsOfLine> rounds;
  bool holds_rounds = false;  // its graph most likely does, because it takes so long to compile
  std::optional<int64_t> wait_ns;  // time that the host was blocked, if measured
  int64_t waits_measured = 0;      // executions with a measured wait
  // The cost is that of all reads, estimated from the measured ones. Otherwise it is that of the
  // measured ones.
  bool is_estimated = false;
  // Time of these executions on the device for nodes that run again at the step mark, if known.
  std::optional<int64_t> again_ns;
  bool runs_nothing_again = false;  // no node runs again at the step mark
  bool marks_steps = true;          // the capture shows step marks
  bool is_limited = false;  // the cost is less than these times, because the device limits the step
  bool may_be_fallback = false;  // an op without lowering may have caused the read
  bool is_save = false;          // the tensors are read to write them to a file
  bool is_fallback = false;      // one of several ops without lowering caused it, as counts show
  SourcePlace library;           // the library's line that reads; may be empty
  SourcePlace value_place;       // if the line of the read is unknown: the line that made the value
  // An input that enters graphs at this line, so an op without lowering most likely caused the read.
  std::optional<InputsOfLine> returned;
  // The op whose size the number most likely decides, so that each value makes another graph.
  struct Sized {
    std::string op;
    SourcePlace place;
  };
  std::optional<Sized> decides_size;
};

// A log of compilations alone. It shows the graphs that were compiled for a read, but not how often
// the read happened.
struct CompiledReadFigures {
  int64_t graphs = 0;
};

// Reads that the counters and metrics of a report show. Finding::count is the number of reads.
struct CountedReadFigures {
  enum class Counted : uint8_t {
    kCallsAtPlace,  // calls of aten::_local_scalar_dense at the finding's place
    kCalls,         // calls of it at unknown places
    kFetches,       // fetches from the device that neither such calls nor counted ops explain
  };
  Counted counted = Counted::kCalls;
  ReadValue value = ReadValue::kNumber;
  bool goes_on = true;                // false: the count is the same at several steps
  std::optional<int64_t> executions;  // with the reads; an upper bound of the steps
  bool may_be_fallback = false;       // uncounted ops without lowering may be part of it
  bool time_is_shared = false;        // the known time includes other transfers
  // The cuts of the graph are known and show none of these reads, so these come after step marks.
  bool after_marks = false;
  // Counts for the whole run, from the report and the log.
  std::optional<int64_t> read_calls;  // calls of aten::_local_scalar_dense
  std::optional<int64_t> fetches;
  std::string fetch_metric;   // the metric that counts the fetches
  std::string profiler_line;  // torch_xla's own line as printed, if only it counts the fetches
};

// Reads at one place that a profile shows as calls. Finding::subject names the operation.
struct ReadOperationFigures {
  bool of_jax = false;           // otherwise of PyTorch, op by op
  bool counts_elements = false;  // it counts the elements that a mask selects
  bool copies = false;           // it copies a tensor; otherwise it reads a number
  int64_t blocked_ns = 0;        // time that copies and waits block the step's thread
  // The device's idle time in the steady steps, if it is less than the time that all reads block.
  std::optional<int64_t> device_idle_ns;
};

// Python functions that a program calls while it runs on the device.
struct CallbackFigures {
  std::string device;
  double share = 0;  // of the device's busy time
};

using SyncPointFigures = std::variant<EarlyReadFigures, CompiledReadFigures, CountedReadFigures,
                                      ReadOperationFigures, CallbackFigures>;

// Says what the host reads, how often, and how the program can do without.
Words SaySyncPoint(const Finding& finding, Framework framework);

}  // namespace xlaprof

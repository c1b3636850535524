// The compiles of a run by the place that caused them, with the step in which each came.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

struct CompileFact {
  int64_t id = 0, process_id = 0, ordinal = 0;
  OptInt graph_id, site_id, stack_id, track_id, dur_ns, ts_ns, trace_ns;
  std::vector<std::pair<CompilePhase, int64_t>> phases_ns;  // parts of dur_ns, if known
  std::optional<bool> persistent_hit;
  std::string hash, program;  // of its graph: hash, and name of the module or key
  std::string number;         // torch.compile's number of the program, such as 0/1
  CutKind cause = CutKind::kUnknown;
  std::string function;
  TimeSource dur_from = TimeSource::kUnknown;
  OptInt input_bytes, output_bytes, alias_bytes;  // sizes of the program
  OptInt input_count, output_count;               // from any source of this graph
  // Nodes of an IR dump that are inputs. Several may be one input, so only differences mean much.
  OptInt input_nodes;
  OptInt ir_nodes;              // all nodes of its IR dump
  bool in_slice = true;         // false: kept only to compare later compiles with it
  bool inferred = false;        // inferred from the first use of a graph, not reported
  bool caller_known = false;    // JAX's log names the caller
  int64_t step = 0;             // from 0 at the start of the process, if StepsSeen::known
  int64_t latest_step = 0;      // it was in a step from `step` to this one; mostly both are one
  bool is_placed = true;        // false: it was in no step that was seen, so `step` says nothing
  // The part of the process's time that had passed when it began, at least, and when it had ended, at most.
  double earliest_share = 0, latest_share = 1;
  // All printed forms of this graph: (form, graph.id).
  std::vector<std::pair<PrintedForm, int64_t>> forms;
  // Returns what names the graph in its process: its hash, or else its number; "" if it has none.
  const std::string& graph_key() const { return hash.empty() ? number : hash; }
  int64_t compiling_ns() const { return dur_ns.value_or(0) + trace_ns.value_or(0); }
  // Returns whether the program came from a cache, so that dur_ns is the time to load it.
  bool is_loaded() const { return persistent_hit.value_or(false); }
  OptInt load_ns() const { return is_loaded() ? dur_ns : OptInt(); }
  // Returns a key for a JAX loop outside of jit: the id of its call site, or a negative number from
  // the id of its graph if the site is unknown. All such loops have the name of their primitive.
  int64_t loop_number() const { return site_id ? *site_id : -1 - graph_id.value_or(0); }
};

// The items by which the steps of a process were counted.
enum class StepsFrom : uint8_t { kNothing, kSteps, kStepEndingExecutions, kExecutions };

// The steps of one process.
struct StepsSeen {
  bool known = false;                 // false: nothing separates the steps
  int64_t first = 0, last = 0;        // counted from 0 at the start of the process
  bool shows_start = true;            // false: they begin later, and `first` is not the first one
  std::map<int64_t, int64_t> number;  // the user's step_num of a step, if known
  std::string name;                   // for example train; "" if unknown
  StepsFrom from = StepsFrom::kNothing;
  int64_t count() const { return known ? last - first + 1 : 0; }
};

// A place that compiles: a line of the user's code with the kind of cut, or a jitted function, or
// only a kind of cut. Reads at one line are several places if they read values of different types
// and ranks or, in one step, values of different ops, or if different lines of libraries read them.
// Parts of a divided graph (graph_parts.h) are a place each.
struct CompileSite {
  int64_t process_id = 0;
  CutKind cause = CutKind::kUnknown;
  std::string function;
  OptInt site_id;
  SourcePlace place;                  // the user's line
  SourcePlace library;                // of a read: the library's line that reads; may be empty
  std::vector<CompileFact> compiles;  // in order
  bool reached_limit = false;         // torch.compile compiles the function no more
};

// All compiles of the run, and the steps of the chosen part. The order does not depend on the ids
// of rows.
struct CompileSites {
  absl::flat_hash_map<int64_t, SourcePlace> places;  // table site
  std::vector<CompileSite> sites;                    // by process, then by first compile
  std::map<int64_t, StepsSeen> steps;                // by process
  std::map<int64_t, OptInt> wall_ns;  // by process: from its first to its last row with a time
  std::set<int64_t> observed;         // processes that `xlaprof run` timed from start to end
  // Compiles whose time is an equal share of a sum, although their graphs clearly have another size than
  // the others that share it.
  std::set<int64_t> unlike_others;
  // By process: time of all its compiles, with tracing, and without loads from a cache.
  std::map<int64_t, int64_t> compiling_ns;
  // By process: programs of single operations (outside_jit.h), which belong to no site.
  std::map<int64_t, std::vector<CompileFact>> operations;

  // The processes whose log has JAX's explanations. JAX explains no compiles of operations.
  std::set<int64_t> explained;

  static absl::StatusOr<CompileSites> Of(const Run& run);
};

}  // namespace xlaprof

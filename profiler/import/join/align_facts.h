// Finds the facts of two sources that are the same compile or execution.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/store/cut_kind.h"
#include "profiler/store/store.h"

namespace xlaprof {

// A compile or execution, with what alignment needs.
struct Fact {
  bool is_compile = false;
  int64_t id = 0, graph_id = 0;
  std::string hash;  // "" if unknown
  CutKind cause = CutKind::kUnknown;
  std::string function;      // a compile's, as part of a module's name; "" if unknown
  bool inputs_only = false;  // its graph is a list of inputs
  int64_t ordinal = 0;       // place among the facts of its process
  std::string number;        // torch.compile's number of the program; "" if unknown
  OptInt ts_ns;              // a compile's start, or when the host asked for the execution
  OptInt end_ns;             // a compile's end; empty if its length is unknown
};

using Facts = std::vector<Fact>;

using Pairs = std::vector<std::pair<int, int>>;

struct ByClock {
  Pairs pairs;       // in the order of both sources
  Pairs reordered;   // the same executions, which the sources have in another order
  std::string note;  // how sure the alignment is
};

// Aligns facts by kind and hash, which log and dump share. Compiles without a hash match by the
// number of their program if their clocks agree, or else by function; others match nothing.
Pairs AlignByHash(const Facts& a, const Facts& b, bool compiles_only);

// Returns whether there are facts, and all are of functions under torch.compile. Their sources have
// clocks.
bool AreOfTorchCompile(const Facts& facts);

// Numbers the programs of the compiles of torch.compile in `timed` that have no number, by those of
// `story` that began at the same time.
void NumberByClock(const Facts& story, Facts& timed);

// Returns whether the clocks of two sources allow that they tell of one compile.
bool BeginTogether(OptInt a_ns, OptInt b_ns);

// Aligns what torch_xla compiles with what XLA dumps of it: as many compiles, in the same order.
// XLA does not know the hashes. Returns nothing if the numbers differ.
Pairs AlignByCount(const Facts& a, const Facts& b);

// Aligns the executions of a source with those of another whose clock shows the same times: each of
// `b` is the first of `a` after its begin and before that of the next. Their compiles are aligned with
// them. Returns nothing if this is not so for nearly all executions. If `a` has no executions, its
// compiles are aligned in order, if there are as many and none begins before that of `b`.
Pairs AlignByTime(const Facts& a, const Facts& b);

// Returns whether a log tells of all replicas that one process runs on threads, of which each wrote
// a dump. `dumps` begins with that of the first replica. The log then has as many executions as all
// dumps together. The log of one of several processes has as many as its own dump.
bool HoldsReplicas(const Facts& story, const std::vector<Facts>& dumps);

// The facts of several dumps in the order in which a log tells of them.
struct Interleaved {
  Facts facts;
  Pairs pairs;  // with the facts of the log
  // Rows of compiles that a dump infers from its first print of a graph, but that the log, which
  // tells of all compiles, does not have.
  std::vector<int64_t> repeated_compiles;
};
Interleaved FollowStory(const Facts& story, const std::vector<Facts>& dumps);

// Aligns compiles by function alone. Returns nothing if `b` knows hashes.
Pairs AlignByFunction(const Facts& a, const Facts& b);

// Aligns compiles of two sources by the clock: those that begin and end together. Returns nothing
// unless nearly all compiles of the source that has fewer are among them.
Pairs AlignByInterval(const Facts& a, const Facts& b);

// Aligns compiles whose sources do not share the words for them: by function, or by the clock if one
// source knows only hashes, and the other one only functions. The clock also tells which of several
// compiles of a function it was, if it finds each of them.
Pairs AlignWithoutHash(const Facts& a, const Facts& b);

// Returns whether some compile has a hash or a function.
bool NamesCompiles(const Facts& facts);

// Aligns the executions of `timed` (a window of the run) with those of `story` (the whole run).
// Sources that tell of torch.compile have clocks, so only their compiles are aligned. Compiles of one
// hash are anchors, from which both sources go in lock step. Without an anchor, the
// window is tried at every place. If it fits at several, it lies where about `steps_before` steps of the
// story have ended, if that is known. If it fits nowhere, because the story lacks executions, only the step
// marks are aligned, at that place.
ByClock AlignWindow(const Facts& story, const Facts& timed, OptInt steps_before = {});

}  // namespace xlaprof

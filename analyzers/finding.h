// A finding is data: kind, reason, subject and figures. analyzers/words/ makes its words, and the
// report and the exporters print them.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source_place.h"
#include "profiler/store/vocabulary.h"

namespace xlaprof {

// The subject of a finding; unknown members are empty. `file` and `line` are the user's code.
struct Subject {
  std::optional<std::string> file;
  std::optional<int64_t> line;
  std::optional<std::string> function, scope, op, graph_hash;
  bool starts_function = false;  // as in SourcePlace
  SourcePlace place() const {
    return {file.value_or(""), line, function.value_or(""), starts_function};
  }
  // Sets file and line, and the function if the place has one.
  void SetPlace(const SourcePlace& place) {
    file = place.file, line = place.line, starts_function = place.starts_function;
    if (!place.function.empty()) function = place.function;
  }
};

// The place at which an op was recorded.
struct RecordedPlace {
  SourcePlace place;
  bool is_near = false;  // `place` is only the nearest that is known
  std::string text() const { return (is_near ? "near " : "") + place.text(); }
};

// A call that was open when something happened.
struct CallFrame {
  SourcePlace place;
  bool is_user = false;  // in the user's code, not in a library
};

struct CallStack {
  std::vector<CallFrame> frames;  // innermost first; empty if unknown
  bool is_only = true;            // the finding's line led to no other stack
};

// The reason of a finding.
struct Reason {
  ReasonType type = ReasonType::kUnknown;
  std::optional<State> state;
  std::optional<int64_t> step;      // first step of a burst, or last step that compiled
  std::optional<std::string> node;  // the op that differs
  // The values of `node` in the older and the newer graph.
  std::optional<std::string> before, after;
  std::optional<RecordedPlace> location;  // the place where `node` was recorded
};

// The ranks of a job on which a finding holds, if it does not hold on the others.
struct OnlyRanks {
  std::vector<int64_t> ranks;  // ascending
  int64_t of = 0;              // the number of ranks that were seen
};

// Rows of the store and ranges of time that show the finding. An exporter can point at them.
struct Evidence {
  std::string table;                     // compile, execution, event, metric, ...
  std::vector<int64_t> rows;             // ids, at most a few dozen
  std::optional<int64_t> ts_ns, dur_ns;  // the range on the timeline
  std::string text;                      // one line; "" if the rows need no text
};
// Returns the SQL that shows this evidence in the store: the rows that it names, or else its
// table's rows in its range of time, or else the whole table.
std::string QueryOf(const Evidence& evidence);

// How much of the run a finding's occurrences take, from part to part. It shows where they lie, if
// there are too many to cite each as evidence.
struct Density {
  std::vector<int64_t> begins_ns;  // of the parts, ascending; each ends where the next begins
  int64_t end_ns = 0;              // of the last part
  std::vector<int64_t> ns;         // the time that occurrences take in each part
};

// Each recording of a run shows another part of it.
enum class RecordingKind : uint8_t {
  kLog,      // what compiles and what is read, at which line and why
  kGraphs,   // the graphs, too
  kProfile,  // when the host and the device worked on what
};

// The facts do not show `what`, such as "the line", but a recording does.
struct Unseen {
  std::string what;
  RecordingKind shown_by = RecordingKind::kLog;
};

// The text of a finding. A file of analyzers/words/ makes it from the finding.
struct Words {
  std::string title;                  // one line, with the figures that matter
  std::string why;                    // one or two sentences; "" if the title says it
  std::string cost_note;              // how the cost was measured, or why it was not
  std::string saving_note;            // how the saving was estimated
  std::string advice;                 // what to change; Analyze adds how to record what is unseen
  std::optional<Unseen> unseen;       // what the reader needs to know besides, and these facts hide
  std::vector<std::string> evidence;  // one line per entry of Finding::evidence; may be shorter
  bool tells_share = false;           // title or cost note give the share of the time
  bool names_place = false;           // the title names the place in the source
  bool is_open_question = false;      // a large cost whose cause the capture does not show
};

struct Analyzer;

// Tells what the host does in the time of a cost. It compiles, is blocked, and runs ops without lowering
// at different times, so such costs may be added.
enum class SpentOn : uint8_t {
  kBlocked,  // the host waits, or does anything but the following
  kCompiling,
  kOnCpu,       // ops without lowering run on the CPU
  kCopying,     // copies, whose time is part of the fallback or the read that makes them
  kDeviceIdle,  // the time of the cause, seen from the device
};

struct Finding {
  const Analyzer* analyzer = nullptr;  // the analyzer that found it; its caller sets this
  // Whether the rule asks for a change: no clean program of this framework has this, it is not the
  // capture's own doing, and it is a pattern or expensive. Analyze derives the severity from it.
  bool needs_fixing = false;
  Severity severity = Severity::kInfo;  // Analyze sets it
  Subject subject;
  std::optional<int64_t> count;
  std::optional<double> per_step;
  // The program fails or hangs because of it. This has no cost that could be compared with others.
  bool stops_program = false;
  bool may_be_once = false;        // one step was traced, so nothing shows that it goes on
  std::optional<int64_t> cost_ns;  // measured
  int64_t compiling_ns = 0;        // the part of the cost in which the host compiles, if not all is
  std::optional<SpentOn> spent_on;   // set if it differs from the analyzer's
  std::optional<int64_t> saving_ns;  // estimated
  // The ranges in which cost and saving lie, if they are not measured. Analyze sets those that the
  // analyzer does not know.
  std::optional<std::pair<int64_t, int64_t>> cost_interval_ns, saving_interval_ns;
  std::optional<Reason> reason;
  std::optional<OnlyRanks> only_ranks;  // empty: it holds on all ranks, or that is not known
  std::vector<Evidence> evidence;
  std::optional<Density> density;             // if `evidence` cites only some of the occurrences
  Certainty certainty = Certainty::kUnknown;  // Analyze sets it if the analyzer does not
  std::any figures;                           // the struct of this kind, which its words print

  // Analyze sets the rest.
  CallStack stack;  // how the program came to the subject's line, and what that line called
  Words words;
  std::string fingerprint;                // unique among the findings of a run
  std::string because_of;                 // fingerprint of the finding that explains it; "" if none
  std::vector<std::string> consequences;  // fingerprints of what follows from it directly
  int depth = 0;                          // 0: a root; 1: follows from a root; and so on
  // The time that it and its consequences take, each counted once. Set if it has consequences.
  std::optional<int64_t> total_cost_ns;
  int64_t consequent_saving_ns = 0;  // what its remedy also saves of its consequences
  // The range of what the remedy saves: its own saving and that of these consequences.
  std::optional<std::pair<int64_t, int64_t>> total_saving_interval_ns;
  // Returns what the remedy saves, with these consequences; nothing if no saving is known.
  std::optional<int64_t> total_saving_ns() const;

  std::string_view kind() const;  // the analyzer's name; "" without one
};

using Findings = std::vector<Finding>;

}  // namespace xlaprof

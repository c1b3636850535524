// Makes rows and facts from the events of a trace, depending on which program wrote it
// (trace_kind.h). Chrome's and Perfetto's importers share it: they read the same programs' events.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "profiler/import/odd_input.h"
#include "profiler/import/trace/torch_compile_facts.h"
#include "profiler/import/trace/trace_args.h"
#include "profiler/import/trace/trace_kind.h"
#include "profiler/import/trace/trace_tracks.h"
#include "profiler/import/trace/xprof_facts.h"
#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

// Times beyond this (thirty-six years) are damage, and their differences would overflow.
inline constexpr int64_t kMaxTraceTimeNs = int64_t(1) << 60;

// Returns a number for a flow that is made from several numbers. It is no number of a flow that
// FlowOfCorrelation of TraceRows returns for a small number.
uint64_t MixedFlow(std::initializer_list<uint64_t> parts);

struct TraceEvent {
  StringId name = 0;
  StringId cat = 0;             // 0: none
  TraceTrack* track = nullptr;  // null: an asynchronous operation
  int64_t track_id = 0;
  int64_t ts_ns = 0, dur_ns = 0;
  uint64_t flow_in = 0, flow_out = 0;
  int64_t offset = 0;  // its place in the source
};

class TraceRows {
 public:
  TraceRows(ImportContext& context, TraceWriter writer)
      : context_(context),
        writer_(writer),
        tracks_(context, writer),
        facts_(context),
        xprof_(context, facts_),
        torch_compile_(context) {}

  TraceWriter writer() const { return writer_; }
  TraceTracks& tracks() { return tracks_; }

  // Adds an event, and the facts that it reports. The caller then adds `args` to it, as
  // EventWriter::Arg. Returns the key of a text that the event has got already; 0: none.
  absl::StatusOr<StringId> Add(const TraceEvent& event, const TraceArgs& args);
  // Counts an event that is a sample of a counter.
  void CountSample() { ++event_count_; }
  // Does what needs all events: names of tracks, facts. `host` and `rank` are the file's.
  absl::Status Finish(OptText host, OptInt rank, OddInput& odd);
  // Writes the settings that slow the host while a profiler records. The file may say of itself
  // that PyTorch's profiler recorded stacks or memory. Call it last.
  absl::Status WriteSettings(bool with_stack, bool profile_memory);

 private:
  TraceKind KindOf(StringId cat, StringId name);
  absl::StatusOr<StringId> CategoryOf(const TraceEvent& event, Category category);
  uint64_t FlowOfCorrelation(uint64_t correlation) const;
  // Returns whether names of events report compiles, executions and the like.
  bool has_facts() const { return writer_ != TraceWriter::kOther; }
  absl::Status AddFacts(const TraceEvent& event, const TraceArgs& args, TraceKind kind,
                        const Event& row);
  absl::Status AddKinetoFact(const TraceEvent& event, const TraceArgs& args, TraceKind kind,
                             const Event& row);
  // Adds the fact that an event of our own export reports, as the file did from which it came.
  absl::Status AddExportedFact(const TraceEvent& event, const TraceArgs& args, TraceKind kind,
                               const Event& row);
  // Returns a text such as "3 of 9 events (33 %) are Python calls"; empty if none are.
  std::string PythonShare() const;
  absl::Status WriteSetting(SettingName name, std::string evidence);

  ImportContext& context_;
  const TraceWriter writer_;
  TraceTracks tracks_;
  XFacts facts_;
  XprofFacts xprof_;
  TorchCompileFacts torch_compile_;
  struct Named {
    bool known = false;
    StringId cat = 0;
    TraceKind kind;
  };
  std::vector<Named> kinds_;  // by name: the kind for the category that the name had last
  std::array<StringId, kCategoryCount> categories_{};
  StringId cat_key_ = 0;
  int64_t event_count_ = 0, python_count_ = 0;
};

}  // namespace xlaprof

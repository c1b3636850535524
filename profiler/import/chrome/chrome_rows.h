// Makes the rows of a store from the events of a Chrome trace, one at a time and in any order.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/chrome/chrome_kind.h"
#include "profiler/import/chrome/chrome_pairs.h"
#include "profiler/import/chrome/chrome_tracks.h"
#include "profiler/import/chrome/json_texts.h"
#include "profiler/import/chrome/microseconds.h"
#include "profiler/import/chrome/torch_compile_facts.h"
#include "profiler/import/chrome/xprof_facts.h"
#include "profiler/import/odd_input.h"
#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

class ChromeRows {
 public:
  // `shift_ns` converts the file's times to the store's. Texts of events may have numbers, if one
  // reader gave all of them.
  ChromeRows(const Input& input, ImportContext& context, ChromeWriter writer, int64_t shift_ns);

  absl::Status Add(const ChromeEvent& event);
  // Does what needs all events: pairs, names, facts. `host` and `rank` are the file's.
  absl::Status Finish(OptText host, OptInt rank);

  // Returns a text such as "3 of 9 events (33 %) are Python calls"; empty if none are.
  std::string PythonShare() const;

 private:
  struct Where {
    TraceTrack* track = nullptr;  // null: an asynchronous operation
    int64_t track_id = 0;
  };

  // Returns the start in the store's time. If the time is missing or impossible, counts that and
  // returns nothing.
  std::optional<int64_t> StartOf(const ChromeEvent& event);
  absl::Status AddComplete(const ChromeEvent& event, Picoseconds ts);
  absl::Status AddInstant(const ChromeEvent& event, Picoseconds ts);
  absl::Status AddCounter(const ChromeEvent& event, Picoseconds ts);
  absl::Status AddMemory(const ChromeEvent& event, Picoseconds ts);
  absl::Status AddFlow(const ChromeEvent& event, Picoseconds ts);
  absl::Status AddPair(const ChromePairs::Pair& pair, bool async);
  absl::Status AddRow(const ChromeEvent& event, const ChromeEvent* end, Where where, int64_t ts_ns,
                      int64_t dur_ns);
  // `begin` is the beginning of the pair that `event` ends; null: it ends none.
  absl::Status AddArgs(const ChromeEvent& event, const ChromeEvent* begin);
  void LeftOutArgs(const ChromeEvent& event);
  ChromeKind KindOf(StringId cat, StringId name);
  absl::Status AddArg(StringId key, const json::Value& value);
  // Returns a number for a flow that is unique in the store, so that flows of different sources
  // never meet. `scope` is the process that the id belongs to; 0: the whole file.
  absl::StatusOr<uint64_t> FlowOf(const json::Value& id, StringId cat, StringId name,
                                  StringId scope);
  // These return the number of a flow at one of its ends. Each link of the flow has its own number.
  // So has each use of its id after the previous use has ended.
  uint64_t LeaveFlow(uint64_t flow, int64_t ts_ns);
  uint64_t EnterFlow(uint64_t flow, int64_t ts_ns);
  uint64_t PassFlow(uint64_t flow);  // after EnterFlow: for the flow out of the event that it
                                     // entered
  uint64_t FlowOfCorrelation(uint64_t correlation) const;
  // Returns whether names of events report compiles, executions and the like.
  bool has_facts() const { return writer_ != ChromeWriter::kOther; }
  // `end` is the event that ends the pair which `event` begins; null: it is no pair.
  absl::Status AddKinetoFact(const ChromeEvent& event, const ChromeEvent* end, int64_t track_id,
                             ChromeKind kind, const Event& row);
  // Adds the fact that an event of our own export reports, as the file did from which it came.
  absl::Status AddExportedFact(const ChromeEvent& event, const ChromeEvent* end,
                               const TraceTrack& track, ChromeKind kind, const Event& row);

  ImportContext& context_;
  const ChromeWriter writer_;
  const int64_t shift_ns_;
  OddInput odd_;
  JsonTexts texts_;
  ChromeTracks tracks_;
  ChromePairs pairs_;
  XFacts facts_;
  XprofFacts xprof_;
  TorchCompileFacts torch_compile_;
  struct Named {
    bool known = false;
    StringId cat = 0;
    ChromeKind kind;
  };
  std::vector<Named> kinds_;  // by name: the kind for the category that the name had last
  std::array<StringId, kCategoryCount> categories_{};
  std::vector<StringId> keys_;  // keys of the event that is being written
  struct FlowLinks {
    uint64_t first, last;
    int64_t end_ns;  // time of the end that was read last
  };
  absl::flat_hash_map<uint64_t, FlowLinks> flows_;  // the flows of which an end was read
  StringId cat_key_ = 0;
  int64_t event_count_ = 0, python_count_ = 0;
};

}  // namespace xlaprof

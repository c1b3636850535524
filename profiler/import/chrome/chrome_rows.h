// Makes the rows of a store from the events of a Chrome trace, one at a time and in any order.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/chrome/chrome_pairs.h"
#include "profiler/import/chrome/chrome_tracks.h"
#include "profiler/import/chrome/json_texts.h"
#include "profiler/import/chrome/microseconds.h"
#include "profiler/import/odd_input.h"
#include "profiler/import/trace/trace_rows.h"

namespace xlaprof {

class ChromeRows {
 public:
  // `shift_ns` converts the file's times to the store's. Texts of events may have numbers, if one
  // reader gave all of them.
  ChromeRows(const Input& input, ImportContext& context, TraceWriter writer, int64_t shift_ns);

  absl::Status Add(const ChromeEvent& event);
  // Does what needs all events: pairs, names, facts. `host` and `rank` are the file's.
  absl::Status Finish(OptText host, OptInt rank);

  // Writes the settings that slow the host while a profiler records. Call it last.
  absl::Status WriteSettings(bool with_stack, bool profile_memory) {
    return rows_.WriteSettings(with_stack, profile_memory);
  }

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

  ImportContext& context_;
  const int64_t shift_ns_;
  OddInput odd_;
  JsonTexts texts_;
  TraceRows rows_;
  ChromeTracks tracks_;
  ChromePairs pairs_;
  std::vector<StringId> keys_;  // keys of the event that is being written
  struct FlowLinks {
    uint64_t first, last;
    int64_t end_ns;  // time of the end that was read last
  };
  absl::flat_hash_map<uint64_t, FlowLinks> flows_;  // the flows of which an end was read
};

}  // namespace xlaprof

// What xlaprof adds to a timeline: the steps of the run, and its findings where their evidence
// lies.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "profiler/store/store.h"

namespace xlaprof {

// A range on a track of xlaprof's own. `arguments` is a JSON object.
struct Mark {
  int64_t ts_ns = 0, dur_ns = 0;  // 0: an instant
  std::string name, arguments;
  Severity severity = Severity::kInfo;
};

// Marks of one track, by start, then the longest first.
struct MarkTrack {
  std::string name;
  const char* category;
  std::vector<Mark> marks;
};

// A track of steps for each process that has steps with times; the store's slice holds.
absl::StatusOr<std::vector<MarkTrack>> StepMarks(const Store& store);

// Where on the timeline a finding's evidence lies: start and length, by start, and the track that
// it is about, where its rows tell one. Empty: it names no time.
using EvidencePlaces = std::map<std::pair<int64_t, int64_t>, OptInt>;
absl::StatusOr<EvidencePlaces> PlacesOf(const Store& store, const Finding& finding);

// One mark for each range of time that a finding's evidence names, and for one that names none an
// instant at `start_ns`, where the timeline begins.
absl::StatusOr<MarkTrack> FindingMarks(const Store& store, const Findings& findings,
                                       int64_t start_ns);

}  // namespace xlaprof

// Makes the marks that xlaprof adds to a timeline: the steps of the run, and its findings at their
// evidence.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzers/finding.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct MarkArgument {
  const char* key;
  std::variant<std::string, int64_t, double> value;
};
// Returns the arguments as a JSON object.
std::string JsonOf(std::span<const MarkArgument> arguments);

// A range on one of xlaprof's own tracks.
struct Mark {
  int64_t ts_ns = 0, dur_ns = 0;  // 0: an instant
  std::string name;
  std::vector<MarkArgument> arguments;
  Severity severity = Severity::kInfo;
};

// The marks of one track, ordered by start, then the longest first.
struct MarkTrack {
  std::string name;
  const char* category;
  std::vector<Mark> marks;
};

// Returns one track of steps per process that has steps with times, within the chosen part of the
// run.
absl::StatusOr<std::vector<MarkTrack>> StepMarks(const Store& store);

// Returns the places of a finding's evidence on the timeline: start and length, ordered by start,
// and the track if the rows name one. The result is empty if the evidence names no time.
using EvidencePlaces = std::map<std::pair<int64_t, int64_t>, OptInt>;
absl::StatusOr<EvidencePlaces> PlacesOf(const Store& store, const Finding& finding);

// Returns one mark per range of time that a finding's evidence names. A finding that names none
// gets an instant at `start_ns`, where the timeline begins.
absl::StatusOr<MarkTrack> FindingMarks(const Store& store, const Findings& findings,
                                       int64_t start_ns);

}  // namespace xlaprof

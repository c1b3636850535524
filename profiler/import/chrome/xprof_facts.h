// Finds facts in the events of a Chrome trace that XProf converted from an XSpace. The names are
// the same; the statistics are arguments (texts, mostly).
#pragma once

#include <absl/container/flat_hash_map.h>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/chrome/chrome_tracks.h"
#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

class XprofFacts {
 public:
  XprofFacts(ImportContext& context, XFacts& facts) : context_(context), facts_(facts) {}

  // Returns what an event of XProf's is, judging by its arguments too: a step, an op, or what its
  // name says.
  ChromeKind KindOf(const ChromeEvent& event, const TraceTrack& track, ChromeKind by_name) const;
  // Adds what `event`, which has become `row`, means for the fact tables.
  absl::Status Add(const ChromeEvent& event, const TraceTrack& track, ChromeKind kind,
                   const Event& row);

 private:
  absl::StatusOr<StringId> TextOf(const ChromeEvent& event, std::string_view key);

  ImportContext& context_;
  XFacts& facts_;
};

}  // namespace xlaprof

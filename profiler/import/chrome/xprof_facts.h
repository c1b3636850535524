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

  // Returns the kind of an event of XProf, judging by its name and its arguments.
  ChromeKind KindOf(const ChromeEvent& event, const TraceTrack& track, ChromeKind by_name) const;
  // Adds the facts that `event`, which is now `row`, contributes to the fact tables.
  absl::Status Add(const ChromeEvent& event, const TraceTrack& track, ChromeKind kind,
                   const Event& row);

 private:
  absl::StatusOr<StringId> TextOf(const ChromeEvent& event, std::string_view key);

  ImportContext& context_;
  XFacts& facts_;
};

}  // namespace xlaprof

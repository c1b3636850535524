// Finds facts in the events of a trace that XProf converted from an XSpace. The names are the same;
// the statistics are arguments (texts, mostly).
#pragma once

#include "profiler/import/trace/trace_args.h"
#include "profiler/import/trace/trace_tracks.h"
#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

class XprofFacts {
 public:
  XprofFacts(ImportContext& context, XFacts& facts) : context_(context), facts_(facts) {}

  // Returns the kind of an event of XProf, judging by its name and its arguments.
  TraceKind KindOf(const TraceArgs& args, const TraceTrack& track, TraceKind by_name) const;
  // Adds the facts that an event, which is now `row`, contributes to the fact tables. `offset` is
  // its place in the source.
  absl::Status Add(const TraceArgs& args, const TraceTrack& track, TraceKind kind, const Event& row,
                   int64_t offset);

 private:
  absl::StatusOr<StringId> TextOf(const TraceArgs& args, std::string_view key);

  ImportContext& context_;
  XFacts& facts_;
};

}  // namespace xlaprof

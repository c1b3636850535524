#include "profiler/import/plan/trace_runs.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <map>

namespace xlaprof {
namespace {

struct Trace {
  const IdentifiedFile* file = nullptr;
  Place* place = nullptr;
  // Times of the trace's own clock if it is not known when it began.
  int64_t begin_ns = 0, end_ns = 0;

  const TraceSpan& span() const { return *file->span; }
};

bool AreOneJob(const Trace& trace_a, const Trace& trace_b) {
  const TraceSpan &a = trace_a.span(), &b = trace_b.span();
  if (a.base_epoch_ns.has_value() != b.base_epoch_ns.has_value()) return false;
  if (a.world_size != b.world_size) return false;
  if (a.rank.has_value() != b.rank.has_value()) return false;
  if (a.rank && a.rank == b.rank) return false;
  // Without a clock, times say nothing: ranks alone decide.
  if (!a.base_epoch_ns) return a.rank.has_value();
  return trace_a.begin_ns <= trace_b.end_ns && trace_b.begin_ns <= trace_a.end_ns;
}

std::string NameOf(const Trace& first) {
  if (!first.span().base_epoch_ns) return first.file->path.filename().string();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(time_t(first.begin_ns / 1'000'000'000)));
}

void NameCaptures(std::vector<Trace>& traces) {
  std::ranges::stable_sort(traces, {}, &Trace::begin_ns);
  std::vector<std::vector<Trace*>> captures;
  for (Trace& trace : traces) {
    auto fits = [&](const std::vector<Trace*>& capture) {
      return std::ranges::all_of(capture,
                                 [&](const Trace* other) { return AreOneJob(*other, trace); });
    };
    auto capture = std::ranges::find_if(captures, fits);
    if (capture == captures.end()) capture = captures.insert(captures.end(), std::vector<Trace*>());
    capture->push_back(&trace);
  }
  if (captures.size() < 2) return;
  std::map<std::string, int> names;
  for (const auto& capture : captures) ++names[NameOf(*capture.front())];
  for (const auto& capture : captures) {
    std::string name = NameOf(*capture.front());
    if (names[name] > 1) name += " " + capture.front()->file->path.filename().string();
    for (Trace* trace : capture) {
      trace->place->capture = name;
      trace->place->is_of_traces = true;
    }
  }
}

}  // namespace

void GroupTraces(std::span<const IdentifiedFile> files, std::vector<Place>& places) {
  std::map<std::filesystem::path, std::vector<Trace>> traces;  // by root
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].span) continue;
    const TraceSpan& span = *files[i].span;
    Trace trace{.file = &files[i], .place = &places[i]};
    const int64_t base_ns = span.base_epoch_ns.value_or(0);
    if (span.first_ns <= span.last_ns &&
        !__builtin_add_overflow(span.first_ns, base_ns, &trace.begin_ns) &&
        !__builtin_add_overflow(span.last_ns, base_ns, &trace.end_ns))
      traces[places[i].root].push_back(trace);
  }
  // RUN folders separate the captures already.
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].run_folder.empty() && MayBeRead(files[i])) traces.erase(places[i].root);
  }
  for (auto& [root, found] : traces) NameCaptures(found);
}

}  // namespace xlaprof

#include "profiler/import/trace_runs.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <map>

#include "profiler/import/chrome/chrome_capture.h"

namespace xlaprof {

extern const Importer chrome;

namespace {

struct Trace {
  FoundFile* file = nullptr;
  ChromeCapture capture;
  // Times of the trace's own clock if it is not known when it began.
  int64_t begin_ns = 0, end_ns = 0;
};

bool AreOneJob(const Trace& a, const Trace& b) {
  if (a.capture.base_epoch_ns.has_value() != b.capture.base_epoch_ns.has_value()) return false;
  if (a.capture.world_size != b.capture.world_size) return false;
  if (a.capture.rank.has_value() != b.capture.rank.has_value()) return false;
  if (a.capture.rank && a.capture.rank == b.capture.rank) return false;
  // Without a clock, times say nothing: ranks alone decide.
  if (!a.capture.base_epoch_ns) return a.capture.rank.has_value();
  return a.begin_ns <= b.end_ns && b.begin_ns <= a.end_ns;
}

std::string NameOf(const Trace& first) {
  if (!first.capture.base_epoch_ns) return first.file->path.filename().string();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(time_t(first.begin_ns / 1'000'000'000)));
}

void NameRuns(std::vector<Trace>& traces) {
  std::stable_sort(traces.begin(), traces.end(),
                   [](const Trace& a, const Trace& b) { return a.begin_ns < b.begin_ns; });
  std::vector<std::vector<Trace*>> runs;
  for (Trace& trace : traces) {
    auto fits = [&](const std::vector<Trace*>& run) {
      return std::all_of(run.begin(), run.end(),
                         [&](const Trace* other) { return AreOneJob(*other, trace); });
    };
    auto run = std::find_if(runs.begin(), runs.end(), fits);
    if (run == runs.end()) run = runs.insert(runs.end(), std::vector<Trace*>());
    run->push_back(&trace);
  }
  if (runs.size() < 2) return;
  std::map<std::string, int> names;
  for (const auto& run : runs) ++names[NameOf(*run.front())];
  for (const auto& run : runs) {
    std::string name = NameOf(*run.front());
    if (names[name] > 1) name += " " + run.front()->file->path.filename().string();
    for (Trace* trace : run) {
      trace->file->run = name;
      trace->file->is_trace = true;
    }
  }
}

}  // namespace

void GroupTraces(std::vector<FoundFile>& files) {
  std::map<std::filesystem::path, std::vector<Trace>> traces;  // by root
  std::map<std::filesystem::path, int> candidates;
  auto is_candidate = [](const FoundFile& file) {
    return MayBeRead(file) && file.run.empty() && file.dump.empty() && file.path != "-";
  };
  for (const FoundFile& file : files) {
    // RUN folders separate the runs already.
    if (!file.run.empty() && MayBeRead(file)) candidates[file.root] = INT32_MIN;
    if (is_candidate(file)) ++candidates[file.root];
  }
  for (FoundFile& file : files) {
    if (!is_candidate(file) || candidates[file.root] < 2 || file.format == nullptr ||
        file.format->importer != &chrome)
      continue;
    auto opened = file.Open();
    if (!opened.ok()) continue;
    Trace trace{.file = &file, .capture = DescribeChromeCapture(opened->bytes())};
    const int64_t base_ns = trace.capture.base_epoch_ns.value_or(0);
    if (trace.capture.first_ns <= trace.capture.last_ns &&
        !__builtin_add_overflow(trace.capture.first_ns, base_ns, &trace.begin_ns) &&
        !__builtin_add_overflow(trace.capture.last_ns, base_ns, &trace.end_ns))
      traces[file.root].push_back(trace);
  }
  for (auto& [root, found] : traces) NameRuns(found);
}

}  // namespace xlaprof

#include "analyzers/run/host_samples.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace xlaprof {
namespace {

// Parts of paths of libraries that load training data.
constexpr std::array<std::string_view, 10> kLoaders{"torch/utils/data/",
                                                    "torch_xla/distributed/parallel_loader.py",
                                                    "site-packages/torchdata/",
                                                    "site-packages/grain/",
                                                    "site-packages/datasets/",
                                                    "site-packages/webdataset/",
                                                    "site-packages/streaming/",
                                                    "site-packages/ffcv/",
                                                    "nvidia/dali/",
                                                    "tensorflow/python/data/"};

// Returns the track of the main thread, or of the only one; 0: there is none.
absl::StatusOr<int64_t> MainTrack(const Run& run, int64_t process_id) {
  XP_TRY(const OptInt track,
         run.store().One<int64_t>(
             "SELECT t.id FROM main.track t LEFT JOIN main.process p ON p.id = t.process_id WHERE "
             "t.kind = 'samples' AND coalesce(t.process_id, 0) = ?1 ORDER BY t.tid IS NOT p.pid, "
             "t.id LIMIT 1",
             process_id));
  return track.value_or(0);
}

}  // namespace

bool IsOfDataLoader(std::string_view file) {
  return std::ranges::any_of(
      kLoaders, [&](std::string_view part) { return file.find(part) != std::string_view::npos; });
}

absl::StatusOr<HostSamples> HostSamples::Of(const Run& run, int64_t process_id) {
  HostSamples out;
  XP_TRY(const bool has_samples, run.store().HasRows("host_sample"));
  if (!has_samples) return out;
  XP_TRY(const int64_t track, MainTrack(run, process_id));
  XP_TRY(out.samples_,
         run.store().Collect(
             "SELECT ts_ns, dur_ns, stack_id FROM host_sample WHERE track_id = ?1 ORDER BY ts_ns",
             [](int64_t ts_ns, int64_t dur_ns, int64_t stack_id) {
               return Sample{ts_ns, dur_ns, stack_id};
             },
             track));
  XP_TRY(run.store().Each(
      "SELECT stack_id, function, file, line, is_user FROM frame WHERE stack_id IN (SELECT stack_id "
      "FROM host_sample WHERE track_id = ?1) ORDER BY stack_id, depth",
      [&](int64_t id, OptText function, OptText file, OptInt line, bool is_user) {
        Stack& stack = out.stacks_[id];
        if (!file) return;
        const SourcePlace place{.file = *file, .line = line, .function = function.value_or("")};
        if (stack.innermost.empty()) stack.innermost = place;
        stack.in_loader |= IsOfDataLoader(*file);
        if (is_user) stack.users.push_back(place);
      },
      track));
  return out;
}

template <class Fn>
void HostSamples::EachIn(std::span<const Interval> intervals, Fn&& fn) const {
  for (const Interval& interval : intervals) {
    auto at = std::ranges::lower_bound(samples_, interval.begin_ns, {}, &Sample::ts_ns);
    for (; at != samples_.end() && at->ts_ns < interval.end_ns; ++at)
      fn(*at, stacks_.find(at->stack_id)->second);
  }
}

std::optional<LastSeen> HostSamples::last() const {
  if (samples_.empty()) return std::nullopt;
  const auto place = [&](const Sample& sample) -> const SourcePlace& {
    const Stack& stack = stacks_.find(sample.stack_id)->second;
    return stack.users.empty() ? stack.innermost : stack.users.front();
  };
  const Sample& last = samples_.back();
  int64_t since_ns = last.ts_ns;
  for (auto sample = samples_.rbegin(); sample != samples_.rend(); ++sample) {
    const SourcePlace& of = place(*sample);
    if (of.file != place(last).file || of.function != place(last).function) break;
    since_ns = sample->ts_ns;
  }
  return LastSeen{.place = place(last), .ns = last.ts_ns - since_ns};
}

HostSamples::Total HostSamples::TotalIn(std::span<const Interval> intervals) const {
  Total total;
  EachIn(intervals, [&](const Sample& sample, const Stack& stack) {
    ++total.samples;
    total.ns += sample.dur_ns;
    if (!stack.in_loader) return;
    ++total.loader_samples;
    total.loader_ns += sample.dur_ns;
  });
  return total;
}

double HostSamples::ShareOf(const SourcePlace& function, Interval interval) const {
  int64_t examined = 0, samples = 0;
  EachIn({{interval}}, [&](const Sample&, const Stack& stack) {
    ++examined;
    samples += std::ranges::any_of(stack.users, [&](const SourcePlace& user) {
      return user.file == function.file && user.function == function.function;
    });
  });
  return examined > 0 ? double(samples) / double(examined) : 0.0;
}

std::optional<SampledFunction> HostSamples::FunctionIn(std::span<const Interval> intervals,
                                                       bool in_loader) const {
  struct Places {
    int64_t samples = 0;
    std::map<SourcePlace, int64_t> lines;
  };
  std::map<std::pair<std::string, std::string>, Places> functions;  // by file and name
  int64_t examined = 0;
  EachIn(intervals, [&](const Sample&, const Stack& stack) {
    ++examined;
    if (stack.users.empty() || (in_loader && !stack.in_loader)) return;
    const SourcePlace& user = stack.users.front();
    Places& places = functions[{user.file, user.function}];
    ++places.samples;
    ++places.lines[user];
  });
  if (functions.empty()) return std::nullopt;
  const auto& most =
      *std::ranges::max_element(functions, {}, [](const auto& of) { return of.second.samples; });
  const auto& line =
      *std::ranges::max_element(most.second.lines, {}, [](const auto& of) { return of.second; });
  return SampledFunction{.place = line.first, .samples = most.second.samples, .examined = examined};
}

}  // namespace xlaprof

#include "analyzers/run/host_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "profiler/vocabulary/code.h"

namespace xlaprof {
namespace {

// Finds out what a stack shows, from its frames, innermost first. What a library does for the user's
// line is that library's work. A function of the user that a module or jax.jit calls is traced.
class StackReader {
 public:
  void Add(std::string_view file, CodeOwner owner) {
    const CodeFile code{owner, FindCode(file).traits};
    if (owner == CodeOwner::kLoader) {
      is_in_loader_ |= !is_in_torch_xla_;  // MpDeviceLoader marks the steps, too
    } else if (code.is_user()) {
      is_in_user_ = true;
    } else if (!is_in_user_) {
      is_in_torch_xla_ |= owner == CodeOwner::kTorchXla;
      calls_operations_ |= code.Has(CodeTrait::kOperations);
      is_in_jax_ |= owner == CodeOwner::kJax;
    } else if (!std::exchange(has_caller_, true)) {
      calls_operations_ |= code.Has(CodeTrait::kModuleCall);
      is_traced_by_jax_ |= owner == CodeOwner::kJax && !code.Has(CodeTrait::kCallback);
    }
  }
  bool is_in_torch_xla() const { return is_in_torch_xla_; }
  // `is_lazy` says whether PyTorch's operations are recorded, and not executed one by one.
  Doing doing(bool is_lazy) const {
    if (is_in_loader_) return Doing::kInput;
    if (is_in_torch_xla_ || is_traced_by_jax_ || (calls_operations_ && is_lazy))
      return Doing::kTracing;
    return calls_operations_ || is_in_jax_ ? Doing::kRuntime : Doing::kUserCode;
  }

 private:
  // Frames inside of the user's code, or in a data loader, show these.
  bool is_in_loader_ = false, is_in_torch_xla_ = false, is_in_jax_ = false;
  bool calls_operations_ = false, is_traced_by_jax_ = false;
  // Says whether a frame of the user's code came, and one of the library that calls it.
  bool is_in_user_ = false, has_caller_ = false;
};

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
  absl::flat_hash_map<int64_t, StackReader> readers;
  XP_TRY(run.store().Each(
      "SELECT stack_id, function, file, line, owner FROM frame WHERE stack_id IN (SELECT stack_id "
      "FROM host_sample WHERE track_id = ?1) ORDER BY stack_id, depth",
      [&](int64_t id, OptText function, OptText file, OptInt line, CodeOwner owner) {
        Stack& stack = out.stacks_[id];
        if (!file) return;
        const SourcePlace place{.file = *file, .line = line, .function = function.value_or("")};
        if (stack.innermost.empty()) stack.innermost = place;
        if (owner == CodeOwner::kUser) stack.users.push_back(place);
        readers[id].Add(*file, owner);
      },
      track));
  const bool is_lazy = std::ranges::any_of(
      readers, [](const auto& of) { return of.second.is_in_torch_xla(); });
  for (const auto& [id, reader] : readers) out.stacks_[id].doing = reader.doing(is_lazy);
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
    for (Total::Part* part : {&total.all, &total.by_doing[size_t(stack.doing)]}) {
      ++part->samples;
      part->ns += sample.dur_ns;
    }
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
                                                       Doing doing) const {
  struct Function {
    int64_t samples = 0;
    size_t depth = 0;  // the largest number of the user's frames that called it
    std::map<SourcePlace, int64_t> lines;
  };
  using Name = std::pair<std::string, std::string>;
  std::map<Name, Function> functions;  // by file and name
  int64_t examined = 0, of_kind = 0;
  EachIn(intervals, [&](const Sample&, const Stack& stack) {
    ++examined;
    if (stack.doing != doing || stack.users.empty()) return;
    ++of_kind;
    std::set<Name> seen;  // a recursive function counts once
    for (size_t i = 0; i < stack.users.size(); ++i) {
      const SourcePlace& user = stack.users[i];
      if (!seen.emplace(user.file, user.function).second) continue;
      Function& function = functions[{user.file, user.function}];
      ++function.samples;
      function.depth = std::max(function.depth, stack.users.size() - i);
      ++function.lines[user];
    }
  });
  std::erase_if(functions, [&](const auto& of) { return 2 * of.second.samples < of_kind; });
  if (functions.empty()) return std::nullopt;
  const auto& [name, innermost] =
      *std::ranges::max_element(functions, {}, [](const auto& of) { return of.second.depth; });
  const auto& line =
      *std::ranges::max_element(innermost.lines, {}, [](const auto& of) { return of.second; });
  return SampledFunction{
      .place = line.first, .samples = innermost.samples, .examined = examined};
}

}  // namespace xlaprof

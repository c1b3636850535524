#include "profiler/import/observed/sampled_stacks.h"

#include <algorithm>

#include "base/category.h"
#include "base/source_place.h"
#include "profiler/store/issue_codes.h"
#include "profiler/store/tables.h"

namespace xlaprof {
namespace {

constexpr int kMostFrames = 256;  // the sampler writes no deeper stacks
constexpr int64_t kLongestPeriodNs = 3'600'000'000'000;
constexpr int64_t kMostPeriods = 2;  // a sample stands for at most this many periods

// Writes the events of one thread while its samples pass by.
class OpenFrames {
 public:
  OpenFrames(ImportContext& context, int64_t track_id, StringId category)
      : context_(context), track_id_(track_id), category_(category) {}

  // Ends the events deeper than `depth` frames.
  absl::Status EndBelow(size_t depth, int64_t ts_ns) {
    while (open_.size() > depth) {
      const Open& open = open_.back();
      XP_TRY(context_.events.Add(track_id_, {.ts_ns = open.ts_ns,
                                             .dur_ns = ts_ns - open.ts_ns,
                                             .name = open.name,
                                             .category = category_}));
      open_.pop_back();
    }
    return absl::OkStatus();
  }
  void Begin(int32_t frame, StringId name, int64_t ts_ns) { open_.push_back({frame, name, ts_ns}); }
  size_t depth() const { return open_.size(); }
  int32_t at(size_t depth) const { return open_[depth].frame; }

 private:
  struct Open {
    int32_t frame;
    StringId name;
    int64_t ts_ns;
  };
  ImportContext& context_;
  const int64_t track_id_;
  const StringId category_;
  std::vector<Open> open_;
};

}  // namespace

void SampledStacks::Odd(int64_t offset) {
  odd_.Count(
      "odd_sample", Severity::kWarning,
      "Some sampled stacks refer to frames that the file does not describe. They were left out.",
      offset);
}

void SampledStacks::AddCode(OptInt number, std::string function, std::string file, int64_t offset) {
  if (number != int64_t(codes_.size())) return Odd(offset);
  const CodeOwner owner = FindCode(file, folders_).owner;
  codes_.push_back({std::move(function), std::move(file), owner});
}

void SampledStacks::AddFrame(OptInt number, OptInt caller, OptInt code, OptInt line,
                             int64_t offset) {
  const int64_t count = int64_t(frames_.size());
  if (number != count || count >= INT32_MAX || !caller || *caller < -1 || *caller >= count ||
      !code || *code < 0 || *code >= int64_t(codes_.size()))
    return Odd(offset);
  const int depth = *caller < 0 ? 0 : frames_[size_t(*caller)].depth + 1;
  if (depth >= kMostFrames) return Odd(offset);
  frames_.push_back({.caller = int32_t(*caller),
                     .code = uint32_t(*code),
                     .line = std::max<int64_t>(0, line.value_or(0)),
                     .depth = depth});
}

void SampledStacks::Add(OptInt tid, const Moment& moment, OptInt frame, int64_t offset) {
  if (!tid || !frame || *frame < 0 || *frame >= int64_t(frames_.size())) return Odd(offset);
  std::vector<Sample>& samples = threads_[*tid].samples;
  if (!samples.empty() && samples.back().moment.ts_ns >= moment.ts_ns) return;  // the clock was set
  samples.push_back(
      {{.ts_ns = moment.ts_ns, .period_ns = std::min(moment.period_ns, kLongestPeriodNs)},
       int32_t(*frame)});
}

absl::StatusOr<int64_t> SampledStacks::StackOf(Store& store, int32_t frame) {
  int64_t& id = frames_[size_t(frame)].stack_id;
  if (id != 0) return id;
  std::vector<Store::Frame> stack;
  for (int32_t at = frame; at >= 0; at = frames_[size_t(at)].caller) {
    const Code& code = codes_[frames_[size_t(at)].code];
    stack.push_back({code.function, code.file, frames_[size_t(at)].line, code.owner});
  }
  XP_TRY(id, store.AddStack(stack));
  return id;
}

absl::Status SampledStacks::WriteThread(ImportContext& context, int64_t process_id, int64_t tid,
                                        const Thread& thread) {
  XP_TRY(const int64_t track_id,
         context.Add(TrackRow{
             .process_id = process_id,
             .kind = TrackKind::kSamples,
             .name = fmt::format("{} (sampled)", thread.name.empty() ? "thread" : thread.name),
             .tid = tid}));
  XP_TRY(const StringId category, context.store.Intern(TextOf(Category::kSample)));
  OpenFrames open(context, track_id, category);
  std::vector<int32_t> path;  // frames of one sample, outermost first
  for (size_t i = 0; i < thread.samples.size(); ++i) {
    const auto& [moment, frame] = thread.samples[i];
    int64_t dur_ns = moment.period_ns;
    if (i + 1 < thread.samples.size())
      dur_ns = std::min(thread.samples[i + 1].moment.ts_ns - moment.ts_ns, kMostPeriods * dur_ns);
    XP_TRY(const int64_t stack_id, StackOf(context.store, frame));
    XP_TRY(context.store.Add(HostSampleRow{.process_id = process_id,
                                           .track_id = track_id,
                                           .ts_ns = moment.ts_ns,
                                           .dur_ns = dur_ns,
                                           .stack_id = stack_id}));
    path.resize(size_t(frames_[size_t(frame)].depth) + 1);
    for (int32_t at = frame; at >= 0; at = frames_[size_t(at)].caller)
      path[size_t(frames_[size_t(at)].depth)] = at;
    size_t same = 0;
    while (same < std::min(open.depth(), path.size()) && open.at(same) == path[same]) ++same;
    XP_TRY(open.EndBelow(same, moment.ts_ns));
    for (size_t depth = same; depth < path.size(); ++depth) {
      Frame& of = frames_[size_t(path[depth])];
      if (of.name == 0) {
        const Code& code = codes_[of.code];
        const SourcePlace place{
            .file = code.file, .line = of.line == 0 ? OptInt() : OptInt(of.line), .function = {}};
        XP_TRY(of.name,
               context.store.Intern(fmt::format("{} ({})", code.function, place.ShortText())));
      }
      open.Begin(path[depth], of.name, moment.ts_ns);
    }
    const bool is_next_late = i + 1 == thread.samples.size() ||
                              thread.samples[i + 1].moment.ts_ns > moment.ts_ns + dur_ns;
    if (is_next_late) XP_TRY(open.EndBelow(0, moment.ts_ns + dur_ns));
  }
  return context.events.Finish(track_id);
}

absl::Status SampledStacks::Write(ImportContext& context, int64_t process_id) {
  for (const auto& [tid, thread] : threads_) {
    if (!thread.samples.empty()) XP_TRY(WriteThread(context, process_id, tid, thread));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof

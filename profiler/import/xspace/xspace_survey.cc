// Finds out which names of a plane are the user's annotations.
#include <algorithm>

#include "profiler/import/xspace/xspace_plane.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

using wire::Reader;

// Returns whether only the runtime writes a statistic, so that an event that has it is not the
// user's.
bool OnlyFromRuntime(std::string_view key) {
  return key == "_src" || key == "_pt" || key == "_p" || key == "_ct" || key == "_c" ||
         key == "_a" || key == "hlo_op" || key == "correlation_id";
}

bool IsFrontThread(std::string_view line) {
  std::string_view thread = line.substr(0, line.find('/'));
  return thread == "python" || thread == "python3" || thread == "main" || thread == "MainThread";
}

}  // namespace

// Finds the names that are the user's annotations (xp.Trace, TraceAnnotation). Nothing in the file
// says so. A name is taken for the user's if it is seen on a thread that runs the user's code
// (called python or main, or that syncs, calls jitted functions, steps or has Python calls) and
//   - it is not the runtime's (xspace_names.cc: known names, and all with "::"),
//   - it is never seen on another thread, nor inside an event of the runtime in which no user code
//     runs (a compile, a sync, a call of a jitted function), as HLO passes and PJRT's small steps
//     are,
//   - it never carries a statistic that only the runtime writes (_pt, _src, hlo_op, ...),
//   - it is not among the stages of a compilation that was open when the capture began or ended.
//     The event of that compilation is missing then, and the stages have nothing around them.
// An event with _r is the user's in any case, because it marks a step.
void XPlane::Survey() {
  Reader in(bytes_);
  size_t number = 0;
  for (EventMetadata& event : events_) {
    event.what = ClassifyHostName(event.name);
    event.stage = IsCompilerStage(event.name);
  }

  while (in.Next()) {
    if (in.Is(3, wire::kBytes)) SurveyLine(in.bytes(), number++);
  }
  if (in.cut() && in.number() == 3) SurveyLine(in.rest(), number++);
  for (EventMetadata& event : events_)
    event.user = !event.what.known && event.seen_as_user && !event.seen_as_runtime;
}

void XPlane::SurveyLine(std::string_view bytes, size_t number) {
  wire::Line line;
  wire::Decode(bytes, &line);
  bool front = IsFrontThread(line.name);
  int64_t runtime_until_ps = INT64_MIN;
  // Unknown names outside of everything, in order. A compiler stage is nullptr, and an event with a
  // role ends the zone.
  std::vector<EventMetadata*> outside;
  size_t first_stage = SIZE_MAX, last_stage = 0;
  auto close_zone = [&](size_t end) {
    for (size_t i = first_stage; i < end; ++i) {
      if (outside[i] != nullptr) outside[i]->seen_as_runtime = true;
    }
    first_stage = SIZE_MAX;
  };
  std::vector<EventMetadata*> inside;
  Reader in(bytes);
  while (in.Next()) {
    if (!in.Is(4, wire::kBytes)) continue;
    wire::Event event;
    wire::DecodeHead(in.bytes(), &event);
    const uint32_t index = event_ids_.Find(event.metadata_id);
    if (index == UINT32_MAX) continue;
    EventMetadata& name = events_[index];
    if (name.what.category == Category::kPython) {
      front = true;
      continue;
    }
    bool enclosed = event.offset_ps < runtime_until_ps;
    if (name.what.known) {
      XRole role = name.what.role;
      front |= role == XRole::kStepMark || role == XRole::kSync || role == XRole::kCall ||
               role == XRole::kJaxCompile;
      int64_t end_ps = 0;
      if (!HoldsUserCode(name.what) &&
          !__builtin_add_overflow(event.offset_ps, event.duration_ps, &end_ps)) {
        runtime_until_ps = std::max(runtime_until_ps, end_ps);
      }
      if (enclosed) continue;
      if (name.stage) {
        if (first_stage == SIZE_MAX) first_stage = outside.size();
        last_stage = outside.size();
        outside.push_back(nullptr);
      } else if (role != XRole::kNone && first_stage != SIZE_MAX) {
        close_zone(last_stage);
      }
      continue;
    }
    bool from_runtime = false, root = false;
    wire::Decode(in.bytes(), &event, [&](std::string_view message) {
      wire::Stat stat;
      wire::Decode(message, &stat);
      StatName* key = StatOf(stat.metadata_id);
      if (key == nullptr) return;
      from_runtime |= OnlyFromRuntime(key->name);
      root |= key->key == Key::kRoot;
    });
    if (root) {
      front = true;
      continue;
    }
    if (enclosed || from_runtime) {
      if (inside.empty() || inside.back() != &name) inside.push_back(&name);
    } else {
      outside.push_back(&name);
    }
  }
  if (first_stage != SIZE_MAX) close_zone(outside.size());
  for (EventMetadata* name : inside) name->seen_as_runtime = true;
  for (EventMetadata* name : outside) {
    if (name != nullptr) (front ? name->seen_as_user : name->seen_as_runtime) = true;
  }
  if (front_.size() <= number) front_.resize(number + 1);
  front_[number] = front;
}

}  // namespace xlaprof

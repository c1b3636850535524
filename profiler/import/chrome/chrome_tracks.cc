#include "profiler/import/chrome/chrome_tracks.h"

#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using json::Kind;
using json::Value;

std::string Utf8Of(const Value& value) { return ToUtf8(json::Decode(value)); }

}  // namespace

TraceProcess* ChromeTracks::ProcessOf(const Value& pid) {
  auto [found, is_new] =
      process_of_.emplace(pid.kind() == Kind::kNone ? std::string_view() : pid.raw(), nullptr);
  if (is_new) {
    found->second = tracks_.AddProcess();
    found->second->pid = pid.Int();
    if (!found->second->pid && pid.kind() != Kind::kNone) found->second->text = Utf8Of(pid);
  }
  return found->second;
}

TraceTrack* ChromeTracks::TrackOf(const ChromeEvent& event) {
  const Value& tid = TidOf(event);
  const Key key(event.pid.kind() == Kind::kNone ? std::string_view() : event.pid.raw(),
                tid.kind() == Kind::kNone ? std::string_view() : tid.raw());
  auto [found, is_new] = track_of_.emplace(key, nullptr);
  if (is_new) {
    TraceTrack* track = found->second = tracks_.AddTrack(ProcessOf(event.pid));
    track->tid = tid.Int();
    if (!track->tid && tid.kind() != Kind::kNone) track->text = Utf8Of(tid);
  }
  const uint32_t numbers = NumbersOf(event);
  if (event.pid.number() != 0 && tid.number() != 0)
    recent_[PlaceOf(numbers)] = {numbers, found->second};
  return found->second;
}

bool ChromeTracks::TakeMetadata(const ChromeEvent& event) {
  const std::string_view what = event.name.raw();
  const Value* name = event.Arg("name");
  if (what == "process_name") {
    TraceProcess* process = ProcessOf(event.pid);
    tracks_.Name(*process, name == nullptr ? process->name : Utf8Of(*name));
  } else if (what == "process_labels") {
    if (const Value* labels = event.Arg("labels")) ProcessOf(event.pid)->labels = Utf8Of(*labels);
  } else if (what == "process_sort_index") {
    if (const Value* sort = event.Arg("sort_index")) ProcessOf(event.pid)->sort = sort->Int();
  } else if (what == "thread_name") {
    TraceTrack* track = TrackOf(event);
    TraceTracks::Name(*track, name == nullptr ? track->name : Utf8Of(*name));
  } else if (what == "thread_sort_index") {
    if (const Value* sort = event.Arg("sort_index")) TrackOf(event)->sort = sort->Int();
  } else {
    return false;
  }
  return true;
}

}  // namespace xlaprof

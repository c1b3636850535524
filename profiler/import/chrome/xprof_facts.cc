#include "profiler/import/chrome/xprof_facts.h"

#include "profiler/import/text/utf8.h"
#include "profiler/import/xspace/program_id.h"

namespace xlaprof {
namespace {

using json::Value;

int64_t NumberOf(const ChromeEvent& event, std::string_view key) {
  const Value* value = event.Arg(key);
  return value == nullptr ? -1 : value->Int().value_or(-1);
}

// Returns "TPU:0" for the plane "/device:TPU:0 (pid 3)".
std::string DeviceOf(const TraceProcess& process) {
  constexpr std::string_view kPlane = "/device:";
  std::string name = process.name;
  if (name.starts_with(kPlane)) name.erase(0, kPlane.size());
  return name.substr(0, name.find(' '));
}

}  // namespace

absl::StatusOr<StringId> XprofFacts::TextOf(const ChromeEvent& event, std::string_view key) {
  const Value* value = event.Arg(key);
  if (value == nullptr) return StringId(0);
  return context_.store.Intern(ToUtf8(json::Decode(*value)));
}

ChromeKind XprofFacts::KindOf(const ChromeEvent& event, const TraceTrack& track,
                              ChromeKind by_name) const {
  if (track.is_device) return {track.device_category};
  if (by_name.role == XRole::kNone && by_name.category == Category::kHost) {
    if (event.Arg("step_num") != nullptr) return {Category::kStep, XRole::kStep};
    // A call of a GPU's driver names the op that it launches; an op of a CPU's client has no number
    // of a call.
    if (event.Arg("hlo_op") != nullptr)
      return {event.Arg("correlation_id") != nullptr ? Category::kExecute : Category::kOp};
  }
  return by_name;
}

absl::Status XprofFacts::Add(const ChromeEvent& event, const TraceTrack& track, ChromeKind kind,
                             const Event& row) {
  const int64_t end_ns = row.ts_ns + std::max<int64_t>(0, row.dur_ns);
  const int64_t run_id = NumberOf(event, "run_id");
  if (track.is_device) {
    if (kind.category == Category::kModule || kind.category == Category::kOp)
      facts_.SawDeviceWork();
    XP_TRY(StringId device, context_.store.Intern(DeviceOf(*track.process)));
    if (kind.category == Category::kModule) {
      std::string_view name = context_.store.Text(row.name);
      facts_.Add(XModule{.ts_ns = row.ts_ns,
                         .end_ns = end_ns,
                         .program_id = ProgramIdOf(name),
                         .run_id = run_id,
                         .device = device,
                         .name = name,
                         .offset = event.offset});
    } else if (kind.category == Category::kStep) {
      facts_.AddDeviceStep(row.ts_ns, end_ns, row.name, event.offset, device);
    }
    return absl::OkStatus();
  }
  if (kind.category == Category::kOp) {
    StringId device = 0;
    if (int64_t ordinal = NumberOf(event, "device_ordinal"); ordinal > 0) {
      XP_TRY(device, context_.store.Intern(fmt::format("CPU:{}", ordinal)));
    }
    const Value* program = event.Arg("program_id");
    facts_.Add(
        XOp{.ts_ns = row.ts_ns,
            .end_ns = end_ns,
            .name = row.name,
            .program = facts_.Program(program != nullptr ? program->Int() : OptInt(), device),
            .run_id = run_id,
            .on_host = true});
    return absl::OkStatus();
  }
  if (kind.role == XRole::kNone) return absl::OkStatus();
  XMark mark{.ts_ns = row.ts_ns,
             .end_ns = end_ns,
             .role = kind.role,
             .name = row.name,
             .device = NumberOf(event, "device_ordinal"),
             .track_id = track.id,
             .offset = event.offset,
             .front = track.front};
  if (kind.role == XRole::kGraphCompile) {
    XP_TRY(mark.text, TextOf(event, "graph_hash"));
  } else if (kind.role == XRole::kModule) {
    XP_TRY(mark.text, TextOf(event, event.Arg("module") != nullptr ? "module" : "name"));
  }
  mark.number = kind.role == XRole::kStep      ? NumberOf(event, "step_num")
                : kind.role == XRole::kEnqueue ? run_id
                : event.Arg("size") != nullptr ? NumberOf(event, "size")
                                               : NumberOf(event, "bytes_transferred");
  facts_.Add(mark);
  return absl::OkStatus();
}

}  // namespace xlaprof

#include "profiler/import/trace/xprof_facts.h"

#include "profiler/import/text/utf8.h"
#include "profiler/import/xspace/program_id.h"

namespace xlaprof {
namespace {

int64_t NumberOf(const TraceArgs& args, std::string_view key) { return args.Int(key).value_or(-1); }

// Returns "TPU:0" for the plane "/device:TPU:0 (pid 3)".
std::string DeviceOf(const TraceProcess& process) {
  constexpr std::string_view kPlane = "/device:";
  std::string name = process.name;
  if (name.starts_with(kPlane)) name.erase(0, kPlane.size());
  return name.substr(0, name.find(' '));
}

}  // namespace

absl::StatusOr<StringId> XprofFacts::TextOf(const TraceArgs& args, std::string_view key) {
  const OptText text = args.Text(key);
  if (!text) return StringId(0);
  return context_.store.Intern(ToUtf8(*text));
}

TraceKind XprofFacts::KindOf(const TraceArgs& args, const TraceTrack& track,
                             TraceKind by_name) const {
  if (track.is_device) return {track.device_category};
  if (by_name.role == XRole::kNone && by_name.category == Category::kHost) {
    if (args.Has("step_num")) return {Category::kStep, XRole::kStep};
    // A call of a GPU's driver names the op that it launches; an op of a CPU's client has no number
    // of a call.
    if (args.Has("hlo_op"))
      return {args.Has("correlation_id") ? Category::kExecute : Category::kOp};
  }
  return by_name;
}

absl::Status XprofFacts::Add(const TraceArgs& args, const TraceTrack& track, TraceKind kind,
                             const Event& row, int64_t offset) {
  const int64_t end_ns = row.ts_ns + std::max<int64_t>(0, row.dur_ns);
  const int64_t run_id = NumberOf(args, "run_id");
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
                         .offset = offset});
    } else if (kind.category == Category::kStep) {
      facts_.AddDeviceStep(row.ts_ns, end_ns, row.name, offset, device);
    }
    return absl::OkStatus();
  }
  if (kind.category == Category::kOp) {
    StringId device = 0;
    if (int64_t ordinal = NumberOf(args, "device_ordinal"); ordinal > 0) {
      XP_TRY(device, context_.store.Intern(fmt::format("CPU:{}", ordinal)));
    }
    facts_.Add(XOp{.ts_ns = row.ts_ns,
                   .end_ns = end_ns,
                   .name = row.name,
                   .program = facts_.Program(args.Int("program_id"), device),
                   .run_id = run_id,
                   .on_host = true});
    return absl::OkStatus();
  }
  if (kind.role == XRole::kNone) return absl::OkStatus();
  XMark mark{.ts_ns = row.ts_ns,
             .end_ns = end_ns,
             .role = kind.role,
             .name = row.name,
             .device = NumberOf(args, "device_ordinal"),
             .track_id = track.id,
             .offset = offset,
             .front = track.front};
  if (kind.role == XRole::kGraphCompile) {
    XP_TRY(mark.text, TextOf(args, "graph_hash"));
  } else if (kind.role == XRole::kModule) {
    XP_TRY(mark.text, TextOf(args, args.Has("module") ? "module" : "name"));
  }
  mark.number = kind.role == XRole::kStep      ? NumberOf(args, "step_num")
                : kind.role == XRole::kEnqueue ? run_id
                : args.Has("size")             ? NumberOf(args, "size")
                                               : NumberOf(args, "bytes_transferred");
  facts_.Add(mark);
  return absl::OkStatus();
}

}  // namespace xlaprof

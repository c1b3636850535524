// Reads XSpaces, which XLA's profiler writes for torch_xla, JAX and TensorFlow (HOST.xplane.pb).
//
// A protobuf message: 1 planes*, 2 errors*, 3 warnings*, 4 hostnames*. A plane is a device, the
// host's threads, the HLO of the programs (/host:metadata) or the times of the session (Task
// Environment, often last). Planes hold lines, and lines hold events with statistics
// (xspace_plane.h). Times are picoseconds after their line's timestamp. That counts nanoseconds
// since 1970 or, in most files, since the start of the session.
#include <algorithm>
#include <map>

#include "profiler/import/graph/hlo_proto.h"
#include "profiler/import/importer.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/xspace/program_id.h"
#include "profiler/import/xspace/xspace_facts.h"
#include "profiler/import/xspace/xspace_plane.h"
#include "profiler/import/xspace/xspace_wire.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

using wire::Reader;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
// This many U+FFFD in the first bytes cannot come from names in another language.
constexpr int kManyReplacements = 16;

// Returns whether a text can be printed as a plane's name, without control characters.
bool IsName(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return uint8_t(c) >= 0x20 && c != 0x7f; });
}

bool IsPlaneName(std::string_view name) {
  return name.starts_with("/host:") || name.starts_with("/device:") || name == "Task Environment" ||
         name == "Host CPUs" || name == "Syscalls" || name.starts_with("/virtualdevice:") ||
         name.starts_with("#Chip");
}

// Returns how much the beginning of a message looks like an XPlane: 0 not at all, 1 it could be
// one, 2 it has a name of one.
int LikePlane(std::string_view bytes) {
  Reader in(bytes);
  int fields = 0, like = 0;
  while (fields < 64 && in.Next()) {
    ++fields;
    switch (in.number() << 3 | in.type()) {
      case 1 << 3 | wire::kVarint:
        break;
      case 2 << 3 | wire::kBytes:
        if (!IsName(in.bytes())) return 0;
        like = std::max(like, IsPlaneName(in.bytes()) ? 2 : 1);
        break;
      case 3 << 3 | wire::kBytes:
      case 4 << 3 | wire::kBytes:
      case 5 << 3 | wire::kBytes:
      case 6 << 3 | wire::kBytes:
        break;
      default:
        // A field of a later version would follow on from the known ones.
        if (in.number() <= 32) return 0;
    }
  }
  if (in.bad()) return 0;
  return like;
}

// Returns whether a capture went through a text codec. Bytes that were not UTF-8 became U+FFFD, so
// that now all of it is valid and the lengths no longer fit.
bool LooksReencoded(std::string_view head) {
  if (!head.starts_with('\n')) return false;
  int replacements = 0;
  for (size_t at = head.find(kReplacement); at != std::string_view::npos;
       at = head.find(kReplacement, at + kReplacement.size()))
    ++replacements;
  // The head may end inside a sequence, of four bytes at most.
  if (replacements < kManyReplacements || ValidUtf8Prefix(head) + 4 <= head.size()) return false;
  return head.find("/host:") != std::string_view::npos ||
         head.find("/device:") != std::string_view::npos ||
         head.find("Task Environment") != std::string_view::npos ||
         head.find("XLA Ops") != std::string_view::npos;
}

// Returns true if the top level is a chain of messages as in an XSpace, at least in the part that
// `bytes` has.
bool LikeXSpace(std::string_view bytes, int* like) {
  Reader in(bytes);
  *like = 0;
  int fields = 0;
  while (in.Next()) {
    ++fields;
    if (in.type() != wire::kBytes || in.number() > 4) return false;
    if (in.number() == 1) {
      int plane = LikePlane(in.bytes());
      if (plane == 0 && !in.bytes().empty()) return false;
      *like = std::max(*like, plane);
    } else if (!IsName(in.bytes().substr(0, 256)) && in.number() == 4) {
      return false;
    }
  }
  if (in.bad()) return false;
  if (in.cut()) {
    // The head of the file ends inside this plane.
    if (in.number() != 1 || in.rest().empty()) return fields > 0 && in.number() <= 4;
    int plane = LikePlane(in.rest());
    *like = std::max(*like, plane);
    return plane > 0;
  }
  return fields > 0;
}

int SniffXSpace(std::string_view head) {
  int like = 0;
  if (LikeXSpace(head, &like)) return like == 2 ? 98 : like == 1 ? 60 : 0;
  return LooksReencoded(head) ? 80 : 0;
}

class Reading {
 public:
  Reading(const Input& input, ImportContext& context)
      : input_(input), context_(context), file_(input.bytes, context) {}

  absl::Status Run() {
    XP_TRY(Scan());
    for (size_t i = 0; i < file_.categories.size(); ++i) {
      XP_TRY(file_.categories[i], context_.store.Intern(TextOf(Category(i))));
    }
    XP_TRY(SetClock());
    XP_TRY(ReadProcesses());
    if (file_.event_count > 0 || cut_) return absl::OkStatus();
    return context_.Issue(
        "empty_capture", Severity::kWarning,
        "The capture holds no events: nothing ran between its start and its end, or the profiler had no tracer. Capture while at least two steps run (longer duration_ms), and start the server before the first step.");
  }

 private:
  // Scans the top level: planes and texts, and how the file ends.
  absl::Status Scan() {
    Reader in(input_.bytes);
    while (in.Next()) {
      if (in.type() != wire::kBytes) continue;
      if (in.number() == 1) planes_.emplace_back(in.bytes(), false, file_);
      if (in.number() == 2 || in.number() == 3)
        XP_TRY(AddText(in.number() == 2, in.bytes(), file_.Offset(in.position())));
      if (in.number() == 4) hosts_.push_back(in.bytes());
    }
    int64_t at = file_.Offset(in.position());
    if ((in.bad() || in.cut()) && LooksReencoded(input_.bytes.substr(0, size_t(64) << 10))) {
      return DataLoss(
          "{}: the file has UTF-8 replacement characters at byte {}, so it was re-encoded as text, which destroys it. Copy it again in binary mode",
          input_.path, input_.bytes.find(kReplacement));
    }
    cut_ = in.cut();
    if (in.cut() && in.number() == 1 && in.type() == wire::kBytes && !in.rest().empty()) {
      planes_.emplace_back(in.rest(), true, file_);
      std::string inside = planes_.back().name().empty()
                               ? "a plane"
                               : fmt::format("plane {}", planes_.back().name());
      XP_TRY(context_.Issue(
          issue_codes::kCutFile, Severity::kWarning,
          fmt::format(
              "The file ends at byte {}, inside {}. Everything before that was read. Copy or capture it again.",
              input_.bytes.size(), inside),
          int64_t(input_.bytes.size())));
    } else if (in.cut()) {
      XP_TRY(context_.Issue(
          issue_codes::kCutFile, Severity::kWarning,
          fmt::format(
              "The file ends at byte {}, inside a message. Everything before that was read. Copy or capture it again.",
              input_.bytes.size()),
          int64_t(input_.bytes.size())));
    }
    if (in.bad()) {
      if (planes_.empty())
        return Invalid(
            "{}: not an XSpace (no protobuf field begins at byte {}). Try --as with another format",
            input_.path, at);
      XP_TRY(context_.Issue(
          "damaged_file", Severity::kWarning,
          fmt::format(
              "The file is not a protobuf message from byte {} on. Everything before that was read. Copy it again.",
              at),
          at));
    }
    if (planes_.empty() && hosts_.empty()) {
      XP_TRY(context_.Issue("no_planes", Severity::kWarning, "The XSpace has no planes."));
    }
    return absl::OkStatus();
  }

  absl::Status AddText(bool is_error, std::string_view text, int64_t offset) {
    XP_TRY(StringId clean, file_.Intern(text));
    return context_.Issue(
        is_error ? "profiler_error" : "profiler_warning",
        is_error ? Severity::kError : Severity::kWarning,
        fmt::format("The profiler itself reported: {}", context_.store.Text(clean)), offset);
  }

  // Sets the clock. The plane Task Environment, which may come last, says where relative times
  // begin.
  absl::Status SetClock() {
    int64_t start_ns = -1, first_ns = INT64_MAX;
    for (const XPlane& plane : planes_) {
      if (plane.name() == "Task Environment")
        start_ns = std::max(start_ns, plane.IntStat("profile_start_time"));
      first_ns = std::min(first_ns, plane.FirstEpochNs());
    }
    constexpr int64_t kLastEpochNs = int64_t(1) << 62;  // the year 2116
    if (start_ns > kLastEpochNs || (first_ns > kLastEpochNs && first_ns != INT64_MAX)) {
      XP_TRY(context_.Issue(
          "unbelievable_clock", Severity::kWarning,
          "According to its clock, the capture began after the year 2116. Its times count from its beginning instead."));
      if (start_ns > kLastEpochNs) start_ns = -1;
      if (first_ns > kLastEpochNs) first_ns = INT64_MAX;
    }
    if (start_ns <= 0 && first_ns == INT64_MAX) return absl::OkStatus();
    int64_t epoch_ns = start_ns > 0 ? start_ns : first_ns;
    XP_TRY(int64_t offset_ns, context_.AlignClock(epoch_ns));
    file_.relative_offset_ns = offset_ns;
    file_.epoch_offset_ns = offset_ns - epoch_ns;
    return absl::OkStatus();
  }

  // Reads the planes as processes. Host planes of different process ids are processes; everything
  // else belongs to the first.
  absl::Status ReadProcesses() {
    std::vector<int64_t> pids;
    for (const XPlane& plane : planes_) {
      int64_t pid = plane.IntStat("process_id");
      if (pid >= 0 && std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
    }
    OptText host;
    if (!hosts_.empty()) {
      XP_TRY(StringId clean, file_.Intern(hosts_[0]));
      host = std::string(context_.store.Text(clean));
    }
    size_t count = std::max<size_t>(1, pids.size());
    for (size_t p = 0; p < count; ++p) {
      XP_TRY(int64_t process_id,
             context_.NewProcess(host, pids.empty() ? OptInt() : OptInt(pids[p]), {}));
      XFacts facts(context_);
      std::vector<std::pair<int64_t, XPlane*>> mine;
      for (size_t i = 0; i < planes_.size(); ++i) {
        int64_t pid = planes_[i].IntStat("process_id");
        if (pid == (pids.empty() ? pid : pids[p]) || (p == 0 && pid < 0))
          mine.emplace_back(int64_t(i), &planes_[i]);
      }
      for (auto [index, plane] : mine) XP_TRY(AddGraphs(*plane, process_id, facts));
      int64_t events_before = file_.event_count, python_before = file_.python_count;
      for (auto [index, plane] : mine) XP_TRY(plane->Read(process_id, index, facts));
      XP_TRY(facts.Write());
      int64_t python = file_.python_count - python_before,
              events = file_.event_count - events_before;
      if (python > 0) {
        XP_TRY(context_.store.Add(
            SettingRow{process_id, SettingName::kPythonTracer, "on",
                       fmt::format("{} of {} events ({:.0f} %) are Python calls", python, events,
                                   100.0 * double(python) / double(events))}));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddGraphs(const XPlane& plane, int64_t process_id, XFacts& facts) {
    std::vector<XPlane::HloProto> protos = plane.HloProtos();
    // Graphs are sorted by program id, so that the rows do not depend on the order in the file.
    std::vector<std::pair<OptInt, const XPlane::HloProto*>> ordered;
    for (const XPlane::HloProto& proto : protos)
      ordered.emplace_back(ProgramIdOf(proto.module), &proto);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string located;
    for (auto [program_id, proto] : ordered) {
      auto graph =
          AddHloGraph(proto->bytes, program_id, file_.Offset(proto->bytes.data()), context_);
      if (!graph.ok()) {
        if (graph.status().code() != absl::StatusCode::kDataLoss) return graph.status();
        XP_TRY(context_.Issue("damaged_hlo", Severity::kWarning,
                              fmt::format("{}. The graph was left out.", Message(graph.status())),
                              file_.Offset(proto->bytes.data())));
        continue;
      }
      // JAX always writes source lines. torch_xla writes them if XLA_IR_DEBUG or XLA_HLO_DEBUG is
      // set, which slows tracing.
      if (located.empty() && graph->located_nodes > 0 &&
          graph->name.starts_with("SyncTensorsGraph")) {
        located = fmt::format("the HLO of {} carries source lines, such as {}", graph->name,
                              graph->located_example);
      }
      facts.AddGraph(*std::move(graph), program_id);
    }
    if (located.empty()) return absl::OkStatus();
    return internal::ToStatus(
        context_.store.Add(SettingRow{process_id, SettingName::kIrDebug, "1", located}));
  }

  const Input& input_;
  bool cut_ = false;  // the file ends inside a message
  ImportContext& context_;
  XFile file_;
  std::vector<XPlane> planes_;
  std::vector<std::string_view> hosts_;
};

absl::Status ReadXSpace(const Input& input, ImportContext& context) {
  return Reading(input, context).Run();
}

}  // namespace

extern const Importer xspace{
    .name = "xspace",
    .summary =
        "XLA's profiler: torch_xla, JAX and TensorFlow on CPU, GPU and TPU (XSpace protobuf)",
    .example = "HOST.xplane.pb",
    .sniff = SniffXSpace,
    .read = ReadXSpace,
    .maps_large_files = true,
    .kind = SourceKind::kTimed,
    .keeps = 1};

}  // namespace xlaprof

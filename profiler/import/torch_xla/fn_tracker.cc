// Reads XLA_FNTRACKER_FILE, which PT_XLA_DEBUG sets to a file FILE.ptxla. It shows where ops ran on
// the CPU, with Python and C++ stacks. Each call is printed as:
//
//   [TAG xla_fallback From Thread 139703691627392]
//   Frames:                                            (Python Frames: in older versions)
//     <module> (/x/train.py:12)
//
//   C++ Frames:
//   *** Begin stack trace ***
//           at::_ops::nonzero::redispatch(c10::DispatchKeySet, at::Tensor const&)
//   *** End stack trace ***
//
// The tag is the C++ function that the tracker runs in: the op's own name until 2022, and
// xla_fallback since. Since then, the C++ frames name the op. A file may hold several runs; nothing
// shows where one begins.
#include <map>

#include "profiler/import/importer.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kTag = "[TAG ", kThread = " From Thread ";

int SniffFnTracker(std::string_view window) {
  const size_t tag = window.find(kTag);
  if (tag == std::string_view::npos) return 0;
  const size_t thread = window.substr(tag, 300).find(kThread);
  if (thread == std::string_view::npos) return 0;
  return window.find("*** Begin stack trace ***") != std::string_view::npos ? 93 : 82;
}

// One call of an op.
struct Call {
  std::string op;  // aten::nonzero; "" while unknown
  std::vector<Store::Frame> frames;
  bool whole = false;  // the C++ stack ended
  int64_t offset = 0, line = 0;
};

// Returns "nonzero" for "at::_ops::nonzero::redispatch(…)" and "XLANativeFunctions::nonzero(…)".
std::string_view OpOfCppFrame(std::string_view line) {
  for (std::string_view label : {"at::_ops::", "XLANativeFunctions::"}) {
    const size_t at = line.find(label);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + label.size());
    return rest.substr(0, std::min(rest.find("::"), rest.find('(')));
  }
  return {};
}

class Reader {
 public:
  explicit Reader(ImportContext& context) : context_(context) {}

  absl::Status Run(const Input& input) {
    Lines lines(input.bytes);
    while (lines.Next()) {
      if (lines.number() % 4096 == 0) context_.progress(size_t(lines.offset()));
      Take(lines);
    }
    lines_ = lines.number();
    Close();
    return Write(input, !lines.ended() || (calls_ > 0 && !last_whole_));
  }

 private:
  void Take(const Lines& lines) {
    const std::string_view line = Trim(lines.line());
    if (const size_t tag = line.find(kTag);
        tag != std::string_view::npos && line.find(kThread, tag) != std::string_view::npos) {
      Close();
      open_ = true;
      in_cpp_ = false;
      call_ = {.op = {}, .frames = {}, .offset = lines.offset(), .line = lines.number()};
      const std::string_view name =
          line.substr(tag + kTag.size(), line.find(kThread, tag) - tag - kTag.size());
      if (name != "xla_fallback") call_.op = OpName(name);
    } else if (!open_) {
      return;
    } else if (line.starts_with("C++ Frames:") || line.starts_with("*** Begin stack trace")) {
      in_cpp_ = true;
    } else if (line.starts_with("*** End stack trace")) {
      call_.whole = true;
      Close();
    } else if (in_cpp_) {
      // The innermost op is the one that ran on the CPU.
      if (const std::string_view op = OpOfCppFrame(line); call_.op.empty() && !op.empty())
        call_.op = OpName(op);
    } else if (auto frame = ParseFrame(lines.line())) {
      frame->function = ToUtf8(frame->function);
      frame->file = ToUtf8(frame->file);
      call_.frames.push_back(std::move(*frame));
    }
  }

  static std::string OpName(std::string_view name) {
    return name.find("::") == std::string_view::npos ? "aten::" + ToUtf8(name) : ToUtf8(name);
  }

  void Close() {
    if (!open_) return;
    open_ = false;
    ++calls_;
    last_whole_ = call_.whole;
    std::string key = call_.op;
    for (const Store::Frame& frame : call_.frames)
      key += fmt::format("\n{}\n{}\n{}", frame.function, frame.file, frame.line);
    auto [found, added] = sites_.try_emplace(std::move(key), order_.size());
    if (added) order_.push_back({std::move(call_), 0});
    ++order_[found->second].second;
  }

  absl::Status Write(const Input& input, bool cut) {
    if (calls_ == 0) {
      return Invalid(
          "{}: none of its {} lines shows a call. xlaprof looked for '[TAG ... From Thread ...]'. Run with PT_XLA_DEBUG=1 XLA_FNTRACKER_FILE=calls.txt, or name the format with --as",
          input.path, lines_);
    }
    XP_TRY(int64_t process_id, context_.ProcessId());
    for (const auto& [call, count] : order_) {
      FallbackRow row{.process_id = process_id, .count = count};
      if (!call.op.empty()) row.op = call.op;
      if (!call.frames.empty()) {
        XP_TRY(row.stack_id, context_.store.AddStack(call.frames));
        if (const Store::Frame* user = InnermostUser(call.frames)) {
          XP_TRY(row.site_id, context_.store.AddSite(user->function, user->file, user->line));
        }
      }
      XP_TRY(context_.Add(row, call.offset, call.line));
    }
    if (!cut) return absl::OkStatus();
    return context_.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        "The file ends inside a stack: the run was killed or still runs. The last call is kept with the frames that were written.",
        call_.offset, call_.line);
  }

  ImportContext& context_;
  Call call_;
  bool open_ = false, in_cpp_ = false, last_whole_ = true;
  int64_t calls_ = 0, lines_ = 0;
  std::map<std::string, size_t> sites_;
  std::vector<std::pair<Call, int64_t>> order_;  // in the order of the first call; with numbers of
                                                 // calls
};

absl::Status ReadFnTracker(const Input& input, ImportContext& context) {
  return Reader(context).Run(input);
}

}  // namespace

extern const Importer fn_tracker{
    .name = "fn_tracker",
    .summary = "torch_xla with XLA_FNTRACKER_FILE: which lines run ops on the CPU",
    .example = "calls.txt",
    .sniff = SniffFnTracker,
    .read = ReadFnTracker,
    .framework = Framework::kPytorchXla};

}  // namespace xlaprof

// Reads the calls of ops on the CPU, with Python and C++ stacks, which torch_xla prints to
// XLA_FNTRACKER_FILE; PT_XLA_DEBUG sets that to a file FILE.ptxla. Each call is printed as:
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
#include <utility>
#include <vector>

#include "profiler/import/log/dialect.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kFnTrackerMarks[] = {"[TAG "};
// The tag that all calls have since 2022; before, the op itself was the tag.
constexpr std::string_view kAnyCall = "xla_fallback";
constexpr std::string_view kTag = "[TAG ", kThread = " From Thread ";

int SniffFnTracker(std::string_view window) {
  const size_t tag = window.find(kTag);
  if (tag == std::string_view::npos) return 0;
  const size_t thread = window.substr(tag, 300).find(kThread);
  if (thread == std::string_view::npos) return 0;
  return window.find("*** Begin stack trace ***") != std::string_view::npos ? 93 : 82;
}

// Calls of one op with one stack.
struct CallSite {
  std::string op;  // aten::nonzero; "" while unknown
  std::vector<Store::Frame> frames;
  TextPosition first;  // call
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

std::string FallbackName(std::string_view name) {
  return name.find("::") == std::string_view::npos ? "aten::" + ToUtf8(name) : ToUtf8(name);
}

class FnTrackerReader : public DialectReader {
 public:
  explicit FnTrackerReader(LogReading& reading) : reading_(reading) {}

  void Take() override {
    const LogTexts& texts = reading_.texts;
    const std::string_view line = Trim(texts.text());
    if (const size_t tag = line.find(kTag);
        tag != std::string_view::npos && line.find(kThread, tag) != std::string_view::npos) {
      Close();
      is_open_ = true;
      is_in_cpp_ = is_whole_ = false;
      origin_ = OriginOfPrefix(line.substr(0, tag));
      open_ = {.op = {}, .frames = {}, .first = {texts.offset(), texts.number()}};
      const std::string_view name =
          line.substr(tag + kTag.size(), line.find(kThread, tag) - tag - kTag.size());
      if (name != kAnyCall) open_.op = FallbackName(name);
    } else if (!is_open_) {
      return;
    } else if (line.starts_with("C++ Frames:") || line.starts_with("*** Begin stack trace")) {
      is_in_cpp_ = true;
    } else if (line.starts_with("*** End stack trace")) {
      is_whole_ = true;
      Close();
    } else if (is_in_cpp_) {
      // The innermost op is the one that ran on the CPU.
      if (const std::string_view op = OpOfCppFrame(line); open_.op.empty() && !op.empty())
        open_.op = FallbackName(op);
    } else if (auto frame = ParseFrame(texts.text())) {
      frame->function = ToUtf8(frame->function);
      frame->file = ToUtf8(frame->file);
      open_.frames.push_back(std::move(*frame));
    }
  }

  void End() override {
    Close();
    is_cut_ = !calls_.empty() && !is_whole_;
  }
  bool Found() const override { return !calls_.empty(); }

  absl::Status Refuse() const override {
    return Invalid(
        "{}: none of its {} lines shows a call. xlaprof looked for '[TAG ... From Thread ...]'. Run with PT_XLA_DEBUG=1 XLA_FNTRACKER_FILE=calls.txt, or name the format with --as",
        reading_.input.path, reading_.texts.number());
  }

  absl::Status WriteIssues() override {
    if (!is_cut_) return absl::OkStatus();
    return reading_.context.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        "The file ends inside a stack: the run was killed or still runs. The last call is kept with the frames that were written.",
        last_call_.offset, last_call_.line);
  }

  // Calls of one site in one run and of one process are one row.
  absl::Status WriteRun(int run) override {
    std::map<std::pair<LogOrigin, size_t>, std::pair<TextPosition, int64_t>> rows;
    std::vector<std::pair<LogOrigin, size_t>> order;
    for (const Call& call : calls_) {
      if (reading_.runs.At(call.at.line) != run) continue;
      const std::pair key(call.origin, call.site);
      auto [row, is_new] = rows.try_emplace(key, call.at, 0);
      if (is_new) order.push_back(key);
      ++row->second.second;
    }
    ImportContext& context = reading_.context;
    for (const auto& key : order) {
      const auto& [origin, site] = key;
      const auto& [at, count] = rows.at(key);
      const CallSite& call = sites_[site];
      XP_TRY(const LogProcesses::Process* process, reading_.processes.Nearest(run, origin));
      FallbackRow row{.process_id = process->id, .count = count};
      if (!call.op.empty()) row.op = call.op;
      if (!call.frames.empty()) {
        XP_TRY(row.stack_id, context.store.AddStack(call.frames));
        if (const Store::Frame* user = InnermostUser(call.frames)) {
          XP_TRY(row.site_id, context.store.AddSite(user->function, user->file, user->line));
        }
      }
      XP_TRY(context.Add(row, at.offset, at.line));
    }
    return absl::OkStatus();
  }

 private:
  struct Call {
    size_t site = 0;
    TextPosition at;
    LogOrigin origin;
  };

  void Close() {
    if (!is_open_) return;
    is_open_ = false;
    last_call_ = open_.first;
    std::string key = open_.op;
    for (const Store::Frame& frame : open_.frames)
      key += fmt::format("\n{}\n{}\n{}", frame.function, frame.file, frame.line);
    calls_.push_back({.at = open_.first, .origin = origin_});
    auto [found, is_new] = site_of_.try_emplace(std::move(key), sites_.size());
    if (is_new) sites_.push_back(std::move(open_));
    calls_.back().site = found->second;
  }

  LogReading& reading_;
  CallSite open_;
  LogOrigin origin_;  // of the open call
  bool is_open_ = false, is_in_cpp_ = false;
  bool is_whole_ = true;  // the C++ stack of the last call ended
  bool is_cut_ = false;
  TextPosition last_call_;
  std::vector<CallSite> sites_;
  std::map<std::string, size_t> site_of_;
  std::vector<Call> calls_;
};

}  // namespace

extern const Dialect fn_tracker{
    .name = "fn_tracker",
    .summary = "torch_xla with XLA_FNTRACKER_FILE: which lines run ops on the CPU",
    .example = "calls.txt",
    .sniff = SniffFnTracker,
    .marks = kFnTrackerMarks,
    .read = MakeReader<FnTrackerReader>,
    .framework = Framework::kPytorchXla};

}  // namespace xlaprof

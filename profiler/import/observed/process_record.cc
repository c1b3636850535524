// Reads what `xlaprof run` writes of a command (run.jsonl) and of each Python process (process.PID.jsonl).
// Each line is a JSON array that begins with its kind; profiler/launch/hook/xlaprof_hook/record.py and
// profiler/launch/recording_folder.h describe the kinds. Lines of other kinds are left out, so that
// newer files can be read.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/observed/sampled_stacks.h"
#include "profiler/import/odd_input.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kProcess = "process", kCommand = "run";

int SniffRecord(std::string_view head) {
  return head.starts_with("[\"process\",1,") || head.starts_with("[\"run\",1,") ? 96 : 0;
}

// One line. A member that is missing, or of another type than expected, is unknown.
class Line {
 public:
  explicit Line(const Json& json) : json_(json) {}

  OptInt Int(size_t at) const {
    const Json* value = At(at);
    return value != nullptr && value->is_number_integer() ? OptInt(value->get<int64_t>())
                                                          : OptInt();
  }
  OptText Text(size_t at) const {
    const Json* value = At(at);
    if (value == nullptr || !value->is_string()) return {};
    return ToUtf8(value->get_ref<const std::string&>());
  }
  // Returns the texts of an array.
  std::vector<std::string> Texts(size_t at) const {
    std::vector<std::string> texts;
    const Json* value = At(at);
    if (value == nullptr || !value->is_array()) return texts;
    for (const Json& text : *value) {
      if (text.is_string()) texts.push_back(ToUtf8(text.get_ref<const std::string&>()));
    }
    return texts;
  }
  size_t size() const { return json_.size(); }

 private:
  const Json* At(size_t at) const { return at < json_.size() ? &json_[at] : nullptr; }

  const Json& json_;
};

template <class Word>
std::optional<Word> WordOf(const Line& line, size_t at) {
  const OptText text = line.Text(at);
  return text ? IfKnown(ParseWord<Word>(*text)) : std::nullopt;
}

constexpr int64_t kMostNs = int64_t(1) << 61;  // 73 years
constexpr int64_t kMostCompiles = int64_t(1) << 40;

class RecordReading {
 public:
  RecordReading(const Input& input, ImportContext& context)
      : input_(input), context_(context), samples_(odd_) {}

  absl::Status Run() {
    Lines lines(input_.bytes);
    while (lines.Next()) {
      context_.progress(size_t(lines.offset()));
      // A process that is killed while it writes leaves a part of a line.
      if (!lines.ended()) break;
      const Json json = Json::parse(lines.line(), nullptr, /*allow_exceptions=*/false);
      if (!json.is_array() || json.empty() || !json[0].is_string()) {
        odd_.Count(issue_codes::kInvalidJson, Severity::kWarning,
                   "Some lines are no JSON arrays. They were left out.", lines.offset());
        continue;
      }
      XP_TRY(Take(json[0].get_ref<const std::string&>(), Line(json), lines.offset()));
    }
    if (!is_known_)
      return Invalid(
          "{}: its first line does not say what was recorded. Name the directory that xlaprof run made",
          input_.path);
    XP_TRY(WriteProcess());
    return odd_.Write(context_);
  }

 private:
  absl::Status Take(std::string_view kind, const Line& line, int64_t offset) {
    if (kind == kCommand || kind == kProcess) return Begin(kind, line);
    if (!is_known_) return absl::OkStatus();
    if (kind == "end") return End(line);
    if (kind == "state") {
      SeenAt(line.Int(1));
      row_.steps = line.Int(2);
      const OptInt ts_ns = StoreTime(line.Int(1)), compiles = line.Int(4);
      if (row_.process_id && ts_ns && compiles) {
        XP_TRY(context_.Add(ObservedProgressRow{.process_id = row_.process_id,
                                                .ts_ns = *ts_ns,
                                                .steps = line.Int(2).value_or(0),
                                                .compiles = *compiles}));
      }
      row_.step_unit = WordOf<StepUnit>(line, 3);
      row_.cpu_ns = line.Int(5);
      row_.own_cpu_ns = line.Int(6);
    } else if (kind == "compiles") {
      return AddCompiles(line);
    } else if (kind == "profile") {
      row_.profile_moment = WordOf<ProfileMoment>(line, 1);
      const OptInt begin_ns = StoreTime(line.Int(2)), end_ns = StoreTime(line.Int(3));
      row_.profile_ts_ns = begin_ns;
      if (begin_ns && end_ns) row_.profile_dur_ns = std::max<int64_t>(0, *end_ns - *begin_ns);
      row_.profile_first_step = line.Int(4);
      row_.profile_end_step = line.Int(5);
      row_.profile_error = line.Text(6);
    } else if (kind == "stderr") {
      odd_.Count(
          issue_codes::kCutFile, Severity::kWarning,
          fmt::format(
              "The program wrote so much to standard error that stderr.txt lacks the last {} bytes of it. "
              "Compilations that were logged there are missing.",
              line.Int(2).value_or(0)),
          offset);
    } else if (kind == "problem") {
      if (!row_.problem) row_.problem = line.Text(1);
    } else if (kind == "python") {
      samples_.SetFolders({.library = line.Texts(1), .packages = line.Texts(2)});
    } else if (kind == "code") {
      samples_.AddCode(line.Int(1), line.Text(2).value_or(""), line.Text(3).value_or(""), offset);
    } else if (kind == "frame") {
      samples_.AddFrame(line.Int(1), line.Int(2), line.Int(3), line.Int(4), offset);
    } else if (kind == "thread") {
      if (const OptInt tid = line.Int(1)) samples_.NameThread(*tid, line.Text(2).value_or(""));
    } else if (kind == "samples") {
      const OptInt ts_ns = StoreTime(line.Int(1)), period_ns = line.Int(2);
      SeenAt(line.Int(1));
      if (!ts_ns || period_ns.value_or(0) <= 0) return absl::OkStatus();
      for (size_t at = 3; at + 1 < line.size(); at += 2)
        samples_.Add(line.Int(at), {.ts_ns = *ts_ns, .period_ns = *period_ns}, line.Int(at + 1),
                     offset);
    }
    return absl::OkStatus();
  }

  absl::Status AddCompiles(const Line& line) {
    const OptInt first = line.Int(1);
    if (!row_.process_id || !first || *first < 0 || *first > kMostCompiles) return absl::OkStatus();
    for (size_t at = 2; at + 1 < line.size(); at += 2) {
      const OptInt end_ns = StoreTime(line.Int(at)), length_ns = line.Int(at + 1);
      if (!end_ns || length_ns.value_or(-1) < 0 || *length_ns > kMostNs) continue;
      XP_TRY(context_.Add(ObservedCompileRow{.process_id = row_.process_id,
                                             .ordinal = *first + int64_t(at - 2) / 2,
                                             .ts_ns = *end_ns - *length_ns,
                                             .dur_ns = *length_ns}));
    }
    return absl::OkStatus();
  }

  absl::Status Begin(std::string_view kind, const Line& line) {
    if (is_known_) return absl::OkStatus();
    is_command_ = kind == kCommand;
    const size_t words = is_command_ ? 2 : 6;
    row_.command = fmt::format("{}", fmt::join(line.Texts(words), " "));
    const OptInt begin_ns = line.Int(words + 1);
    if (!begin_ns)
      return Invalid("{}: its first line has no time. Name the directory that xlaprof run made",
                     input_.path);
    is_known_ = true;
    if (is_command_) return context_.store.SetMeta("command", row_.command);
    begin_ns_ = *begin_ns;
    XP_TRY(row_.ts_ns, context_.AlignClock(begin_ns_));
    XP_TRY(row_.process_id, context_.NewProcess(line.Text(5), line.Int(2), line.Int(4)));
    return absl::OkStatus();
  }

  absl::Status End(const Line& line) {
    SeenAt(line.Int(1));
    row_.ended = true;
    if (!is_command_) return absl::OkStatus();
    XP_TRY(context_.store.SetMeta("command_exit_status", fmt::to_string(line.Int(2).value_or(0))));
    const OptInt signal = line.Int(3);
    return signal ? context_.store.SetMeta("command_signal", fmt::to_string(*signal))
                  : absl::OkStatus();
  }

  // Returns a time in the store's, or nothing if it is too far from the process's start.
  OptInt StoreTime(OptInt epoch_ns) const {
    int64_t since_ns = 0, ts_ns = 0;
    if (!epoch_ns || __builtin_sub_overflow(*epoch_ns, begin_ns_, &since_ns) ||
        __builtin_add_overflow(since_ns, row_.ts_ns, &ts_ns))
      return {};
    return ts_ns > -kMostNs && ts_ns < kMostNs ? OptInt(ts_ns) : OptInt();
  }
  void SeenAt(OptInt epoch_ns) {
    if (const OptInt ts_ns = StoreTime(epoch_ns))
      row_.dur_ns = std::max(row_.dur_ns, *ts_ns - row_.ts_ns);
  }

  absl::Status WriteProcess() {
    if (is_command_) return absl::OkStatus();
    XP_TRY(context_.Add(row_));
    return samples_.Write(context_, *row_.process_id);
  }

  const Input& input_;
  ImportContext& context_;
  OddInput odd_;
  SampledStacks samples_;
  ObservedProcessRow row_;
  int64_t begin_ns_ = 0;  // since 1970
  bool is_known_ = false, is_command_ = false;
};

absl::Status ReadRecord(const Input& input, ImportContext& context) {
  return RecordReading(input, context).Run();
}

}  // namespace

extern const Importer process_record{
    .name = "process_record",
    .summary = "what xlaprof run recorded of a process: its steps, its sampled stacks, its end",
    .example = "process.4711.jsonl",
    .sniff = SniffRecord,
    .read = ReadRecord,
    .kind = SourceKind::kReports};

}  // namespace xlaprof

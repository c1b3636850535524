#include "profiler/import/log/program_output.h"

#include <algorithm>
#include <utility>

#include "profiler/import/text/cpu_notice.h"
#include "profiler/import/text/mark_search.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// A terminal's log is smaller than this.
constexpr size_t kSearchedBytes = 64 << 20;
constexpr size_t kEndBytes = 64 << 10;

// Returns whether a line has no text, or only a rule such as ===== at its end. torch_xla ends its
// log with a rule without a line end.
bool IsRule(std::string_view line) {
  while (!line.empty() && std::string_view(" \t\r=-").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return line.empty() || line.ends_with("pt-xla-profiler:");
}

const Dialect* Surest(std::string_view window) {
  return *std::ranges::max_element(AllDialects(), {},
                                   [&](const Dialect* dialect) { return dialect->sniff(window); });
}

class Reading {
 public:
  Reading(const Input& input, ImportContext& context, const Dialect& told)
      : input_(input),
        context_(context),
        told_(told),
        texts_(input.bytes),
        processes_(context),
        reading_{input, context, texts_, runs_, processes_} {
    Search();
    const std::span<const Dialect* const> dialects = AllDialects();
    for (size_t i = 0; i < dialects.size(); ++i) {
      // Markup may be inside of the words that are looked for.
      if (dialects[i] == &told || texts_.are_marked_up() || holds_[i])
        parts_.push_back({dialects[i], dialects[i]->read(reading_)});
    }
  }

  absl::Status Run(bool is_asked_for) {
    TakeLines();
    for (const Part& part : parts_) part.reader->End();
    XP_TRY(Judge(is_asked_for));
    for (const Part& part : parts_) XP_TRY(part.reader->WriteIssues());
    if (holds_.back()) {
      XP_TRY(NoteWhereOnCpu(input_.bytes, context_.store, context_.source_id));
    }
    for (const Part& part : parts_) XP_TRY(part.reader->FindRuns());
    XP_TRY(WriteFacts());
    for (const Part& part : parts_) XP_TRY(part.reader->Finish());
    XP_TRY(TellCutLine());
    return Tell();
  }

 private:
  struct Part {
    const Dialect* dialect;
    std::unique_ptr<DialectReader> reader;
  };

  // Finds which dialects may occur, and whether the program says that it runs on the CPU.
  void Search() {
    std::vector<std::span<const std::string_view>> marks;
    for (const Dialect* dialect : AllDialects()) {
      // It is not looked for if it is read anyway.
      marks.push_back(dialect == &told_ ? std::span<const std::string_view>() : dialect->marks);
    }
    marks.emplace_back(kCpuNoticeMarks);
    const std::string_view bytes = input_.bytes;
    if (!told_.fills_files || bytes.size() <= kSearchedBytes) {
      holds_ = GroupsIn(bytes, marks);
      return;
    }
    holds_ = GroupsIn(bytes.substr(0, kEndBytes), marks);
    const std::vector<bool> at_end = GroupsIn(bytes.substr(bytes.size() - kEndBytes), marks);
    for (size_t i = 0; i < holds_.size(); ++i) holds_[i] = holds_[i] || at_end[i];
  }

  void TakeLines() {
    constexpr int64_t kProgressLines = 1 << 14;
    std::vector<DialectReader*> takers;
    for (const Part& part : parts_) {
      if (part.reader->TakesLines()) takers.push_back(part.reader.get());
    }
    while (!takers.empty() && texts_.Next()) {
      for (DialectReader* taker : takers) taker->Take();
      if (texts_.number() % kProgressLines == 0) context_.progress(size_t(texts_.offset()));
    }
  }

  // Decides what the source is, or refuses the text.
  absl::Status Judge(bool is_asked_for) {
    DialectReader* told = nullptr;
    const Dialect* of_framework = nullptr;  // the first that only one framework writes
    for (const Part& part : parts_) {
      if (part.dialect == &told_) told = part.reader.get();
      if (!part.reader->Found()) continue;
      found_.push_back(part.dialect);
      if (of_framework == nullptr && part.dialect->framework != Framework::kUnknown)
        of_framework = part.dialect;
    }
    if (found_.empty() || (is_asked_for && !told->Found())) {
      XP_TRY(told->WriteIssues());
      return told->Refuse();
    }
    format_ = &told_;
    if (is_asked_for) return absl::OkStatus();
    // A message that only one framework prints tells more than one that any program may print.
    if (of_framework != nullptr && (!told->Found() || told_.framework == Framework::kUnknown)) {
      format_ = of_framework;
    } else if (!told->Found()) {
      format_ = found_.front();
    }
    return absl::OkStatus();
  }

  // Writes the facts run by run, in the order of their lines.
  absl::Status WriteFacts() {
    struct Fact {
      int run = 0;
      int64_t line = 0;
      DialectReader* reader = nullptr;
      size_t index = 0;
    };
    std::vector<Fact> facts;
    int last_run = runs_.last();
    for (const Part& part : parts_) {
      int64_t line = 0;  // a fact may begin above one that happened before it
      size_t index = 0;
      for (const LogPlace& place : part.reader->Facts()) {
        line = std::max(line, place.line);
        const int run = place.run < 0 ? runs_.At(place.line) : place.run;
        last_run = std::max(last_run, run);
        facts.push_back({run, line, part.reader.get(), index++});
      }
    }
    std::ranges::stable_sort(facts, {}, [](const Fact& f) { return std::pair(f.run, f.line); });
    auto next = facts.begin();
    for (int run = 0; run <= last_run; ++run) {
      for (; next != facts.end() && next->run == run; ++next)
        XP_TRY(next->reader->Write(next->index, run));
      for (const Part& part : parts_) XP_TRY(part.reader->WriteRun(run));
    }
    return absl::OkStatus();
  }

  // Reports that the last line has no end, unless that is reported already.
  absl::Status TellCutLine() {
    const size_t line = input_.bytes.rfind('\n') + 1;
    const auto matters = [](const Dialect* dialect) { return dialect->ends_with_numbers; };
    if (std::ranges::none_of(found_, matters) || IsRule(input_.bytes.substr(line)))
      return absl::OkStatus();
    XP_TRY(auto cut, context_.store.One<int64_t>(
                         "SELECT 1 FROM import_issue WHERE source_id = ?1 AND code = ?2",
                         context_.source_id, issue_codes::kCutFile));
    if (cut) return absl::OkStatus();
    return context_.Issue(
        "no_line_end", Severity::kInfo,
        "The text ends inside a line. If it was cut there, the last value may lack digits, and the rest is missing.",
        int64_t(line));
  }

  absl::Status Tell() {
    std::string names;
    for (const Dialect* dialect : found_)
      names += fmt::format("{}{}", names.empty() ? "" : ",", dialect->name);
    OptText framework;
    if (format_->framework != Framework::kUnknown) framework = TextOf(format_->framework);
    return context_.store.Run(
        "UPDATE source SET dialects = ?2, format = ?3, framework = ?4, kind = ?5 WHERE id = ?1",
        context_.source_id, names, format_->name, framework, TextOf(format_->kind));
  }

  const Input& input_;
  ImportContext& context_;
  const Dialect& told_;
  LogTexts texts_;
  LogRuns runs_;
  LogProcesses processes_;
  LogReading reading_;
  std::vector<bool> holds_;            // by dialect; the last is about the notice of the CPU
  std::vector<Part> parts_;            // dialects that may occur, in their order
  std::vector<const Dialect*> found_;  // those that occur
  const Dialect* format_ = nullptr;    // the one that the source's format is named after
};

int SniffProgramOutput(std::string_view window) { return Surest(window)->sniff(window); }

absl::Status ReadAnyOutput(const Input& input, ImportContext& context) {
  return ReadProgramOutput(input, context, nullptr, /*is_asked_for=*/false);
}

}  // namespace

absl::Status ReadProgramOutput(const Input& input, ImportContext& context, const Dialect* told,
                               bool is_asked_for) {
  if (told == nullptr) told = Surest(input.bytes.substr(0, kEndBytes));
  return Reading(input, context, *told).Run(is_asked_for);
}

extern const Importer program_output{
    .name = "program_output",
    .summary = "the output of programs, with the messages of all dialects",
    .example = "train.log",
    .sniff = SniffProgramOutput,
    .read = ReadAnyOutput};

}  // namespace xlaprof

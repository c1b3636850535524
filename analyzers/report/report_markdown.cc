// Writes the report in GitHub's Markdown, to be pasted into an issue.
#include <algorithm>
#include <span>

#include "analyzers/open_scopes_text.h"
#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "analyzers/report/report_layout.h"
#include "analyzers/report/report_words.h"
#include "analyzers/report/source_quote.h"
#include "analyzers/report/verdict.h"
#include "base/escape.h"
#include "base/version.h"

namespace xlaprof {
namespace {

constexpr int kMaxDiffColumns = 160, kMaxOpColumns = 80;

std::string Prose(std::string_view text) {
  constexpr int kMaxColumns = 4000;  // a name may have megabytes
  return MarkdownText(CutEnd(text, kMaxColumns));
}

class MarkdownReport {
 public:
  MarkdownReport(const Report& report, const ReportOptions& options)
      : report_(report), options_(options), names_(report) {}

  std::string Write() {
    Add("**xlaprof {}**: {}\n", kVersion, Prose(HeadText(report_, names_)));
    if (std::string slice = SliceText(report_); !slice.empty()) Add("\n{}\n", Prose(slice));
    Killed();
    Steps();
    Scopes();
    Top();
    Findings_();
    About();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
  }

  void Steps() {
    const Summary& s = report_.summary;
    std::string times;
    auto time = [&](const char* label, const std::optional<int64_t>& ns) {
      if (ns) times += fmt::format("{}{} {}", times.empty() ? "" : ", ", label, DurationText(*ns));
    };
    if (IsFromTheStart(report_)) time("first step", s.time_to_first_step_ns);
    time("warm-up step", s.warm_up_step_p50_ns);
    time("steady step", s.step_p50_ns);
    if (s.step_p50_ns) times += fmt::format(" ({})", StepSpreadText(s));
    if (!times.empty()) Add("\n{}\n", times);
    for (const Summary::Device& device : s.devices) {
      if (const std::string after = AfterStepsText(device); !after.empty())
        Add("\n{}\n", Prose(after));
    }
    if (const std::string unit = UnitText(s); !unit.empty()) Add("\n{}\n", Prose(unit));
    if (std::string counts = CountsText(s); !counts.empty()) Add("\n{}\n", counts);
    std::vector<StepShare> shares = SteadyShares(report_);
    const std::string what = shares.empty() ? TotalSharesTitle(s) : SteadySharesTitle(report_);
    if (!shares.empty()) Add("\n{}\n", TotalsText(s));
    if (shares.empty()) shares = TotalShares(s);
    if (shares.empty() && s.devices.empty()) return;
    Add("\n| where a step goes | time | {} |\n| --- | ---: | ---: |\n", what);
    for (const StepShare& share : shares) {
      Add("| {} | {} | {} |\n", share.name, DurationText(share.ns),
          share.part          ? PercentText(*share.part)
          : share.per_step_ns ? DurationText(*share.per_step_ns) + " a step"
                              : "");
    }
    for (const Summary::Device& device : s.devices) {
      if (device.span_ns <= 0 || (s.devices.size() == 1 && report_.steady.device_busy_ns)) continue;
      Add("| {} busy | {} | {:.2f} % of {} |\n", Prose(device.name), DurationText(device.busy_ns),
          100.0 * double(device.busy_ns) / double(device.span_ns), DurationText(device.span_ns));
    }
  }

  void Killed() {
    if (report_.killed.threads.empty()) return;
    Add("\nOpen when the process was killed:\n\n");
    for (const std::string& line : KilledScopesTexts(report_.killed)) Add("- {}\n", Prose(line));
  }

  void Scopes() {
    if (report_.scopes.longest.empty()) return;
    Add("\n| scope | count | total | self |\n| --- | ---: | ---: | ---: |\n");
    for (const ScopeTotal& scope : report_.scopes.longest) {
      Add("| {}{} | {} | {} | {} |\n", Prose(scope.name),
          scope.place.line ? Prose(" at " + scope.place.place().text()) : "",
          CountText(scope.count), DurationText(scope.total_ns), DurationText(scope.self_ns));
    }
  }

  void Top() {
    if (report_.top_ops.devices.empty()) return;
    const DeviceTop& top = report_.top_ops.devices.front();
    Add("\n{}\n\n| op | share | |\n| --- | ---: | --- |\n", Prose(TopTitle(report_)));
    for (const TopOp& op : top.ops) {
      Add("| {} | {} | {} |\n", Prose(CutEnd(op.name, kMaxOpColumns)), PercentText(op.share),
          Prose(TopOpText(op)));
    }
    if (top.other_names > 0) {
      Add("| {} | {} | |\n", Plural(top.other_names, "other"), PercentText(top.other_share));
    }
    if (top.unnamed_share >= policy::kTopOpShare)
      Add("| between ops | {} | |\n", PercentText(top.unnamed_share));
  }

  void Findings_() {
    std::vector<const Finding*> full, brief;
    for (const Finding& finding : report_.findings) {
      if (finding.depth > 0) continue;  // listed with the finding from which it follows
      (finding.severity == Severity::kInfo ? brief : full).push_back(&finding);
    }
    if (full.empty()) {
      auto names = [](const std::vector<const Analyzer*>& analyzers) {
        std::string out;
        for (const Analyzer* analyzer : analyzers)
          out += fmt::format("{}`{}`", out.empty() ? "" : ", ", analyzer->name);
        return out;
      };
      const Checks checks = ChecksOf(report_.summary, report_.findings);
      const Verdict verdict = VerdictWithoutWarnings(report_);
      Add("\n{}\n", Prose(verdict.text));
      if (verdict.judged) Add("\nLooked for: {}\n", names(checks.made));
      if (verdict.judged && !checks.not_made.empty())
        Add("\nCould not look for: {} ({})\n", names(checks.not_made), checks.why);
      for (const Checks::Limit& limit : checks.limits)
        if (verdict.judged) Add("\n{}\n", Prose(limit.text));
    }
    for (size_t i = 0; i < full.size(); ++i) OneFinding(i + 1, *full[i]);
    if (brief.empty()) return;
    Add("\n<details><summary>Also seen: {}</summary>\n\n| kind | what | where | advice |\n| --- | "
        "--- | --- | --- |\n",
        brief.size());
    for (const Finding* finding : brief) {
      Add("| {} | {} | {} | {} |\n", Prose(finding->kind()), Prose(finding->words.title),
          Prose(PlaceText(*finding, /*full_path=*/false)), Prose(finding->words.advice));
    }
    Add("\n</details>\n");
  }

  void OneFinding(size_t rank, const Finding& finding) {
    const std::string_view word = TextOf(finding.severity);
    Add("\n### {}. {}\n\n{} · {}", rank, Prose(finding.words.title), word, Prose(finding.kind()));
    if (std::string place = PlaceText(finding, /*full_path=*/true); !place.empty())
      Add(" · {}", Prose(place));
    Add("\n");
    const Subject& subject = finding.subject;
    if (subject.file && subject.line) {
      if (auto quote = QuoteSource(*subject.file, *subject.line, options_.source_roots,
                                   report_.capture_epoch_ns)) {
        Add("\n{}", MarkdownFenced(subject.file->ends_with(".py") ? "python" : "", quote->text));
        if (quote->newer_than_capture)
          Add("\nThe file is newer than the capture: the line may have moved.\n");
      }
    }
    if (const std::string library = LibraryText(finding); !library.empty())
      Add("\n({})\n", Prose(library));
    if (finding.reason) Why(*finding.reason, finding);
    Item("Cost", CostText(report_, finding));
    Item("Saves", SavingText(finding));
    Item("Fix", finding.words.advice);
    for (const ConsequenceText& consequence : ConsequenceTexts(report_, finding))
      Item("Causes", consequence.text);
  }

  void Why(const Reason& reason, const Finding& finding) {
    Item("Why", ReasonText(finding));
    if (!reason.before && !reason.after) return;
    std::string body;
    if (std::string node = NodeText(reason); !node.empty())
      body += fmt::format("  {}\n", Ellipsize(Printable(node), kMaxDiffColumns));
    auto [before, after] = EllipsizePair(Printable(reason.before.value_or("")),
                                         Printable(reason.after.value_or("")), kMaxDiffColumns);
    if (reason.before) body += fmt::format("- {}\n", before);
    if (reason.after) body += fmt::format("+ {}\n", after);
    body.pop_back();
    Add("\n{}", MarkdownFenced("diff", body));
  }

  void Item(const char* label, const std::string& text) {
    if (!text.empty()) Add("\n**{}**: {}\n", label, Prose(text));
  }

  void About() {
    Add("\n<details><summary>Which file saw what{}</summary>\n\n",
        report_.issues.empty() ? ""
                               : fmt::format(", and {} in the input",
                                             Plural(int64_t(report_.issues.size()), "issue")));
    Add("| file | format | steps | compiles | executions | transfers | events | note |\n| --- | "
        "--- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    auto count = [](const std::optional<int64_t>& n) { return n ? CountText(*n) : "-"; };
    const std::vector<Coverage>& coverage = report_.summary.coverage;
    const size_t shown = std::min(coverage.size(), kCoverageRows);
    for (const Coverage& c : std::span(coverage).first(shown)) {
      Add("| {} | {} | {} | {} | {} | {} | {} | {} |\n", Prose(names_.Short(c.path)),
          Prose(c.format), count(c.steps), count(c.compiles), count(c.executions),
          count(c.transfers), count(c.events), Prose(c.note));
    }
    if (shown < coverage.size())
      Add("\nand {} more\n", CountText(int64_t(coverage.size() - shown)));
    if (!report_.settings.empty()) Add("\n");
    for (const SettingRow& setting : report_.settings)
      Add("- slowed the run: {}: {}\n", Prose(TextOf(setting.name)), Prose(setting.evidence));
    if (!report_.recordings.empty()) Add("\n");
    for (const RecordingCost& recording : report_.recordings)
      Add("- recorded: {}\n", Prose(RecordingText(recording)));
    if (!report_.observed.empty() || report_.command) Add("\n");
    for (const std::string& text : ObservedTexts(report_.command, report_.observed))
      Add("- recorded by xlaprof run: {}\n", Prose(text));
    if (!report_.issues.empty()) Add("\n");
    for (const ReportIssue& issue : report_.issues)
      Add("- {}: {}\n", Prose(TextOf(issue.severity)), Prose(IssueText(issue, names_)));
    for (const SourceRow& source : report_.sources) {
      if (!source.imported && !HoldsImported(report_, source))
        Add("- not read: {}{}: {}\n", Prose(names_.Short(source.path)),
            source.links_to ? Prose(" (a link to " + *source.links_to + ")") : "",
            Prose(source.note.value_or("not recognised")));
    }
    Add("\n</details>\n");
    // Markdown does not show comments.
    if (!report_.origin.empty()) Add("\n<!-- {} -->\n", report_.origin);
  }

  const Report& report_;
  const ReportOptions& options_;
  const SourceNames names_;
  std::string out_;
};

}  // namespace

std::string ReportMarkdown(const Report& report, const ReportOptions& options) {
  return MarkdownReport(report, options).Write();
}

}  // namespace xlaprof

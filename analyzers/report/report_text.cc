// Writes the report for a terminal: the input, where a step goes, the findings, then the facts that
// the sources show and do not show.
#include <algorithm>
#include <map>
#include <span>

#include "analyzers/open_scopes_text.h"
#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "analyzers/report/report_layout.h"
#include "analyzers/report/report_words.h"
#include "analyzers/report/source_quote.h"
#include "analyzers/report/verdict.h"
#include "base/escape.h"

namespace xlaprof {
namespace {

constexpr int kMinWidth = 40;
constexpr int kLabel = 7;            // columns of "why", "cost", ... before a finding's text
constexpr int kMaxParagraph = 4000;  // columns, because a name may have megabytes
constexpr size_t kListed = 8;        // files of one sort that are named; the rest is counted

enum class Style { kPlain, kBold, kDim, kRed, kGreen, kYellow, kCyan };

class TextReport {
 public:
  TextReport(const Report& report, const ReportOptions& options)
      : report_(report),
        options_(options),
        width_(std::max(kMinWidth, options.width)),
        names_(report) {}

  std::string Write() {
    Head();
    Killed();
    Steps();
    Scopes();
    Top();
    Findings_();
    Missing();
    Slowed();
    Coverage_();
    Recordings();
    ObservedProcesses();
    Issues();
    NotRead();
    if (options_.marks_origin && !report_.origin.empty()) {
      Line();
      Line(report_.origin);
    }
    return std::move(out_);
  }

 private:
  std::string In(Style style, std::string_view text) const {
    constexpr const char* kCodes[] = {"", "1", "2", "31", "32", "33", "36"};
    if (!options_.colour || style == Style::kPlain || text.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[int(style)], text);
  }
  void Line(std::string_view text = "") { out_.append(text).append("\n"); }
  void Section(std::string_view title) {
    Line();
    Line(In(Style::kBold, title));
  }
  // Writes wrapped text, indented by `indent` columns. In the first line, `lead` fills these
  // columns.
  void Paragraph(int indent, std::string_view text, Style style = Style::kPlain,
                 std::string_view lead = "") {
    bool first = true;
    for (const std::string& line : Wrap(PrintableStart(text, kMaxParagraph), width_ - indent)) {
      Line(fmt::format(
          "{}{}", first && !lead.empty() ? std::string(lead) : std::string(size_t(indent), ' '),
          In(style, line)));
      first = false;
    }
  }
  void Field(std::string_view label, std::string_view text) {
    if (text.empty()) return;
    Paragraph(4 + kLabel, text, Style::kPlain, "    " + In(Style::kDim, PadRight(label, kLabel)));
  }

  void Head() {
    std::vector<std::string> lines =
        Wrap(PrintableStart(HeadText(report_, names_), kMaxParagraph), width_);
    for (const std::string& line : lines) Line(In(Style::kBold, line));
    if (std::string slice = SliceText(report_); !slice.empty()) Paragraph(0, slice, Style::kYellow);
    Paragraph(0, ProcessesText(report_), Style::kDim);
  }

  void Steps() {
    const Summary& s = report_.summary;
    Section(s.steps ? "Where a step goes" : "Where the time goes");
    auto time = [&](std::string_view label, const std::optional<int64_t>& ns,
                    const std::string& text) {
      if (ns)
        Paragraph(26, text, Style::kDim,
                  fmt::format("  {}{}  ", PadRight(label, 12), PadLeft(DurationText(*ns), 10)));
    };
    const bool is_only_step = s.steps.value_or(0) == 1 && s.step_p50_ns;
    if (IsFromTheStart(report_) && !is_only_step)
      time("first step", s.time_to_first_step_ns,
           "from the capture's start to the end of the first step");
    time("warm-up", s.warm_up_step_p50_ns,
         s.warm_up_steps == 1 ? "the first step, which compiles"
                              : fmt::format("median of the first {} steps, which compile",
                                            s.warm_up_steps.value_or(0)));
    time("steady step", s.step_p50_ns, StepSpreadText(s));
    std::vector<StepShare> shares = SteadyShares(report_);
    if (!shares.empty()) {
      Shares(SteadySharesTitle(report_), shares);
      Paragraph(4, TotalsText(s), Style::kPlain, "  ");
    } else if (shares = TotalShares(s); !shares.empty()) {
      Shares(TotalSharesTitle(s), shares);
    }
    for (const Summary::Device& device : s.devices) {
      if (const std::string after = AfterStepsText(device); !after.empty())
        Paragraph(4, after, Style::kPlain, "  ");
      if (device.span_ns <= 0 || (s.devices.size() == 1 && report_.steady.device_busy_ns)) continue;
      Paragraph(4,
                fmt::format("{} was busy for {:.2f} % of the {} from its first to its last work",
                            device.name, 100.0 * double(device.busy_ns) / double(device.span_ns),
                            DurationText(device.span_ns)),
                Style::kPlain, "  ");
    }
    Paragraph(4, UnitText(s), Style::kPlain, "  ");
    Paragraph(4, CountsText(s), Style::kPlain, "  ");
    if (shares.empty() && !s.wall_ns && !s.step_p50_ns && !s.warm_up_step_p50_ns)
      Paragraph(4, "no source has times", Style::kDim, "  ");
  }

  // Writes where the threads of killed processes were.
  void Killed() {
    if (report_.killed.threads.empty()) return;
    Section("Open when the process was killed");
    for (const std::string& line : KilledScopesTexts(report_.killed))
      Paragraph(4, line, Style::kPlain, "  ");
  }

  // Writes one row per op of the busiest device.
  void Top() {
    if (report_.top_ops.devices.empty()) return;
    constexpr int kShare = 8, kLeastName = 40;
    Section(TopTitle(report_));
    const DeviceTop& top = report_.top_ops.devices.front();
    auto row = [&](double share, const std::string& text) {
      Line(fmt::format("  {}  {}", PadLeft(PercentText(share), kShare),
                       Ellipsize(text, width_ - kShare - 4)));
    };
    for (const TopOp& op : top.ops) {
      const std::string text = Printable(TopOpText(op));
      const int room = width_ - kShare - 4 - 2 - DisplayWidth(text);
      row(op.share,
          fmt::format("{}: {}", PrintableStart(op.name, std::max(kLeastName, room)), text));
    }
    if (top.other_names > 0) row(top.other_share, Plural(top.other_names, "other"));
    if (top.unnamed_share >= policy::kTopOpShare) row(top.unnamed_share, "between ops");
  }

  // Writes one row per part.
  void Shares(const std::string& title, const std::vector<StepShare>& shares) {
    const int bar_width =
        width_ >= 50 ? std::min(width_ - 38, 40) : 0;  // a narrow terminal has no room for it
    Paragraph(4, title + ":", Style::kDim);
    int longest = 12;
    for (const StepShare& share : shares) longest = std::max(longest, DisplayWidth(share.name));
    for (const StepShare& share : shares) {
      std::string line = fmt::format("    {}{}", PadRight(share.name, longest + 1),
                                     PadLeft(DurationText(share.ns), 9));
      if (share.part)
        line += PadLeft(PercentText(*share.part), 9) +
                (bar_width > 0 ? "  " + In(Style::kCyan, Bar(*share.part, bar_width)) : "");
      if (share.per_step_ns)
        line += fmt::format("  {} a step", PadLeft(DurationText(*share.per_step_ns), 9));
      Line(line);
    }
  }

  // Returns a bar in steps of an eighth of a column.
  static std::string Bar(double part, int width) {
    constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = int(std::clamp(part, 0.0, 1.0) * width * 8 + 0.5);
    if (eighths == 0 && part > 0) eighths = 1;
    std::string bar;
    for (int i = 0; i < eighths / 8; ++i) bar += "█";
    return bar + kEighths[eighths % 8];
  }

  // Writes the sums of the scopes of a program that recorded itself.
  void Scopes() {
    if (report_.scopes.longest.empty()) return;
    Section("Scopes, longest in total first");
    constexpr int kColumn = 10, kLeastName = 12;
    int longest = 0;
    for (const ScopeTotal& scope : report_.scopes.longest)
      longest = std::max(longest, DisplayWidth(Printable(scope.name)));
    const int name_width = std::clamp(longest + 1, kLeastName, std::max(kLeastName, width_ / 2));
    Line(In(Style::kDim,
            fmt::format("  {}{}{}{}", PadRight("", name_width), PadLeft("count", kColumn),
                        PadLeft("total", kColumn), PadLeft("self", kColumn))));
    for (const ScopeTotal& scope : report_.scopes.longest) {
      std::string line =
          PadRight("  " + Ellipsize(Printable(scope.name), name_width), 2 + name_width);
      line += PadLeft(CountText(scope.count), kColumn) +
              PadLeft(DurationText(scope.total_ns), kColumn) +
              PadLeft(DurationText(scope.self_ns), kColumn);
      if (scope.place.line) line += "  " + Printable(scope.place.place().text());
      Line(Ellipsize(line, width_));
    }
    if (report_.scopes.others > 0)
      Line("  " + In(Style::kDim, fmt::format("and {} more", CountText(report_.scopes.others))));
  }

  void Findings_() {
    // A finding that follows from another is listed there. --all shows it in full, too.
    std::vector<const Finding*> full, brief;
    int warnings = 0;
    for (const Finding& finding : report_.findings) {
      const bool info = finding.severity == Severity::kInfo;
      if (!info && finding.depth == 0) ++warnings;
      if (options_.all) {
        full.push_back(&finding);
      } else if (finding.depth == 0 && !(info && IsAboutCapture(finding))) {
        (info ? brief : full).push_back(&finding);  // those about the capture have a section
      }
    }
    if (warnings == 0) {
      Section("Findings");
      Clean();
    } else {
      const bool priced = std::ranges::any_of(full, [](const Finding* f) {
        return f->severity != Severity::kInfo && (f->cost_ns || f->total_cost_ns);
      });
      Section(Plural(warnings, "finding") +
              (warnings > 1 && priced ? ", most expensive first" : ""));
    }
    int rank = 0;
    for (const Finding* finding : full) OneFinding(++rank, *finding);
    if (brief.empty()) return;
    Section("Also seen (--all shows more)");
    for (const Finding* finding : brief) {
      std::string title = finding->words.title;
      const std::string place = PlaceText(*finding, /*full_path=*/false);
      constexpr int kKind = 20;  // columns of the longest kind, and a space
      const int room = width_ - 2 - kKind;
      // The place is left out if the title needs the room or names the place. A title may take a
      // second line, because it ends with the cause.
      if (!place.empty() &&
          DisplayWidth(Printable(title)) + 3 + DisplayWidth(Printable(place)) <= room &&
          !finding->words.names_place)
        title += fmt::format(" ({})", place);
      Paragraph(2 + kKind, CutEnd(title, 2 * room), Style::kPlain,
                "  " + PadRight(finding->kind(), kKind));
    }
  }

  void Clean() {
    const Verdict verdict = VerdictWithoutWarnings(report_);
    Paragraph(2, verdict.text);
    if (!verdict.judged) return;
    const Checks checks = ChecksOf(report_.summary, report_.findings);
    if (!options_.all) {
      Paragraph(2, fmt::format("Looked for {}.", Names(checks.made)), Style::kDim);
    } else {
      Line();
      for (const Analyzer* analyzer : checks.made)
        Paragraph(24, analyzer->looks_at, Style::kDim, "  " + PadRight(analyzer->name, 22));
    }
    if (!checks.not_made.empty())
      Paragraph(2, fmt::format("Could not look for {}: {}.", Names(checks.not_made), checks.why),
                Style::kDim);
    for (const Checks::Limit& limit : checks.limits) Paragraph(2, limit.text, Style::kDim);
  }
  static std::string Names(const std::vector<const Analyzer*>& analyzers) {
    std::string names;
    for (const Analyzer* analyzer : analyzers)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", analyzer->name);
    return names;
  }

  void OneFinding(int rank, const Finding& finding) {
    Line();
    const std::string_view word = TextOf(finding.severity);
    Style style = finding.severity == Severity::kError     ? Style::kRed
                  : finding.severity == Severity::kWarning ? Style::kYellow
                                                           : Style::kCyan;
    std::string number = PadLeft(fmt::to_string(rank), 2);
    int indent = int(number.size()) + 2 + int(word.size()) + 2;
    Paragraph(indent, finding.words.title, Style::kBold,
              fmt::format("{}  {}: ", number, In(style, word)));
    Where(finding);
    if (options_.all) {
      for (const std::string& caller : CallerTexts(finding)) Paragraph(6, caller);
    }
    Why(finding, rank);
    Field("cost", CostText(report_, finding));
    Field("saves", SavingText(finding));
    Field("fix", Once(advice_in_, finding.words.advice, rank));
    Consequences(finding);
    if (options_.all) {
      for (const Evidence& evidence : finding.evidence)
        Field("seen", EvidenceText(report_, evidence));
    }
  }

  // Lists what follows from a finding, directly or not, one line each.
  void Consequences(const Finding& finding) {
    std::string_view label = "causes";
    for (const ConsequenceText& consequence : ConsequenceTexts(report_, finding)) {
      Field(label, std::string(size_t(2 * consequence.depth), ' ') + consequence.text);
      label = " ";
    }
  }

  void Where(const Finding& finding) {
    Paragraph(4, PlaceText(finding, /*full_path=*/true));
    Quote(finding);
    Paragraph(6, LibraryText(finding));
  }

  void Quote(const Finding& finding) {
    const Subject& subject = finding.subject;
    if (!subject.file || !subject.line) return;
    auto quote =
        QuoteSource(*subject.file, *subject.line, options_.source_roots, report_.capture_epoch_ns);
    if (!quote) return;
    std::string number = fmt::format("{} | ", *subject.line);
    Line(fmt::format("      {}{}", In(Style::kDim, number),
                     In(Style::kCyan, Ellipsize(quote->text, width_ - 6 - int(number.size())))));
    if (quote->newer_than_capture)
      Paragraph(6, "(the file is newer than the capture: the line may have moved)", Style::kYellow);
  }

  // Returns the text, or a reference to the finding that had the same text before.
  static std::string Once(std::map<std::string, int>& said_in, const std::string& text, int rank) {
    auto [said, is_new] = said_in.emplace(text, rank);
    return is_new || text.empty() ? text : fmt::format("as in {}", said->second);
  }

  void Why(const Finding& finding, int rank) {
    if (!finding.reason) return;
    const Reason& reason = *finding.reason;
    Field("why", Once(reason_in_, ReasonText(finding), rank));
    if (!reason.before && !reason.after) return;
    const int indent = 4 + kLabel;
    if (std::string node = NodeText(reason); !node.empty()) {
      Line(std::string(size_t(indent), ' ') +
           In(Style::kDim, Ellipsize(Printable("  " + node), width_ - indent)));
    }
    auto [before, after] = EllipsizePair(Printable(reason.before.value_or("")),
                                         Printable(reason.after.value_or("")), width_ - indent - 2);
    if (reason.before) Line(std::string(size_t(indent), ' ') + In(Style::kRed, "- " + before));
    if (reason.after) Line(std::string(size_t(indent), ' ') + In(Style::kGreen, "+ " + after));
  }

  // Lists the facts that these files do not show, and how to get them.
  void Missing() {
    if (options_.all) return;
    bool first = true;
    for (const Finding& finding : report_.findings) {
      if (finding.severity != Severity::kInfo || !IsAboutCapture(finding) ||
          SettingOf(report_, finding))
        continue;
      if (first) Section("What these files do not show");
      first = false;
      Paragraph(4, fmt::format("{}. {}", finding.words.title, finding.words.advice), Style::kPlain,
                "  - ");
    }
  }

  void Slowed() {
    if (report_.settings.empty()) return;
    Section("What slowed the recorded run");
    std::optional<SettingName> said;  // settings are sorted by name; one line each is enough
    for (const SettingRow& setting : report_.settings) {
      if (setting.name == said) continue;
      said = setting.name;
      std::string advice;
      for (const Finding& finding : report_.findings) {
        if (SettingOf(report_, finding) == &setting) advice = finding.words.advice;
      }
      Paragraph(4, fmt::format("{}: {}. {}", setting.name, setting.evidence, advice), Style::kPlain,
                "  - ");
    }
  }

  void Coverage_() {
    const auto coverage = std::span(report_.summary.coverage)
                              .first(std::min(report_.summary.coverage.size(), kCoverageRows));
    if (coverage.empty()) return;
    Section("Which file saw what");
    struct Column {
      const char* title;
      std::optional<int64_t> Coverage::* count;
    };
    std::vector<Column> columns;
    for (const Column& column :
         {Column{"steps", &Coverage::steps}, Column{"compiles", &Coverage::compiles},
          Column{"executions", &Coverage::executions}, Column{"transfers", &Coverage::transfers},
          Column{"events", &Coverage::events}}) {
      if (std::any_of(coverage.begin(), coverage.end(),
                      [&](const Coverage& c) { return (c.*column.count).has_value(); }))
        columns.push_back(column);
    }
    constexpr int kColumn = 11, kLeastName = 12;
    while (!columns.empty() && 2 + kLeastName + kColumn * int(columns.size()) > width_)
      columns.pop_back();
    const int left = width_ - 2 - kColumn * int(columns.size());
    int longest = 0;
    for (const Coverage& c : coverage) longest = std::max(longest, DisplayWidth(CoverageName(c)));
    const int name_width = std::clamp(longest + 1, kLeastName, std::max(kLeastName, left));
    std::string header = "  " + PadRight("", name_width);
    for (const Column& column : columns) header += PadLeft(column.title, kColumn);
    if (!columns.empty()) Line(In(Style::kDim, header));
    for (const Coverage& c : coverage) {
      std::string line = "  " + Ellipsize(CoverageName(c), name_width);
      if (!columns.empty()) line = PadRight(line, 2 + name_width);
      for (const Column& column : columns)
        line += PadLeft(c.*column.count ? CountText(*(c.*column.count)) : "-", kColumn);
      Line(line);
      std::string note = c.note;
      if (c.from_ns && c.to_ns)
        note = fmt::format("{}{}{}", WindowText(report_, *c.from_ns, *c.to_ns),
                           note.empty() ? "" : "; ", note);
      Paragraph(6, note, Style::kDim);
    }
    const size_t more = report_.summary.coverage.size() - coverage.size();
    if (more == 0) return;
    Line("  " + In(Style::kDim, fmt::format("and {} more", CountText(int64_t(more)))));
  }
  void Recordings() {
    if (report_.recordings.empty()) return;
    Section("What recording cost");
    for (const RecordingCost& recording : report_.recordings) {
      Paragraph(4, RecordingText(recording), Style::kPlain,
                "  " + In(recording.dropped > 0 ? Style::kYellow : Style::kDim, "- "));
    }
  }
  void ObservedProcesses() {
    if (report_.observed.empty() && !report_.command) return;
    Section("What xlaprof run recorded");
    for (const std::string& text : ObservedTexts(report_.command, report_.observed))
      Paragraph(4, Printable(text), Style::kPlain, "  " + In(Style::kDim, "- "));
  }
  std::string CoverageName(const Coverage& c) const {
    return Printable(fmt::format("{} ({})", names_.Short(c.path), c.format));
  }

  void Issues() {
    if (report_.issues.empty()) return;
    Section("Problems in the input");
    for (const ReportIssue& issue : report_.issues) {
      Style style = issue.severity == Severity::kError     ? Style::kRed
                    : issue.severity == Severity::kWarning ? Style::kYellow
                                                           : Style::kDim;
      Paragraph(4, IssueText(issue, names_), Style::kPlain, "  " + In(style, "- "));
    }
  }

  void NotRead() {
    std::map<std::string, std::vector<std::string>> groups;  // by the reason
    for (const SourceRow& source : report_.sources) {
      if (source.imported || HoldsImported(report_, source)) continue;
      if (source.derived_from) {
        groups["made from other files, not counted twice"].push_back(NameOf(source));
      } else if (source.format) {
        groups["not read"].push_back(NameOf(source));
      } else {
        groups[source.note.value_or("not recognised")].push_back(NameOf(source));
      }
    }
    std::vector<std::string> others;
    std::string why;  // why this run was read
    for (const RunRow& run : report_.runs) {
      if (run.selected) {
        why = run.why.empty() ? "" : "; this one: " + run.why;
      } else {
        others.push_back(run.label);
      }
    }
    if (groups.empty() && others.empty()) return;
    Section("Not in this report");
    for (const auto& [sort, paths] : groups)
      Paragraph(4, fmt::format("{}: {}", sort, Listed(paths)), Style::kPlain, "  - ");
    if (!others.empty()) {
      Paragraph(4, fmt::format("other runs (--run LABEL{}): {}", why, Listed(others)),
                Style::kPlain, "  - ");
    }
  }
  std::string NameOf(const SourceRow& source) const {
    const std::string name = names_.Short(source.path);
    return source.links_to ? fmt::format("{} (a link to {})", name, *source.links_to) : name;
  }
  static std::string Listed(const std::vector<std::string>& names) {
    std::string out;
    for (size_t i = 0; i < std::min(names.size(), kListed); ++i)
      out += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kListed)
      out += fmt::format(" and {} more", CountText(int64_t(names.size() - kListed)));
    return out;
  }

  const Report& report_;
  const ReportOptions& options_;
  const int width_;
  const SourceNames names_;
  std::map<std::string, int> reason_in_, advice_in_;  // text -> rank of its first finding
  std::string out_;
};

}  // namespace

std::string ReportText(const Report& report, const ReportOptions& options) {
  return TextReport(report, options).Write();
}

}  // namespace xlaprof

// docs/diagnoses/KIND.md says what a diagnosis means, what the report prints of it, what to write
// instead, when not to care, and how it is decided. Two of its parts are written by hand:
//
//   ## What to write instead
//   ## When not to care
//
// The others are generated from the analyzer's descriptor, its thresholds, and its findings in the
// cases of tests/golden/KIND; the page names the case whose finding it shows. This test compares the
// generated parts, and keeps the written ones when it updates a page.
#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

const fs::path kPages = fs::path(XLAPROF_SOURCE_DIR) / "docs/diagnoses";

std::string NeedsText(Needs needs) {
  switch (needs) {
    case Needs::kNothing:
      return "";
    case Needs::kReads:
      return "executions, transfers or counters";
    case Needs::kDevices:
      return "times of a device's work";
    case Needs::kStepPeriods:
      return "a timeline with steps, or with the executions of steps";
    case Needs::kTimedStepsOrTracing:
      return "a timeline with steps, or metrics that time tracing";
    case Needs::kTimelineOrCompileTimes:
      return "a timeline, or metrics that time compilations";
    case Needs::kTimelineOrExecuteTimes:
      return "a timeline, or metrics that time executions";
    case Needs::kOptimizedPrograms:
      return "optimised HLO of the programs, and times of a device's work";
    case Needs::kLazyRuntime:
      return "a recording of a program on [xlaprof's lazy runtime](../lazy_runtime.md)";
    case Needs::kTorchCompile:
      return "reports of torch.compile";
  }
  return "";
}

std::string ValueText(const PrintedThreshold& threshold) {
  switch (threshold.unit) {
    case Unit::kShare:
      return fmt::format("{:g} %", threshold.value * 100);
    case Unit::kFactor:
      return fmt::format("{:g} times", threshold.value);
    case Unit::kPerStep:
      return fmt::format("{:g} per step", threshold.value);
    case Unit::kCount:
      return fmt::format("{:.0f}", threshold.value);
    case Unit::kNs:
      return DurationText(int64_t(threshold.value));
    case Unit::kBytes:
      return BytesText(threshold.value);
    case Unit::kBytesPerSecond:
      return BytesText(threshold.value) + "/s";
  }
  return "";
}

// Returns the text as a part of a paragraph. What stands between backticks is code.
std::string Markdown(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (char c : text) {
    if (c == '`') is_code = !is_code;
    if (!is_code && (c == '|' || c == '<' || c == '*')) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

// Expects that the query that reproduces a finding finds the rows.
void ExpectRows(const Store& store, const Evidence& evidence) {
  const std::string query = QueryOf(evidence);
  const auto rows = store.One<int64_t>(fmt::format("SELECT count(*) FROM ({})", query));
  ASSERT_TRUE(rows.ok()) << query << "\n" << rows.status();
  if (evidence.rows.empty()) {
    EXPECT_GT(rows->value_or(0), 0) << query;
  } else {
    EXPECT_EQ(rows->value_or(0), int64_t(evidence.rows.size())) << query;
  }
}

// The cases of an analyzer that hold rows, by name.
std::vector<GoldenCase> CasesOf(const Analyzer& analyzer) {
  std::vector<GoldenCase> cases = CasesIn(kGolden / analyzer.name);
  std::erase_if(cases, [](const GoldenCase& one) { return !one.HasRows(); });
  return cases;
}

// Returns the findings of the cases: for each reason, severity and state, the one of the first case
// that has it. Within a reason, the most severe comes first.
using Key = std::tuple<std::string, int, std::optional<State>>;
std::map<Key, Finding> ExamplesOf(const Analyzer& analyzer) {
  std::map<Key, Finding> examples;
  for (const GoldenCase& one : CasesOf(analyzer)) {
    Store store = one.MakeStore().value();
    const auto findings = Analyze(Run(store), analyzer);
    EXPECT_TRUE(findings.ok()) << one.FullName() << findings.status();
    if (!findings.ok()) continue;
    for (const Finding& finding : *findings) {
      for (const Evidence& evidence : finding.evidence) ExpectRows(store, evidence);
      const Reason reason = finding.reason.value_or(Reason());
      examples.try_emplace({std::string(TextOf(reason.type)), -int(finding.severity), reason.state},
                           finding);
    }
  }
  return examples;
}

// Returns the words of a text, each followed by one space but the last.
std::string Spaced(const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return fmt::format("{}", fmt::join(words, " "));
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// Returns the finding that the page shows, as the report on its case prints it.
std::string PrintedFinding(const Analyzer& analyzer, const std::string& name) {
  const std::vector<GoldenCase> cases = CasesOf(analyzer);
  const auto of_case = std::ranges::find(cases, name, &GoldenCase::name);
  if (of_case == cases.end()) return "";
  Store store = of_case->MakeStore().value();
  const auto report = MakeReport(Run(store));
  EXPECT_TRUE(report.ok()) << name << report.status();
  if (!report.ok()) return "";
  for (const Finding& finding : report->findings) {
    if (finding.kind() != analyzer.name) continue;
    const std::string title =
        fmt::format("{}: {}", TextOf(finding.severity), Spaced(finding.words.title));
    const std::vector<std::string> blocks = absl::StrSplit(
        ReportText(*report, {.all = finding.severity == Severity::kInfo}), "\n\n");
    for (std::string block : blocks) {
      block.resize(std::min(block.size(), block.find("\n    seen ")));
      absl::StripTrailingAsciiWhitespace(&block);
      if (Contains(Spaced(block), title)) return block + "\n";
    }
  }
  return "";
}

// Texts that say the same of other numbers have the same form.
std::string FormOf(const std::string& text) {
  static const std::regex kNumber(R"([\d.,]+( ([num]?s|[KMG]?B)\b)?)");
  return std::regex_replace(text, kNumber, "#");
}

// Returns the findings as a list, without what an earlier entry or the page's example says already.
std::string ReasonList(const Analyzer& analyzer, const std::string& shown) {
  std::set<std::string> said;
  std::set<ReasonType> reasons;
  const std::string spaced = FormOf(Spaced(shown));
  std::string list;
  for (const auto& [key, finding] : ExamplesOf(analyzer)) {
    std::string entry;
    auto add = [&](const char* label, const std::string& text) {
      const std::string form = FormOf(Spaced(text));
      if (text.empty() || Contains(spaced, form) || !said.insert(form).second) return;
      entry += fmt::format("  *{}:* {}\n", label, Markdown(text));
    };
    const Words& words = finding.words;
    add("Why", words.why);
    if (finding.cost_ns) add("Cost", words.cost_note);
    if (finding.saving_ns) add("Saving", words.saving_note);
    add("What to do", words.advice);
    const Reason reason = finding.reason.value_or(Reason());
    const bool is_new = reasons.insert(reason.type).second;
    if (entry.empty() && (!is_new || Contains(spaced, FormOf(Spaced(words.title))))) continue;
    list += fmt::format("- **`{}`**, {}{}: {}.\n{}", TextOf(reason.type), TextOf(finding.severity),
                        reason.state ? fmt::format(", {}", TextOf(*reason.state)) : "",
                        Markdown(words.title), entry);
  }
  return list;
}

std::string ThresholdText(const PrintedThreshold& threshold, const std::string& users = "") {
  return fmt::format("- **{}**{}: {} *Why:* {}\n", ValueText(threshold), users,
                     Markdown(threshold.meaning), Markdown(threshold.reason));
}

bool IsSame(const PrintedThreshold& a, const PrintedThreshold& b) {
  return a.meaning == b.meaning && a.reason == b.reason;
}

// A threshold that several diagnoses use, which docs/diagnoses/README.md lists.
struct Shared {
  const PrintedThreshold* threshold;
  std::vector<std::string> users;
};

std::vector<Shared> SharedThresholds() {
  std::vector<Shared> all;
  for (const Analyzer* analyzer : AllAnalyzers()) {
    for (const PrintedThreshold& threshold : analyzer->thresholds) {
      auto at = std::find_if(all.begin(), all.end(), [&](const Shared& other) {
        return IsSame(*other.threshold, threshold);
      });
      if (at == all.end()) at = all.insert(at, Shared{&threshold, {}});
      at->users.push_back(analyzer->name);
    }
  }
  std::erase_if(all, [](const Shared& one) { return one.users.size() < 2; });
  return all;
}

// Returns the thresholds of a diagnosis, and links to those that others use, too.
std::string ThresholdList(const Analyzer& analyzer) {
  const std::vector<Shared> shared = SharedThresholds();
  std::string list;
  std::vector<std::string> links;
  for (const PrintedThreshold& threshold : analyzer.thresholds) {
    if (std::any_of(shared.begin(), shared.end(), [&](const Shared& other) {
          return IsSame(*other.threshold, threshold);
        })) {
      links.push_back(ValueText(threshold));
    } else {
      list += ThresholdText(threshold);
    }
  }
  if (!links.empty())
    list += fmt::format("- [Shared with other diagnoses](README.md#shared-thresholds): {}\n",
                        fmt::join(links, ", "));
  return list;
}

std::string Folded(const char* title, const std::string& text) {
  return fmt::format(
      "\n<details markdown=\"1\">\n<summary>{}</summary>\n\n{}\n</details>\n", title, text);
}

// Returns what somebody wrote into the page: the text between two lines, without these.
std::string Written(const std::string& page, std::string_view from, std::string_view to) {
  const size_t begin = page.find(from);
  const size_t end = begin == page.npos ? begin : page.find(to, begin);
  if (end == page.npos) return "";
  std::string written = page.substr(begin + from.size(), end - begin - from.size());
  absl::StripAsciiWhitespace(&written);
  return written;
}

constexpr std::string_view kExample = "\n## Example\n", kInstead = "\n## What to write instead\n",
                           kNotCare = "\n## When not to care\n", kFolded = "\n<details ";

// Returns the page, with what is written by hand in its present text.
std::string Page(const Analyzer& analyzer, const std::string& present) {
  std::smatch named;
  std::regex_search(present, named, std::regex(R"(From `tests/golden/\w+/(\w+)`:)"));
  const std::string folder = named.empty() ? "" : named[1].str();
  const std::string shown = PrintedFinding(analyzer, folder);
  const std::string instead = Written(present, kInstead, kNotCare);
  const std::string not_care = Written(present, kNotCare, kFolded);
  EXPECT_NE(shown, "") << analyzer.name << ": the page names no case, or '" << folder
                       << "' has no such finding";
  EXPECT_NE(instead, "") << analyzer.name << ": the page has no text after" << kInstead;
  EXPECT_NE(not_care, "") << analyzer.name << ": the page has no text after" << kNotCare;

  std::string page =
      fmt::format("# {}: {}\n\n{}\n", analyzer.name, analyzer.summary, analyzer.meaning);
  page += fmt::format("{}\nFrom `tests/golden/{}/{}`:\n\n```text\n{}```\n", kExample, analyzer.name,
                      folder, shown);
  page += fmt::format("{}\n{}\n{}\n{}\n", kInstead, instead, kNotCare, not_care);
  if (const std::string reasons = ReasonList(analyzer, shown); !reasons.empty())
    page += Folded("Other reasons", reasons);
  std::string decided = fmt::format("The diagnosis uses {}.", analyzer.looks_at);
  if (const std::string needs = NeedsText(analyzer.needs); !needs.empty())
    decided += fmt::format(" It needs {}.", needs);
  decided += "\n";
  if (!analyzer.thresholds.empty()) decided += "\n" + ThresholdList(analyzer);
  return page + Folded("Thresholds", decided);
}

std::string Index() {
  std::string page =
      "# Diagnoses\n\nA finding has one of these kinds. Each page says what the kind means, what "
      "the report prints of it, what to write instead, when not to care, and, folded at its end, "
      "how it is decided.\n\n| kind | finds |\n| --- | --- |\n";
  std::vector<std::string> unnamed;  // needs without which a report does not name the check
  for (const Analyzer* analyzer : AllAnalyzers()) {
    page += fmt::format("| [{0}]({0}.md) | {1} |\n", analyzer->name, Markdown(analyzer->summary));
    if (!IsNamedWithout(analyzer->needs)) unnamed.push_back(fmt::format("`{}`", analyzer->name));
  }
  page += fmt::format(
      "\nIf the files of a run lack what a check needs, the report names the check and says so. It "
      "does not name {}, for which most programs have no use.\n",
      fmt::join(unnamed, ", "));
  std::string shared;
  for (const Shared& one : SharedThresholds())
    shared += ThresholdText(*one.threshold, fmt::format(" ({})", fmt::join(one.users, ", ")));
  return page + R"(
## Severity

- **error**: Most of the run could be avoided, as was measured, and it goes on.
- **warning**: It is worth a change of the program.
- **info**: It is worth knowing: a clean program does it too, or it has stopped and was cheap, or the capture itself caused it.

One policy decides for all kinds ([decision 0022](../decisions/0022-one-policy-gives-the-severity.md)):

)" + ThresholdText(policy::kMostOfRunShare) +
         ThresholdText(policy::kNoticeableShare) +
         R"(
## State

- **warm_up**: It happened only in the first steps, as in a clean program.
- **burst**: It happened in several consecutive steps and then stopped.
- **ongoing**: It goes on until the end of the run.
- **settled**: It has stopped: the finding names the last step in which it happened.
- **unknown**: The source has no order or no steps from which the state could be derived.

## Figures

- **count**: How often it happened in the run, or in the part of it that the report covers.
- **per step**: The count, divided by the steps of the processes in which it happened.
- **cost**: Time that was measured. The cost note says where it was measured.
- **saving**: An estimate of the time that the remedy would save, with what it saves of the consequences. The saving note says how it was estimated.

## Shared thresholds

)" + shared + R"(
The words of `reason.type` and of all other closed vocabularies are listed in [schema.md](../schema.md).
)";
}

class Diagnoses : public testing::TestWithParam<const Analyzer*> {};

TEST_P(Diagnoses, PageSaysWhatIsExpected) {
  EXPECT_FALSE(std::string(GetParam()->meaning).empty());
  const fs::path path = kPages / (std::string(GetParam()->name) + ".md");
  ExpectFile(path, Page(*GetParam(), ReadFile(path)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Diagnoses,
                         testing::ValuesIn(AllAnalyzers().begin(), AllAnalyzers().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(DiagnosesIndex, PageSaysWhatIsExpected) { ExpectFile(kPages / "README.md", Index()); }

}  // namespace
}  // namespace xlaprof

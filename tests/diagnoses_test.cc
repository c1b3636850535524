// docs/diagnoses/KIND.md says what a diagnosis means, what it needs, when it fires and what to do.
// The pages are generated from the analyzers' descriptors, their thresholds, and their findings in
// the cases of tests/golden/KIND. This test compares them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/quantity.h"
#include "profiler/store/sql_script.h"
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
      return "a recording of a program that uses xlaprof's own lazy runtime, which PyTorch/XLA and JAX do not";
    case Needs::kTorchCompile:
      return "a report of torch.compile's";
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

// Returns the text as it is written into a cell of a table, or into a paragraph.
std::string Markdown(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '`') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string Paragraph(const char* label, const std::string& text) {
  return text.empty() ? "" : fmt::format("*{}.* {}\n\n", label, Markdown(text));
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

// Returns the findings of the cases in the analyzer's golden folder: for each reason, severity and
// state, the one of the first case by name that has it.
using Key = std::tuple<std::string, int, std::optional<State>>;
std::map<Key, Finding> Examples(const Analyzer& analyzer) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden / analyzer.name)) {
    if (entry.path().filename() == "capture.sql" &&
        !fs::exists(entry.path().parent_path() / "args"))
      cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  std::map<Key, Finding> examples;
  for (const fs::path& capture : cases) {
    Store store = Store::CreateTemporary().value();
    EXPECT_TRUE(RunSqlScript(store, ReadFile(capture)).ok()) << capture;
    const auto findings = Analyze(Run(store), analyzer);
    EXPECT_TRUE(findings.ok()) << capture << findings.status();
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

std::string Example(const Finding& finding) {
  const Reason reason = finding.reason.value_or(Reason());
  std::string text = fmt::format("### {}{}, {}\n\n", TextOf(reason.type),
                                 reason.state ? fmt::format(" ({})", TextOf(*reason.state)) : "",
                                 TextOf(finding.severity));
  text += fmt::format("> {}\n\n", Markdown(finding.words.title));
  text += Paragraph("Why", finding.words.why);
  if (finding.cost_ns)
    text += Paragraph("Cost",
                      DurationText(*finding.cost_ns) +
                          (finding.words.cost_note.empty() ? "" : ": " + finding.words.cost_note));
  if (finding.saving_ns)
    text += Paragraph(
        "Saving", DurationText(*finding.saving_ns) +
                      (finding.words.saving_note.empty() ? "" : ": " + finding.words.saving_note));
  text += Paragraph("What to do", finding.words.advice);
  return text;
}

std::string ThresholdTable(const std::vector<PrintedThreshold>& thresholds) {
  std::string table = "\n| value | meaning | why this value |\n| --- | --- | --- |\n";
  for (const PrintedThreshold& threshold : thresholds)
    table += fmt::format("| {} | {} | {} |\n", ValueText(threshold), Markdown(threshold.meaning),
                         Markdown(threshold.reason));
  return table;
}

std::string Page(const Analyzer& analyzer) {
  std::string page = fmt::format("# {}: {}\n\n", analyzer.name, analyzer.summary);
  page += fmt::format("{}\n\n", analyzer.meaning);
  page += fmt::format("## What it needs\n\nThe diagnosis uses {}.", analyzer.looks_at);
  if (const std::string needs = NeedsText(analyzer.needs); !needs.empty())
    page +=
        !IsNamedWithout(analyzer.needs)
            ? fmt::format(" Without {}, the report does not list it among the checks.", needs)
            : fmt::format(" Without {}, the report says that it could not look for this problem.",
                          needs);
  page += "\n\n";
  if (!analyzer.thresholds.empty()) {
    page += "## When it fires\n" + ThresholdTable(analyzer.thresholds) + "\n";
  }
  page += fmt::format(
      "## What it says, and what to do\n\nThese findings come from `tests/golden/{}`, one for each combination of reason, severity and state.\n\n",
      analyzer.name);
  for (const auto& [key, finding] : Examples(analyzer)) page += Example(finding);
  while (page.ends_with("\n\n")) page.pop_back();
  return page;
}

std::string Index() {
  std::string page =
      "# Diagnoses\n\nA finding has one of these kinds. Each page says what the kind means, what it "
      "needs, when it fires and what to do.\n\n| kind | finds |\n| --- | --- |\n";
  for (const Analyzer* analyzer : AllAnalyzers())
    page += fmt::format("| [{0}]({0}.md) | {1} |\n", analyzer->name, Markdown(analyzer->summary));
  return page + R"(
## Vocabulary

| severity | means |
| --- | --- |
| error | More than half of the run could be avoided, as was measured, and it goes on. |
| warning | It is worth a change of the program. |
| info | It is worth knowing: a clean program does it too, or it has stopped and was cheap, or the capture itself caused it. |
)" + ThresholdTable({policy::kMostOfRunShare, policy::kNoticeableShare}) +
         R"(
| state | means |
| --- | --- |
| warm_up | It happened only in the first steps, as in a clean program. |
| burst | It happened in several consecutive steps and then stopped. |
| ongoing | It goes on until the end of the run. |
| settled | It has stopped: the finding names the last step in which it happened. |
| unknown | The source has no order or no steps from which the state could be derived. |

| figure | means |
| --- | --- |
| count | How often it happened in the run, or in the part of it that the report covers. |
| per step | The count, divided by the steps of the processes in which it happened. |
| cost | Time that was measured. The cost note says where it was measured. |
| saving | An estimate of the time that the remedy would save, with what it saves of the consequences. The saving note says how it was estimated. |

The words of `reason.type` and of all other closed vocabularies are listed in [schema.md](../schema.md).
)";
}

class Diagnoses : public testing::TestWithParam<const Analyzer*> {};

TEST_P(Diagnoses, PageSaysWhatIsExpected) {
  EXPECT_FALSE(std::string(GetParam()->meaning).empty());
  ExpectFile(kPages / (std::string(GetParam()->name) + ".md"), Page(*GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Diagnoses,
                         testing::ValuesIn(AllAnalyzers().begin(), AllAnalyzers().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(DiagnosesIndex, PageSaysWhatIsExpected) { ExpectFile(kPages / "README.md", Index()); }

}  // namespace
}  // namespace xlaprof

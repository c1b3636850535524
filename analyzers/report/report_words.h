// The texts of a report before it is laid out, which text and Markdown share. The texts are raw:
// they hold names from the capture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/report/report.h"

namespace xlaprof {

// Paths of the sources without the directory that all share.
class SourceNames {
 public:
  explicit SourceNames(const Report& report);
  std::string Short(const std::string& path) const;
  const std::string& folder() const {
    return folder_;
  }  // "" if they share none; else with its final /

 private:
  std::string folder_;
};

std::string HeadText(const Report& report, const SourceNames& names);  // one line: what was read
// The meaning of a report without a warning.
struct Verdict {
  bool judged = false;  // the analyzers had something to look at
  std::string text;
};
Verdict VerdictWithoutWarnings(const Report& report);
std::string SliceText(const Report& report);      // "" if all of the run was looked at
std::string ProcessesText(const Report& report);  // for --process; "" if there is only one
// "trainer (pid 12): 1,024 events of 2 threads, ..."
std::string RecordingText(const RecordingCost& recording);
bool IsFromTheStart(const Report& report);  // false: a slice leaves out the first step
// "GPU:0 works on for 236 ms after the last step: …"; "" for a device that does not.
std::string AfterStepsText(const Summary::Device& device);
std::string CountsText(const Summary& summary);  // "14 steps, 7 compilations, ..."

std::string_view DoingName(Doing doing);  // "tracing", "compile", "your code", ...

// One row of "where a step goes".
struct StepShare {
  std::string name;
  int64_t ns = 0;
  std::optional<double> part;          // of the steady step or of the window
  std::optional<int64_t> per_step_ns;  // of sums that are of no window
};
// Returns the parts of a steady step: the host's thread without overlap, then the device. Empty
// without timed steps.
std::vector<StepShare> SteadyShares(const Report& report);
// Returns what the shares refer to, and how they overlap.
std::string SteadySharesTitle(const Report& report);
std::string TotalSharesTitle(const Summary& summary);
std::string StepSpreadText(const Summary& summary);  // "median of 23; the longest takes 95.5 ms"
// Sums over the window or, without a clock, over the run.
std::vector<StepShare> TotalShares(const Summary& summary);
std::string TotalsText(
    const Summary& summary);  // the same in a line: "in 1.24 s: tracing 60 ms, ..."

std::string PlaceText(const Finding& finding, bool full_path);  // file:line in function, scope, op
std::string ReasonText(const Finding& finding);  // type, state and the sentence for people
std::string NodeText(const Reason& reason);      // the node that differs and its place
std::string CostText(const Report& report, const Finding& finding);
std::string SavingText(const Finding& finding);
std::string EvidenceText(const Report& report, const Evidence& evidence);
std::string IssueText(const ReportIssue& issue, const SourceNames& names);
std::string WindowText(const Report& report, int64_t from_ns,
                       int64_t to_ns);  // relative to the capture's start

// About what was recorded and how, not about the program.
bool IsAboutCapture(const Finding& finding);
// The setting that such a finding is about; null if none.
const SettingRow* SettingOf(const Report& report, const Finding& finding);

// Which checks these files let be made; `why` not the others, as a person would say it.
struct Checks {
  std::vector<const Analyzer*> made, not_made;
  std::string why;
};
Checks ChecksOf(const Summary& summary);

}  // namespace xlaprof

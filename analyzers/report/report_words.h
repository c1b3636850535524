// The texts of a report before it is laid out, which text and Markdown share. The texts are raw:
// they hold names from the capture.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzers/report/report.h"

namespace xlaprof {

// The paths of the sources, without the directory that all share.
class SourceNames {
 public:
  explicit SourceNames(const Report& report);
  std::string Short(const std::string& path) const;
  // Returns the shared directory with its final /, or "" if there is none.
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

std::string HeadText(const Report& report, const SourceNames& names);  // one line about the input
std::string SliceText(const Report& report);      // "" if the whole run was analysed
std::string ProcessesText(const Report& report);  // for --process; "" if there is only one
// Returns "trainer (pid 12): 1,024 events of 2 threads, ...".
std::string RecordingText(const RecordingCost& recording);
bool IsFromTheStart(const Report& report);  // false: the chosen part lacks the first step
// Returns "GPU:0 works for 236 ms after the last step: …", or "" if the device does not.
std::string AfterStepsText(const Summary::Device& device);
// Returns the unit of a run without steps: "No step is marked, so the unit is one execution of
// `jit_decode`: 62 executions, median 14 ms, …". Returns "" if the run has steps or no such unit.
std::string UnitText(const Summary& summary);
std::string CountsText(const Summary& summary);  // "14 steps, 7 compilations, ..."

// One row of "where a step goes".
struct StepShare {
  std::string name;
  int64_t ns = 0;
  std::optional<double> part;          // of the steady step or of the window
  std::optional<int64_t> per_step_ns;  // set for sums without a window
};
// Returns the parts of a steady step: the host thread's, which do not overlap, then the device's.
// Returns nothing without timed steps.
std::vector<StepShare> SteadyShares(const Report& report);
// Returns a title that says to what the shares refer, and how they overlap.
std::string SteadySharesTitle(const Report& report);
std::string TotalSharesTitle(const Summary& summary);
std::string StepSpreadText(const Summary& summary);  // "median of 23; the longest takes 95.5 ms"
// Returns sums over the window or, without a clock, over the run.
std::vector<StepShare> TotalShares(const Summary& summary);
// Returns these sums in one line: "of the 1.24 s in the window (activities overlap): tracing 60 ms, …".
std::string TotalsText(const Summary& summary);

// Returns "What TPU:0 does (the busiest of 4 devices): it is busy for 93 % of 67.2 ms", for the first
// device of TopOps, which must have one.
std::string TopTitle(const Report& report);
// Returns "12 times, convolution fusion, at model.py:12": what is known of an op besides its share.
std::string TopOpText(const TopOp& op);

std::string PlaceText(const Finding& finding, bool full_path);  // file:line in function, scope, op
// Returns the sentence that names the library's line that did the work, or "" if the user's line did.
std::string LibraryText(const Finding& finding);
// Returns the user's lines from which the finding's line was called, innermost first.
std::vector<std::string> CallerTexts(const Finding& finding);
std::string ReasonText(const Finding& finding);  // type, state and sentence
std::string NodeText(const Reason& reason);      // the node that differs and its place
std::string CostText(const Report& report, const Finding& finding);
// Returns the findings that follow from a finding, directly or not, in the order of the report.
std::span<const Finding> ConsequencesOf(const Report& report, const Finding& finding);
// Consequences of a finding that follow one another and read alike, as one text. They are at different
// lines of a library, for example. `depth` is 0 for direct ones.
struct ConsequenceText {
  int depth = 0;
  std::string text;
};
std::vector<ConsequenceText> ConsequenceTexts(const Report& report, const Finding& finding);
std::string SavingText(const Finding& finding);
std::string EvidenceText(const Report& report, const Evidence& evidence);
// Returns whether a source is an archive or a notebook of which a member was read.
bool HoldsImported(const Report& report, const SourceRow& source);
std::string IssueText(const ReportIssue& issue, const SourceNames& names);
// Returns the times relative to the capture's start.
std::string WindowText(const Report& report, int64_t from_ns, int64_t to_ns);

// Returns whether a finding is about the capture, not about the program.
bool IsAboutCapture(const Finding& finding);
// Returns the setting that such a finding is about, or null.
const SettingRow* SettingOf(const Report& report, const Finding& finding);

}  // namespace xlaprof

#include <absl/strings/ascii.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/causes.h"
#include "analyzers/how_to_record.h"
#include "analyzers/impact.h"
#include "analyzers/kinds.h"
#include "analyzers/order_by_cause.h"
#include "analyzers/run/call_stacks.h"

namespace xlaprof {
namespace {

// The hash FNV-1a with 64 bits, which is the same on every machine and in every version.
class Fnv {
 public:
  // Adds `text` and an end mark, so that ("ab", "c") and ("a", "bc") differ.
  void Add(std::string_view text) {
    for (char c : text) Byte(uint8_t(c));
    Byte(0xff);  // UTF-8 text never has this byte
  }
  std::string Hex() const { return fmt::format("{:016x}", hash_); }

 private:
  void Byte(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

std::string Fingerprint(const Finding& finding) {
  const Subject& subject = finding.subject;
  Fnv fnv;
  fnv.Add(finding.kind());
  fnv.Add(finding.reason ? TextOf(finding.reason->type) : "");
  fnv.Add(std::filesystem::path(subject.file.value_or("")).filename().string());
  fnv.Add(subject.function.value_or(""));
  fnv.Add(subject.scope.value_or(""));
  fnv.Add(subject.op.value_or(""));
  // Findings without a place, for example about a setting that slowed the run, differ in the node
  // that they name.
  bool placeless = !subject.file && !subject.function && !subject.scope && !subject.op;
  if (placeless && finding.reason && finding.reason->node) fnv.Add(*finding.reason->node);
  return fnv.Hex();
}

void SetFingerprints(Findings& findings) {
  std::vector<Finding*> by_line;
  for (Finding& finding : findings) {
    finding.fingerprint = Fingerprint(finding);
    by_line.push_back(&finding);
  }
  std::stable_sort(by_line.begin(), by_line.end(), [](const Finding* a, const Finding* b) {
    return std::tie(a->fingerprint, a->subject.line, a->words.title) <
           std::tie(b->fingerprint, b->subject.line, b->words.title);
  });
  for (size_t i = 0, first = 0; i < by_line.size(); ++i) {
    // by_line[first] keeps the fingerprint that the others of its group are compared with.
    if (by_line[i]->fingerprint != by_line[first]->fingerprint) first = i;
    if (i == first) continue;
    Fnv fnv;
    fnv.Add(by_line[first]->fingerprint);
    fnv.Add(fmt::to_string(i - first));
    by_line[i]->fingerprint = fnv.Hex();
  }
}

namespace {

// Returns how certain a finding is whose analyzer does not say: a cost is measured, and a number
// without a cost is counted.
Certainty UsualCertainty(const Finding& finding) {
  if (finding.cost_ns) return Certainty::kMeasured;
  return finding.count ? Certainty::kCounted : Certainty::kInferred;
}

absl::StatusOr<Findings> Find(const Run& run, const Analyzer& analyzer) {
  auto findings = analyzer.find(run);
  if (!findings.ok()) {
    return absl::Status(findings.status().code(),
                        fmt::format("{}: {}", analyzer.name, Message(findings.status())));
  }
  XP_TRY(const CallStacks* stacks, run.Get<CallStacks>());
  XP_TRY(const RunLength* length, run.Get<RunLength>());
  for (Finding& finding : *findings) {
    finding.analyzer = &analyzer;
    if (finding.certainty == Certainty::kUnknown) finding.certainty = UsualCertainty(finding);
    finding.severity = SeverityOf(finding, *length);
    SetIntervals(*length, finding);
    finding.stack = stacks->Of(finding);
  }
  return findings;
}

absl::Status SetWords(const Run& run, Findings& findings) {
  XP_TRY(const Framework framework, FrameworkOf(run));
  XP_TRY(const HowToRecord how, HowToRecordMore(run, framework));
  for (Finding& finding : findings) {
    Words& words = finding.words;
    words = finding.analyzer->say(finding, framework);
    if (words.unseen) words.advice += ToSee(*words.unseen, how);
    absl::StripLeadingAsciiWhitespace(&words.advice);
    for (size_t i = 0; i < words.evidence.size(); ++i)
      finding.evidence[i].text = words.evidence[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Findings> Analyze(const Run& run, const Analyzer& analyzer) {
  XP_TRY(Findings findings, Find(run, analyzer));
  XP_TRY(SetWords(run, findings));
  return findings;
}

absl::StatusOr<Findings> Analyze(const Run& run) {
  Findings all;
  for (const Analyzer* analyzer : AllAnalyzers()) {
    XP_TRY(Findings found, Find(run, *analyzer));
    std::ranges::move(found, std::back_inserter(all));
  }
  XP_TRY(const CauseLinks links, LinkCauses(run, all));
  XP_TRY(SetWords(run, all));
  Findings ordered = OrderByCause(std::move(all), links);
  XP_TRY(const RunLength* length, run.Get<RunLength>());
  for (Finding& finding : ordered) LimitTotalSaving(*length, finding);
  return ordered;
}

}  // namespace xlaprof

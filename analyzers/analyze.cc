#include <absl/strings/ascii.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/causes.h"
#include "analyzers/how_to_record.h"
#include "analyzers/impact.h"
#include "analyzers/kinds.h"
#include "analyzers/run/call_stacks.h"
#include "base/hash.h"

namespace xlaprof {
namespace {

std::string Hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string_view OrNothing(const OptText& text) { return text ? std::string_view(*text) : ""; }

}  // namespace

std::string Fingerprint(const Finding& finding) {
  const Subject& subject = finding.subject;
  const std::string file = std::filesystem::path(subject.file.value_or("")).filename().string();
  uint64_t hash = kFnvStart;
  for (std::string_view text :
       {finding.kind(), std::string_view(finding.reason ? TextOf(finding.reason->type) : ""),
        std::string_view(file), OrNothing(subject.function), OrNothing(subject.scope),
        OrNothing(subject.op)})
    hash = Fnv(hash, text);
  // Findings without a place, for example about a setting that slowed the run, differ in the node
  // that they name.
  bool placeless = !subject.file && !subject.function && !subject.scope && !subject.op;
  if (placeless && finding.reason && finding.reason->node)
    hash = Fnv(hash, *finding.reason->node);
  return Hex(hash);
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
    by_line[i]->fingerprint =
        Hex(Fnv(Fnv(kFnvStart, by_line[first]->fingerprint), fmt::to_string(i - first)));
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

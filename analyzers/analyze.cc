#include <algorithm>
#include <filesystem>
#include <tuple>

#include "analyzers/analyzer.h"

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

// Compares in the order of the report. Findings that need fixing come before those that are only
// mentioned. In each part the most expensive come first, and those without a cost last.
bool Before(const Finding& a, const Finding& b) {
  auto figures = [](const Finding& f) {
    return std::tuple(f.severity == Severity::kInfo, -f.cost_ns.value_or(-1), -int(f.severity),
                      -f.per_step.value_or(-1), f.cost_ns ? 0 : -f.count.value_or(-1));
  };
  if (figures(a) != figures(b)) return figures(a) < figures(b);
  auto subject = [](const Finding& f) {
    const Subject& s = f.subject;
    return std::tuple(f.kind(), s.file, s.line, s.function, s.scope, s.op, s.graph_hash,
                      std::string_view(f.words.title));
  };
  return subject(a) < subject(b);
}

// Sets fingerprints. If several findings of one kind are in one function, the first by line keeps
// the plain fingerprint, and the others are numbered.
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

static absl::StatusOr<Findings> Analyze(const Run& run, const Analyzer& analyzer,
                                        Framework framework) {
  auto findings = analyzer.find(run);
  if (!findings.ok()) {
    return absl::Status(findings.status().code(),
                        fmt::format("{}: {}", analyzer.name, Message(findings.status())));
  }
  for (Finding& finding : *findings) {
    finding.analyzer = &analyzer;
    finding.words = analyzer.say(finding, framework);
    for (size_t i = 0; i < finding.words.evidence.size(); ++i)
      finding.evidence[i].text = finding.words.evidence[i];
  }
  return findings;
}

absl::StatusOr<Findings> Analyze(const Run& run, const Analyzer& analyzer) {
  XP_TRY(const Framework framework, FrameworkOf(run));
  return Analyze(run, analyzer, framework);
}

absl::StatusOr<Findings> Analyze(const Run& run) {
  XP_TRY(const Framework framework, FrameworkOf(run));
  Findings all;
  for (const Analyzer* analyzer : AllAnalyzers()) {
    XP_TRY(Findings found, Analyze(run, *analyzer, framework));
    std::ranges::move(found, std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(), Before);
  SetFingerprints(all);
  return all;
}

}  // namespace xlaprof

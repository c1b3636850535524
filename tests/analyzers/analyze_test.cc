// Tests the order of findings and the names that identify them across runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/analyzer.h"

namespace xlaprof {

extern const Analyzer sync_point, fallback;
namespace {

Finding Sync() {
  return {.analyzer = &sync_point,
          .severity = Severity::kWarning,
          .subject = {.file = "/a/b/train.py", .line = 7, .function = "body"},
          .count = 12,
          .per_step = 1.0,
          .cost_ns = 5,
          .reason = Reason{.type = ReasonType::kValueAccess},
          .words = {.title = "12 reads"}};
}

TEST(Fingerprint, SurvivesEditsAndOtherRuns) {
  Finding other = Sync();
  other.subject.file = "/elsewhere/train.py";
  other.subject.line = 70;
  other.count = 99;
  other.cost_ns.reset();
  other.words.title = "99 reads";
  other.subject.graph_hash = "abc";
  EXPECT_EQ(Fingerprint(other), Fingerprint(Sync()));
}

TEST(Fingerprint, IsTheSameForEver) { EXPECT_EQ(Fingerprint(Sync()), "eb76a75a701c0faa"); }

TEST(Fingerprint, TellsKindReasonAndSubjectApart) {
  std::vector<std::string> prints = {Fingerprint(Sync())};
  auto differs = [&](auto change) {
    Finding finding = Sync();
    change(finding);
    prints.push_back(Fingerprint(finding));
  };
  differs([](Finding& f) { f.analyzer = &fallback; });
  differs([](Finding& f) { f.reason->type = ReasonType::kOutliers; });
  differs([](Finding& f) { f.subject.file = "/a/b/model.py"; });
  differs([](Finding& f) { f.subject.function = "forward"; });
  differs([](Finding& f) { f.subject.scope = "body"; });
  differs([](Finding& f) { f.subject.op = "body"; });
  std::sort(prints.begin(), prints.end());
  EXPECT_EQ(std::unique(prints.begin(), prints.end()), prints.end());
}

// Returns the advice of a finding that asks for a recording.
std::string AdviceAskingFor(RecordingKind recording, const Store& store) {
  static RecordingKind asked;
  asked = recording;
  const Analyzer asking{
      .name = "asking",
      .find = [](const xlaprof::Run&) -> absl::StatusOr<Findings> { return Findings(1); },
      .say = [](const Finding&, Framework) {
        return Words{.advice = "Look.", .unseen = Unseen{"why", asked}};
      }};
  return Analyze(xlaprof::Run(store), asking)->front().words.advice;
}

TEST(Analyze, AdviceNamesOnlyRecordingsThatShowMore) {
  auto store = Store::CreateTemporary();
  const auto advice = [&](RecordingKind recording) { return AdviceAskingFor(recording, *store); };
  EXPECT_EQ(advice(RecordingKind::kLog), "Look. To see why, run `xlaprof run -- python train.py`.");
  const std::string with_graphs = "Look. To see why, run `xlaprof run --full -- python train.py`.";
  EXPECT_EQ(advice(RecordingKind::kGraphs), with_graphs);
  ASSERT_TRUE(store->Exec("INSERT INTO observed_process (process_id, command, ts_ns, dur_ns, ended) "
                          "VALUES (1, 'train.py', 0, 9, 1)")
                  .ok());
  EXPECT_EQ(advice(RecordingKind::kLog), "Look.");
  EXPECT_EQ(advice(RecordingKind::kProfile), "Look.");
  EXPECT_EQ(advice(RecordingKind::kGraphs), with_graphs);
  ASSERT_TRUE(store->Exec("INSERT INTO source (path, format, kind, imported) VALUES ('jax_ir', "
                          "'jax_ir', 'lowered', 1)")
                  .ok());
  EXPECT_EQ(advice(RecordingKind::kGraphs), "Look.");
}

TEST(Analyze, EmptyStoreHasNothingAboveInfo) {
  auto store = Store::CreateTemporary();
  auto findings = Analyze(xlaprof::Run(*store));
  ASSERT_TRUE(findings.ok()) << findings.status();
  for (const Finding& finding : *findings)
    EXPECT_EQ(finding.severity, Severity::kInfo) << finding.words.title;
}

// There are three reads in one function, and the cheapest line comes first in the store.
TEST(Analyze, PutsTheDearestFirstAndNamesEach) {
  auto store = Store::CreateTemporary();
  ASSERT_TRUE(
      store
          ->Exec(
              "INSERT INTO source (id, path, imported) VALUES (1, 's', 1);"
              "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, NULL, 1, 0, NULL, NULL, NULL, NULL);"
              "INSERT INTO site (id, function, file, line) VALUES (1, 'body', 't.py', 9), (2, 'body', 't.py', 11), "
              "(3, 'body', 't.py', 14);")
          .ok());
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE(
        store
            ->Exec(fmt::format(
                "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES ({}, 1, {}, NULL, NULL, NULL, NULL)",
                step + 1, step))
            .ok());
    for (int site = 1; site <= 3; ++site) {
      ASSERT_TRUE(store
                      ->Exec(fmt::format("INSERT INTO execution (process_id, ordinal, cause, "
                                         "site_id, step_id, host_wait_ns) "
                                         "VALUES (1, {}, 'value_access', {}, {}, {})",
                                         step * 10 + site, site, step + 1,
                                         site == 2 ? "NULL" : fmt::to_string(site * 1000)))
                      .ok());
    }
    ASSERT_TRUE(store
                    ->Exec(fmt::format("INSERT INTO execution (process_id, ordinal, cause, "
                                       "step_id) VALUES (1, {}, 'user_sync', {})",
                                       step * 10 + 9, step + 1))
                    .ok());
  }
  auto findings = Analyze(xlaprof::Run(*store));
  ASSERT_TRUE(findings.ok()) << findings.status();
  std::vector<int64_t> lines;
  std::set<std::string> prints;
  for (const Finding& finding : *findings) {
    EXPECT_TRUE(prints.insert(finding.fingerprint).second) << finding.words.title;
    if (finding.kind() == "sync_point") lines.push_back(finding.subject.line.value_or(0));
  }
  EXPECT_THAT(lines, testing::ElementsAre(14, 9, 11));
}

// Regression: the most expensive finding is a compilation at the start, which needs no fixing. The
// report shows it last, but table finding numbered it 1.
TEST(Analyze, PutsWhatNeedsNoFixingLast) {
  auto store = Store::CreateTemporary();
  ASSERT_TRUE(
      store
          ->Exec(
              "INSERT INTO source (id, path, imported) VALUES (1, 's', 1);"
              "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, NULL, 1, 0, NULL, NULL, NULL, NULL);"
              "INSERT INTO site (id, function, file, line) VALUES (1, 'body', 't.py', 9);"
              "INSERT INTO compile (process_id, ordinal, dur_ns, inferred) VALUES (1, 0, "
              "9000000, 0);"
              "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES (1, 1, 0, NULL, NULL, NULL, NULL), (2, 1, 1, NULL, "
              "NULL, NULL, NULL);"
              "INSERT INTO execution (process_id, ordinal, cause, site_id, step_id, "
              "host_wait_ns) VALUES (1, 1, 'value_access', 1, 1, 1000), (1, 2, "
              "'value_access', 1, 2, 1000);")
          .ok());
  auto findings = Analyze(xlaprof::Run(*store));
  ASSERT_TRUE(findings.ok()) << findings.status();
  ASSERT_GE(findings->size(), 2u);
  EXPECT_EQ(findings->front().kind(), "sync_point");
  EXPECT_TRUE(std::ranges::is_sorted(
      *findings, {}, [](const Finding& finding) { return finding.severity == Severity::kInfo; }));
}

}  // namespace
}  // namespace xlaprof

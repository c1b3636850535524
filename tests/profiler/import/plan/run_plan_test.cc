// Which runs the files show, and which of them is read, is planned from values: no file is opened
// and there is no database.
#include "profiler/import/plan/run_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "profiler/import/plan/places.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kDayNs = int64_t(86'400) * 1'000'000'000;

// A file as the stage before makes it.
struct Given {
  std::string path;
  const char* format = "metrics_report";  // "": not recognised
  int day = 1;                            // since 1970
  std::string run_folder = "";
  std::optional<TraceSpan> span = {};
  bool named = false;
};

IdentifiedFile Identified(const Given& given) {
  IdentifiedFile file{
      {.path = given.path, .named = given.named, .modified_ns = given.day * kDayNs}};
  file.format = FormatNamed(given.format);
  if (file.format == nullptr) file.look = Look::kText;
  file.run_folder = given.run_folder;
  file.span = given.span;
  return file;
}

struct Case {
  std::string name;  // a sentence
  std::vector<Given> files;
  size_t shared_runs = 1;  // that the files to which runs are appended show
  std::string wanted = "";
  std::vector<std::string> runs;  // labels, oldest first, the chosen one with *
  std::vector<std::string> read;  // paths of the files that are read
};

Given Profile(const std::string& root, const std::string& run, int day = 1) {
  return {root + "/plugins/profile/" + run + "/host.xplane.pb", "xspace", day, run};
}

Given Trace(const std::string& path, int64_t rank, int64_t begin_ns, int64_t end_ns) {
  return {path, "chrome", 1, "",
          TraceSpan{.rank = rank,
                    .world_size = 2,
                    .host = "",
                    .base_epoch_ns = 1'000'000'000'000'000'000,
                    .first_ns = begin_ns,
                    .last_ns = end_ns}};
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {.name = "one file is one run",
       .files = {{"d/metrics.txt"}},
       .runs = {"metrics.txt*"},
       .read = {"d/metrics.txt"}},
      {.name = "the newest run of an appended file is read",
       .files = {{"d/metrics.txt"}},
       .shared_runs = 2,
       .runs = {"1 of 2", "2 of 2*"},
       .read = {"d/metrics.txt"}},
      {.name = "a profile is of the newest run of an appended file",
       .files = {{"d/metrics.txt"}, Profile("d", "R")},
       .shared_runs = 2,
       .runs = {"1 of 2", "R*"},
       .read = {"d/metrics.txt", "d/plugins/profile/R/host.xplane.pb"}},
      {.name = "an older run is read without the profile of a newer one",
       .files = {{"d/metrics.txt"}, Profile("d", "R")},
       .shared_runs = 2,
       .wanted = "1 of 2",
       .runs = {"1 of 2*", "R"},
       .read = {"d/metrics.txt"}},
      {.name = "of several RUN folders the last by its time is read",
       .files = {Profile("d", "2026_01_02_00_00_00"), Profile("d", "2026_01_03_00_00_00"),
                 Profile("d", "2026_01_01_00_00_00")},
       .runs = {"2026_01_01_00_00_00", "2026_01_02_00_00_00", "2026_01_03_00_00_00*"},
       .read = {"d/plugins/profile/2026_01_03_00_00_00/host.xplane.pb"}},
      {.name = "a RUN folder is named by itself or by a part of its path",
       .files = {Profile("one", "2026_01_02_00_00_00"), Profile("two", "2026_01_01_00_00_00")},
       .wanted = "two",
       .runs = {"one/2026_01_02_00_00_00", "two/2026_01_01_00_00_00*"},
       .read = {"two/plugins/profile/2026_01_01_00_00_00/host.xplane.pb"}},
      {.name = "other directories are other runs, and the newest is read",
       .files = {{"monday/metrics.txt", "metrics_report", 1},
                 {"tuesday/metrics.txt", "metrics_report", 2}},
       .runs = {"monday", "tuesday*"},
       .read = {"tuesday/metrics.txt"}},
      {.name = "files that are named one by one are one run",
       .files = {{.path = "a/metrics.txt", .named = true}, {.path = "b/report.txt", .named = true}},
       .runs = {"the run*"},
       .read = {"a/metrics.txt", "b/report.txt"}},
      {.name = "a file of no format is of no run, however new it is",
       .files = {{"out/metrics.txt"}, {"src/data.txt", "", 9}},
       .runs = {"metrics.txt*"},
       .read = {"out/metrics.txt"}},
      {.name = "traces of ranks that were recorded together are one run",
       .files = {Trace("d/a.json", 0, 1000, 2000), Trace("d/b.json", 1, 1500, 2500)},
       .runs = {"d*"},
       .read = {"d/a.json", "d/b.json"}},
      {.name = "traces that were recorded one after another are runs of their own",
       .files = {Trace("d/a.json", 0, 1000, 2000),
                 Trace("d/b.json", 0, 5'000'000'000, 5'000'001'000)},
       .runs = {"2001-09-09T01:46:40Z", "2001-09-09T01:46:45Z*"},
       .read = {"d/b.json"}},
      {.name = "a folder of TORCH_TRACE is of the only job beside it",
       .files = {{"run/trace/t.log", "torch_trace"}, Profile("run/prof", "R")},
       .runs = {"R*"},
       .read = {"run/trace/t.log", "run/prof/plugins/profile/R/host.xplane.pb"}},
  };
  return cases;
}

TEST(RunPlan, IsMadeFromTheFiles) {
  for (const Case& given : Cases()) {
    SCOPED_TRACE(given.name);
    std::vector<IdentifiedFile> files;
    for (const Given& file : given.files) files.push_back(Identified(file));
    const std::vector<Place> places = PlaceFiles(files);
    const JobPlan job(files, places, given.wanted);
    const absl::StatusOr<RunPlan> plan = PlanRuns(job, given.shared_runs);
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<std::string> runs, read;
    for (const auto* some : {&plan->other_jobs, &plan->runs}) {
      for (const PlannedRun& run : *some) runs.push_back(run.label + (run.is_chosen ? "*" : ""));
    }
    EXPECT_EQ(runs, given.runs);
    for (size_t i = 0; i < files.size(); ++i) {
      const bool is_wanted =
          job.IsShared(places[i]) || (plan->takes_capture && job.IsOfCapture(places[i]));
      if (is_wanted && MayBeRead(files[i])) read.push_back(files[i].path);
    }
    EXPECT_EQ(read, given.read);
  }
}

TEST(RunPlan, SaysHowTheRunsAreDistinguished) {
  const std::vector<IdentifiedFile> files = {Identified(Profile("a", "2026_01_02_00_00_00")),
                                             Identified({"b/metrics.txt"})};
  const std::vector<Place> places = PlaceFiles(files);
  const absl::StatusOr<RunPlan> plan = PlanRuns(JobPlan(files, places, ""), 1);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->runs[0].why, "its own folder under plugins/profile, the newest by its name");
  EXPECT_EQ(plan->runs[0].files, 1u);
  EXPECT_EQ(plan->other_jobs[0].why, "another directory");
}

TEST(RunPlan, AnUnknownRunListsTheKnownOnes) {
  const std::vector<IdentifiedFile> files = {Identified({"a/metrics.txt"}),
                                             Identified({"b/metrics.txt", "metrics_report", 2})};
  const std::vector<Place> places = PlaceFiles(files);
  const absl::StatusOr<RunPlan> plan = PlanRuns(JobPlan(files, places, "c"), 2);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Message(plan.status())),
              testing::AllOf(HasSubstr("no such run"), HasSubstr("1 of 2"), HasSubstr("2 of 2"),
                             HasSubstr("\n  a")));
}

TEST(Places, OrdinalsOfSeveralFilesAreRanks) {
  const std::vector<IdentifiedFile> files = {Identified({"d/m.txt.0"}), Identified({"d/m.txt.1"}),
                                             Identified({"d/alone.txt.0"})};
  std::vector<std::optional<int64_t>> ranks;
  for (const Place& place : PlaceFiles(files)) ranks.push_back(place.rank);
  EXPECT_THAT(ranks, ElementsAre(0, 1, std::nullopt));
}

}  // namespace
}  // namespace xlaprof

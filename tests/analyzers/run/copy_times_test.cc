#include "analyzers/run/copy_times.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

constexpr int64_t kUs = 1000;

// Returns a program of one copy, an op that waits for it, and an op that does not.
CopyingProgram CopyAndUpdate(const DeviceKey& device, std::vector<Interval> times) {
  return {.ops = {"copy.3", "scatter", "dot"},
          .is_copy = {1, 0, 0},
          .users = {{1}, {}, {}},
          .times = {{device, std::move(times)}}};
}

TEST(CopyTimes, ACopySharesItsTimeWithOtherOpsOfACpu) {
  TimedRun run;
  const int64_t client = run.HostThread("tf_XLAPjRtCpuClient"), eigen = run.HostThread("eigen");
  run.Flow(client, TextOf(Category::kOp), "copy.3", 0, 10, 0, 7);
  run.Event(client, TextOf(Category::kOp), "dot", 20, 20);
  run.Event(eigen, TextOf(Category::kOp), "scatter", 60, 30);
  run.Flow(eigen, TextOf(Category::kHost), "end: copy.3", 90, 0, 7, 0);
  run.Event(client, TextOf(Category::kOp), "copy.3", 200, 50);  // of another program
  const DeviceKey cpu{1, "CPU:0"};
  const auto times =
      CopyTimesOf(xlaprof::Run(run.store()), {CopyAndUpdate(cpu, {{0, 100 * kUs}})}).value();
  ASSERT_EQ(times.size(), 1u);
  const CopyTimes& copies = times.at({0, cpu});
  EXPECT_EQ(copies.copies, 1);
  EXPECT_EQ(copies.copy_ns, 50 * kUs);  // until the update starts, and half of the product's time
  ASSERT_EQ(copies.longest.size(), 1u);
  EXPECT_EQ(copies.longest[0].dur_ns, 60 * kUs);
}

TEST(CopyTimes, CopiesInTwoStreamsCountOnce) {
  TimedRun run;
  const int64_t first = run.Stream(), second = run.Stream();
  run.Event(first, TextOf(Category::kOp), "copy.3", 0, 30);
  run.Event(second, TextOf(Category::kOp), "copy.3", 10, 30);
  run.Event(first, TextOf(Category::kOp), "dot", 30, 50);
  const DeviceKey gpu{1, "GPU:0"};
  const auto times =
      CopyTimesOf(xlaprof::Run(run.store()), {CopyAndUpdate(gpu, {{0, 100 * kUs}})}).value();
  EXPECT_EQ(times.at({0, gpu}).copies, 2);
  EXPECT_EQ(times.at({0, gpu}).copy_ns, 40 * kUs);
}

TEST(CopyTimes, Empty) {
  TimedRun run;
  EXPECT_TRUE(CopyTimesOf(xlaprof::Run(run.store()), {}).value().empty());
}

}  // namespace
}  // namespace xlaprof

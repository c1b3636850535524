#include "analyzers/run/device_time.h"

#include "analyzers/run/async_ops.h"
#include "analyzers/run/device_ops.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

TEST(Union, MergesOverlappingAndTouching) {
  std::vector<Interval> merged = Union({{50, 60}, {0, 10}, {10, 20}, {5, 8}, {55, 70}, {90, 90}});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].begin_ns, 0);
  EXPECT_EQ(merged[0].end_ns, 20);
  EXPECT_EQ(merged[1].begin_ns, 50);
  EXPECT_EQ(merged[1].end_ns, 70);
  EXPECT_TRUE(Union({}).empty());
}

TEST(DeviceTimes, ModulesCoverTheWaitsBetweenTheirOps) {
  TimedRun run;
  int64_t device = run.Device();
  run.Event(device, TextOf(Category::kModule), "jit_f(1)", 0, 100);
  run.Event(device, TextOf(Category::kOp), "dot", 10, 20);
  run.Event(device, TextOf(Category::kModule), "jit_f(1)", 150, 50);
  auto times = DeviceTimes::Of(xlaprof::Run(run.store())).value().devices;
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].device, "TPU:0");
  EXPECT_EQ(times[0].from, BusyFrom::kModules);
  EXPECT_EQ(times[0].busy_ns, 150'000);
  EXPECT_EQ(times[0].span().length_ns(), 200'000);
}

TEST(DeviceTimes, OverlappingAsyncOpsAreNotBusy) {
  TimedRun run;
  int64_t device = run.Device();
  run.Event(device, TextOf(Category::kOp), "dot", 0, 10);
  run.Event(device, TextOf(Category::kAsyncOp), "copy-start", 0, 500);
  run.Event(device, TextOf(Category::kCollective), "all-reduce", 20, 5);
  auto times = DeviceTimes::Of(xlaprof::Run(run.store())).value().devices;
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].from, BusyFrom::kOps);
  EXPECT_EQ(times[0].busy_ns, 15'000);
}

// Each rank calls its device GPU:0.
TEST(DeviceTimes, DevicesOfOneNameAreToldApart) {
  TimedRun run;
  run.Exec(
      "UPDATE process SET rank = 0; INSERT INTO process (id, run_id, source_id, segment, rank) "
      "VALUES (2, 1, 1, 0, 1);");
  for (int64_t process : {1, 2})
    run.Event(run.Device("GPU:0", process), TextOf(Category::kModule), "f", 0, 10);
  run.Event(run.Device("GPU:1", 2), TextOf(Category::kModule), "f", 0, 10);
  auto times = DeviceTimes::Of(xlaprof::Run(run.store())).value().devices;
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].label, "GPU:0 of rank 0");
  EXPECT_EQ(times[1].label, "GPU:0 of rank 1");
  EXPECT_EQ(times[2].label, "GPU:1");
}

TEST(DeviceTimes, OpsOnHostThreadsAreTheCpus) {
  TimedRun run;
  int64_t eigen = run.HostThread("tf_XLAEigen"), client = run.HostThread("tf_XLAPjRtCpuClient");
  run.Event(eigen, TextOf(Category::kOp), "dot", 0, 10);
  run.Event(client, TextOf(Category::kOp), "call", 5, 10);
  run.Event(client, TextOf(Category::kHost), "ThunkExecutor", 0, 90);
  run.Event(eigen, TextOf(Category::kOp), "dot", 100, 10);
  run.Arg("device_ordinal", int64_t{1});
  auto times = DeviceTimes::Of(xlaprof::Run(run.store())).value().devices;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].device, "CPU:0");
  EXPECT_EQ(times[0].busy_ns, 15'000);
  EXPECT_EQ(times[1].device, "CPU:1");
  EXPECT_EQ(times[1].busy_ns, 10'000);
}

// XLA:CPU divides a copy among its threads: the thread that started it does the first part.
TEST(DeviceTimes, AnOpOfACpuLastsUntilItsLastPart) {
  TimedRun run;
  const int64_t client = run.HostThread("tf_XLAPjRtCpuClient"), eigen = run.HostThread("eigen");
  run.Flow(client, TextOf(Category::kOp), "copy.3", 0, 10, 0, 7);
  run.Flow(client, TextOf(Category::kOp), "dot", 20, 10, 0, 8);
  run.Flow(client, TextOf(Category::kHost), "end: dot", 30, 0, 8, 0);
  run.Flow(eigen, TextOf(Category::kHost), "end: copy.3", 90, 0, 7, 0);
  const xlaprof::Run whole(run.store());
  const AsyncOps* async = whole.Get<AsyncOps>().value();
  ASSERT_EQ(async->ops.size(), 1u);
  EXPECT_EQ(async->ops[0].begin_ns, 0);
  EXPECT_EQ(async->ops[0].end_ns, 90'000);
  EXPECT_EQ(async->Find(async->ops[0].event_id), &async->ops[0]);
  EXPECT_EQ(async->Find(async->ops[0].event_id + 1), nullptr);
  const auto times = DeviceTimes::Of(whole).value().devices;
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].busy_ns, 90'000);
  // While no event is open, the time belongs to the op that is not yet done.
  const auto& ops = whole.Get<DeviceOps>().value()->by_device.at({1, "CPU:0"});
  EXPECT_EQ(ops.at(run.Interned("copy.3")).ns, 10'000);
  EXPECT_EQ(ops.at(run.Interned("copy.3")).self_ns, 80'000);
  EXPECT_EQ(ops.at(run.Interned("dot")).self_ns, 10'000);
}

TEST(DeviceTimes, ExecutionsWhereNoEventTells) {
  TimedRun run;
  run.Exec(
      "INSERT INTO execution (process_id, ordinal, ts_ns, dur_ns, device) VALUES (1, 0, 100, 50, "
      "'GPU:0'), "
      "(1, 1, 120, 50, 'GPU:0'), (1, 2, NULL, NULL, NULL)");
  auto times = DeviceTimes::Of(xlaprof::Run(run.store())).value().devices;
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].from, BusyFrom::kExecutions);
  EXPECT_EQ(times[0].busy_ns, 70);
}

TEST(DeviceTimes, ASliceCutsWhatReachesOverItsEnds) {
  TimedRun run;
  int64_t device = run.Device();
  run.Event(device, TextOf(Category::kModule), "f", 0, 100);
  run.Event(device, TextOf(Category::kModule), "f", 200, 100);
  Store& store = run.store();
  ASSERT_TRUE(store.Restrict({.from_ns = 50'000, .to_ns = 250'000}).ok());
  auto times = DeviceTimes::Of(xlaprof::Run(store)).value().devices;
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].busy_ns, 100'000);
}

TEST(DeviceTimes, Empty) {
  TimedRun run;
  EXPECT_TRUE(DeviceTimes::Of(xlaprof::Run(run.store())).value().devices.empty());
}

}  // namespace
}  // namespace xlaprof

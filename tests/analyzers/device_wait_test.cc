#include "analyzers/device_wait.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer device_wait;

namespace {

const DeviceWaitFigures& WaitFiguresOf(const Finding& finding) {
  return std::any_cast<const DeviceWaitFigures&>(finding.figures);
}

class DeviceWait : public testing::Test {
 protected:
  // Records a device that is busy for 1000 us, `wait_us` of it in two ops that wait.
  void Record(std::string_view first, std::string_view second, int64_t wait_us) {
    int64_t device = run_.Device();
    run_.Event(device, TextOf(Category::kModule), "jit_f", 0, 1000);
    run_.Event(device, TextOf(Category::kOp), "%fusion.7 = f32[8]{0} fusion(f32[8]{0} %p)", 0,
               1000 - wait_us);
    run_.Event(device, TextOf(Category::kOp), first, 1000 - wait_us, wait_us / 2);
    run_.Arg("bytes_accessed", uint64_t{1 << 20});
    run_.Event(device, TextOf(Category::kOp), second, 1000 - wait_us / 2, wait_us / 2);
  }
  TimedRun run_;
};

TEST_F(DeviceWait, HostOffloadIsToldByTheMemorySpaceOfTheOperand) {
  Record("%copy-done.2 = f32[5]{0} copy-done((f32[5]{0}, f32[5]{0:S(5)}, u32[]) %copy-start.2)",
         "%copy-done = f32[5]{0} copy-done(%x)", 900);
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.op, "copy-done");
  EXPECT_EQ(found[0].reason->type, ReasonType::kHostOffload);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].cost_ns, 900'000);
  ASSERT_EQ(found[0].evidence.size(), 2u);
  ASSERT_EQ(WaitFiguresOf(found[0]).ops.size(), 2u);
  EXPECT_EQ(WaitFiguresOf(found[0]).ops[0].name, "copy-done.2");
  EXPECT_EQ(WaitFiguresOf(found[0]).ops[0].bytes, 1 << 20);
}

TEST_F(DeviceWait, OtherCopiesAreNoHostOffload) {
  Record("copy-done.2", "copy-done.3", 900);
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCopy);
}

TEST_F(DeviceWait, TheProgramsTextTellsTheMemorySpaceToo) {
  Record("copy-done.2", "copy-done.2", 900);
  run_.Exec(
      "INSERT INTO graph (id, printed_as) VALUES (1, 'hlo_optimized');"
      "INSERT INTO graph_node (graph_id, idx, op, shape, operands, name, location) VALUES "
      "(1, 0, 'copy-start', '(f32[5]{0}, f32[5]{0:S(5)}, u32[])', '', 'copy-start.2', NULL), "
      "(1, 1, 'copy-done', 'f32[5]{0}', '0', 'copy-done.2', 'f@/u/train.py:7')");
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kHostOffload);
  EXPECT_EQ(found[0].subject.line, 7);
}

TEST_F(DeviceWait, TenInAHundredJustFires) {
  Record("all-reduce.1", "all-reduce.2", 100);
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCollective);
}

// Four hosts each have a device called GPU:0, and one of them comes late.
TEST_F(DeviceWait, DevicesOfOneNameAreOneARank) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    const int64_t process = rank + 1;
    if (rank > 0)
      run_.Exec(fmt::format(
          "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES ({0}, 1, 1, 0, NULL, NULL, {1}, NULL)",
          process, rank));
    const int64_t device = run_.Device("GPU:0", process);
    const int64_t wait_us = rank == 2 ? 50 : 680 + rank;
    run_.Event(device, TextOf(Category::kModule), "step", 0, 1000);
    for (int i = 0; i < 2; ++i)
      run_.Event(device, TextOf(Category::kCollective), "ncclDevKernel_AllReduce", i * 500,
                 wait_us / 2);
  }
  run_.Exec("UPDATE process SET rank = 0 WHERE id = 1");
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(WaitFiguresOf(found[0]).device, "GPU:0 of rank 3");
  EXPECT_DOUBLE_EQ(WaitFiguresOf(found[0]).share, 0.682);
  EXPECT_EQ(found[0].cost_ns, 682'000);
  EXPECT_EQ(found[0].count, 2);
  ASSERT_TRUE(WaitFiguresOf(found[0]).least);
  EXPECT_EQ(WaitFiguresOf(found[0]).least->device, "GPU:0 of rank 2");
  EXPECT_TRUE(WaitFiguresOf(found[0]).least->is_late);
}

TEST_F(DeviceWait, HowMuchIsWaitingIsKnownFromTheDeviceThatIsLate) {
  const std::string psum = "psum.3";
  for (const auto& [device, us] : {std::pair("TPU:0", 400), {"TPU:1", 100}}) {
    const int64_t track = run_.Device(device);
    run_.Event(track, TextOf(Category::kModule), "step", 0, 1000);
    for (int i = 0; i < 2; ++i)
      run_.Event(track, TextOf(Category::kOp), psum, (i + 1) * 500 - us / 2, us / 2);
  }
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.op, "psum");
  EXPECT_EQ(found[0].reason->type, ReasonType::kCollective);
  ASSERT_TRUE(WaitFiguresOf(found[0]).least);
  EXPECT_TRUE(WaitFiguresOf(found[0]).least->is_late);
  EXPECT_EQ(WaitFiguresOf(found[0]).least->waiting_ns, 300'000);
}

TEST_F(DeviceWait, OneDeviceDoesNotShowHowMuchIsWaiting) {
  Record("all-reduce.1", "all-reduce.2", 500);
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(WaitFiguresOf(found[0]).least);
}

// A CPU's client runs the parts of several virtual devices at the same time, on threads that name
// no device.
TEST_F(DeviceWait, OpsAtTheSameTimeAreNoMoreThanTheBusyTime) {
  for (const char* name : {"tf_XLAEigen/1", "tf_XLAEigen/2"}) {
    const int64_t thread = run_.HostThread(name);
    run_.Event(thread, TextOf(Category::kOp), "fusion.1", 0, 100);
    run_.Event(thread, TextOf(Category::kOp), "all-reduce.1", 100, 400);
    run_.Event(thread, TextOf(Category::kOp), "all-reduce.2", 500, 500);
  }
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_DOUBLE_EQ(WaitFiguresOf(found[0]).share, 0.9);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].cost_ns, 900'000);
  EXPECT_EQ(found[0].count, 4);
}

TEST_F(DeviceWait, OpsOnHostThreadsBelongToTheDeviceThatTheyName) {
  const int64_t thread = run_.HostThread("tf_XLAEigen/1");
  for (int64_t device : {0, 1}) {
    for (int i = 0; i < 2; ++i) {
      run_.Event(thread, TextOf(Category::kOp), "all-reduce.1", device * 1000 + i * 500, 300);
      run_.Arg("device_ordinal", device);
      run_.Event(thread, TextOf(Category::kOp), "fusion.1", device * 1000 + i * 500 + 300, 100);
      run_.Arg("device_ordinal", device);
    }
  }
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_TRUE(WaitFiguresOf(found[0]).least);
  EXPECT_EQ(WaitFiguresOf(found[0]).least->devices, 2);
  EXPECT_DOUBLE_EQ(WaitFiguresOf(found[0]).share, 0.75);
}

TEST_F(DeviceWait, StepsAreThoseOfItsProcess) {
  Record("all-reduce.1", "all-reduce.2", 300);
  run_.Exec(
      "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (2, 1, 1, 0, NULL, NULL, 1, NULL);"
      "INSERT INTO step (process_id, ordinal, ts_ns, dur_ns) VALUES (1, 0, 0, 500000), (1, 1, "
      "500000, 500000), (2, 0, 0, 500000), (2, 1, 500000, 500000)");
  Findings found = run_.Run(device_wait);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].per_step, double(*found[0].count) / 2);
}

TEST_F(DeviceWait, LessIsInfoAndLittleIsNothing) {
  Record("all-reduce.1", "all-reduce.2", 98);
  ASSERT_EQ(run_.Run(device_wait).size(), 1u);
  EXPECT_EQ(run_.Run(device_wait)[0].severity, Severity::kInfo);
  TimedRun other;
  int64_t device = other.Device();
  other.Event(device, TextOf(Category::kModule), "f", 0, 1000);
  other.Event(device, TextOf(Category::kOp), "infeed.1", 0, 49);
  EXPECT_TRUE(other.Run(device_wait).empty());
}

TEST_F(DeviceWait, ADoneOpThatRunsInTheBackgroundIsNoWait) {
  int64_t device = run_.Device();
  run_.Event(device, TextOf(Category::kModule), "f", 0, 1000);
  run_.Event(device, TextOf(Category::kOp), "fusion.1", 0, 1000);
  run_.Event(device, TextOf(Category::kAsyncOp), "copy-done.1", 0, 900);
  EXPECT_TRUE(run_.Run(device_wait).empty());
}

TEST_F(DeviceWait, Empty) { EXPECT_TRUE(run_.Run(device_wait).empty()); }

}  // namespace
}  // namespace xlaprof

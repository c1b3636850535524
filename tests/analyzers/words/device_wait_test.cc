#include "analyzers/device_wait.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(const DeviceWaitFigures& figures) {
  return SayDeviceWait({.subject = {.op = "all-reduce"}, .figures = figures}, Framework::kUnknown);
}

// Returns figures of collective ops on four devices, one of which may come late.
DeviceWaitFigures OnFourDevices(bool is_late) {
  return {.device = "GPU:3",
          .share = 0.682,
          .waited_for = WaitedFor::kCollective,
          .least = LeastWait{
              .device = "GPU:2", .share = is_late ? 0.1 : 0.6, .devices = 4, .is_late = is_late}};
}

TEST(DeviceWaitWords, TheDeviceThatComesLateIsNamed) {
  const Words words = Say(OnFourDevices(true));
  EXPECT_EQ(words.title,
            "'all-reduce' runs during 68 % of GPU:3's busy time: communication with other devices");
  EXPECT_EQ(words.why, "GPU:2 spends least in these ops, so the others wait for it.");
  EXPECT_EQ(words.cost_note,
            "sum of these ops on GPU:3; on 4 devices it is 10.0 (on GPU:2) to 68.2 % of busy");
  EXPECT_TRUE(words.advice.starts_with("Find out what GPU:2 does before these ops"));
}

TEST(DeviceWaitWords, HowMuchIsWaitingIsToldIfItIsKnown) {
  DeviceWaitFigures figures = OnFourDevices(true);
  figures.least->waiting_ns = 58'200'000;
  EXPECT_EQ(Say(figures).why,
            "GPU:2 spends least in these ops, so the others wait for it: GPU:3 at least 58.2 ms.");
  figures.least.reset();
  EXPECT_EQ(Say(figures).why, "");
  EXPECT_EQ(
      Say(figures).cost_note,
      "sum of these ops on GPU:3; only the profiles of several devices show how much of it is "
      "waiting");
}

TEST(DeviceWaitWords, DevicesThatWaitAlikeAreOnlyCompared) {
  const Words words = Say(OnFourDevices(false));
  EXPECT_EQ(words.why, "");
  EXPECT_TRUE(words.advice.starts_with("Overlap communication with computation"));
}

TEST(DeviceWaitWords, EvidenceTellsTheRateOfACopy) {
  const Words words = Say({.ops = {{.name = "copy-done.2",
                                    .ns = 450'000,
                                    .count = 1,
                                    .bytes = 1 << 20,
                                    .host_memory = true},
                                   {.name = "copy-done", .ns = 1'000'000, .count = 2}}});
  EXPECT_EQ(words.evidence,
            (std::vector<std::string>{
                "copy-done.2: 0.000 s in 1 execution, 1.0 MiB each, 2.3 GB/s, host memory",
                "copy-done: 0.001 s in 2 executions"}));
}

}  // namespace
}  // namespace xlaprof

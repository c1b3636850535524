#include "analyzers/run/top_ops.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

const TopOp* Find(const DeviceTop& top, std::string_view name) {
  const auto found = std::ranges::find(top.ops, name, &TopOp::name);
  return found == top.ops.end() ? nullptr : &*found;
}

// A loop contains its body's ops, so only the rest of it is its own time.
TEST(TopOps, TimeOfAnOpExcludesTheOpsInside) {
  TimedRun run;
  const int64_t device = run.Device(), host = run.HostThread();
  run.Event(host, TextOf(Category::kHost), "start", 0, 1);
  run.Event(device, TextOf(Category::kOp), "%while.1 = (f32[2]) while(f32[2] %a)", 0, 100);
  run.Event(device, TextOf(Category::kOp), "fusion.2", 10, 30);
  run.Event(device, TextOf(Category::kOp), "fusion.3.clone", 40, 40);
  run.Event(device, TextOf(Category::kCollective), "all-reduce.7", 100, 60);
  run.Event(device, TextOf(Category::kOp), "tiny", 160, 1);
  run.Event(device, TextOf(Category::kOp), "copy", 170, 30);
  const TopOps tops = TopOps::Of(xlaprof::Run(run.store())).value();
  ASSERT_EQ(tops.devices.size(), 1u);
  const DeviceTop& top = tops.devices[0];
  EXPECT_EQ(top.label, "TPU:0");
  EXPECT_NEAR(top.busy_share, 191.0 / 200, 1e-9);
  ASSERT_EQ(top.ops.size(), 4u);
  EXPECT_EQ(top.ops[0].name, "fusion");
  EXPECT_EQ(top.ops[0].count, 2);
  EXPECT_EQ(top.ops[0].self_ns, 70'000);
  EXPECT_NEAR(top.ops[0].share, 70.0 / 191, 1e-9);
  ASSERT_NE(Find(top, "while"), nullptr);
  EXPECT_EQ(Find(top, "while")->self_ns, 30'000);
  ASSERT_NE(Find(top, "all-reduce"), nullptr);
  EXPECT_EQ(Find(top, "all-reduce")->category, "communication");
  EXPECT_EQ(top.other_names, 1);
  EXPECT_NEAR(top.other_share, 1.0 / 191, 1e-9);
}

// Kernels on two streams overlap, and their shares still sum to 1.
TEST(TopOps, OverlappingKernelsHaveSharesOfTheirSum) {
  TimedRun run;
  const int64_t one = run.Stream(), two = run.Stream();
  run.Event(one, TextOf(Category::kOp), "void at::(anonymous namespace)::add<float>(int, int)", 0,
            90);
  run.Event(two, TextOf(Category::kOp), "Memcpy DtoH (Device -> Pinned)", 0, 30);
  const TopOps tops = TopOps::Of(xlaprof::Run(run.store())).value();
  ASSERT_EQ(tops.devices.size(), 1u);
  ASSERT_EQ(tops.devices[0].ops.size(), 2u);
  EXPECT_EQ(tops.devices[0].ops[0].name, "at::add<float>");
  EXPECT_NEAR(tops.devices[0].ops[0].share, 0.75, 1e-9);
  EXPECT_EQ(tops.devices[0].ops[1].name, "Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(tops.devices[0].ops[1].category, "copy");
  EXPECT_NEAR(tops.devices[0].ops[1].share, 0.25, 1e-9);
}

TEST(TopOps, AnIdleDeviceIsNotListed) {
  TimedRun run;
  const int64_t device = run.Device();
  run.Event(device, TextOf(Category::kOp), "fusion.2", 0, 49);
  run.Event(device, TextOf(Category::kOp), "fusion.2", 100, 1);
  EXPECT_TRUE(TopOps::Of(xlaprof::Run(run.store())).value().devices.empty());
}

}  // namespace
}  // namespace xlaprof

// Makes images in all ways of examples/diffusion, and finds its faults.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/examples/recorded_example.h"

namespace xlaprof {
namespace {

using nlohmann::json;

constexpr int kImages = 2, kStepsOfImage = 10;

struct Made {
  int graphs = 0, executions = 0, marked = -1;
  double mean = 0, deviation = 0;
};

class Diffusion : public RecordedExample {
 protected:
  Made Make(const std::string& options) {
    const Ran ran = RunShell(fmt::format("{} --images {} --steps {} {}", XLAPROF_DIFFUSION, kImages,
                                         kStepsOfImage, options),
                             folder_);
    EXPECT_EQ(ran.status, 0) << ran.out;
    Made made;
    EXPECT_EQ(
        std::sscanf(ran.out.c_str(),
                    "%*d images of %*d steps took %*f s (%*f ms each): %d graphs, %d "
                    "executions\npixels %lf with a deviation of %lf, %d images",
                    &made.graphs, &made.executions, &made.mean, &made.deviation, &made.marked),
        5)
        << ran.out;
    return made;
  }
};

TEST_F(Diffusion, AllWaysMakeTheSameImages) {
  const Made best = Make("--scheduler by_index --mark step --watermark thread");
  EXPECT_TRUE(best.mean > 0.01 && best.mean < 0.99) << best.mean;
  EXPECT_GT(best.deviation, 0.01);
  EXPECT_EQ(best.marked, kImages);
  const auto expect_same = [&](const Made& made) {
    EXPECT_NEAR(made.mean, best.mean, 2e-4);
    EXPECT_NEAR(made.deviation, best.deviation, 2e-4);
    return made;
  };
  // The weights are made by one execution. Each step and the end of each image is one more.
  EXPECT_EQ(best.executions, 1 + kImages * (kStepsOfImage + 1));
  const Made host = expect_same(Make("--watermark host"));
  EXPECT_EQ(host.marked, kImages);
  EXPECT_EQ(host.executions, best.executions);
  EXPECT_EQ(expect_same(Make("--watermark none")).marked, 0);
  const Made unrolled = expect_same(Make("--mark never"));
  EXPECT_EQ(unrolled.executions, 1 + kImages);
  EXPECT_LT(unrolled.graphs, best.graphs);
  // Each step has its own graph, because the index of the step is in it, and two executions more.
  const Made by_value = expect_same(Make("--scheduler by_value"));
  EXPECT_EQ(by_value.executions, best.executions + 2 * kImages * kStepsOfImage);
  EXPECT_GE(by_value.graphs, kStepsOfImage);
}

TEST_F(Diffusion, TheLookUpOfTheIndexIsFoundAtItsLine) {
  const json report = ReportOf(XLAPROF_DIFFUSION " --images 3 --steps 10 --scheduler by_value");
  const json fault = Fault(report, "fallback", "no_lowering");
  ExpectLine(fault, "diffusion/scheduler.cc", "nonzero(");
  EXPECT_EQ(fault["count"], 60);
  ExpectOnPage(fault);
  // The index is baked into the graph of each step. The line is the one that takes the view, not
  // the one that uses it.
  const auto recompiles = std::ranges::find_if(report["findings"], [](const json& finding) {
    return finding["kind"] == "recompilation" && finding["reason"]["type"] == "constant_change";
  });
  ASSERT_NE(recompiles, report["findings"].end());
  ExpectLine(*recompiles, "diffusion/scheduler.cc", "sigmas_[IndexOf(");
  EXPECT_TRUE(Fault(ReportOf(XLAPROF_DIFFUSION " --images 3 --steps 10"), "fallback", "no_lowering")
                  .is_null());
}

// The host works in 5 of 126 steps, which is less than a tenth of them.
TEST_F(Diffusion, TheWatermarkOnTheHostIsFoundAtItsScope) {
  const json report = ReportOf(XLAPROF_DIFFUSION " --images 6 --steps 20 --watermark host");
  const json fault = Fault(report, "device_gap", "user_scope");
  ExpectLine(fault, "diffusion/main.cc", "named(\"pipe_watermark\")");
  EXPECT_EQ(fault["subject"]["scope"], "pipe_watermark");
  EXPECT_THAT(fault["reason"]["text"].get<std::string>(), testing::HasSubstr("TransferFromDevice"));
  ExpectOnPage(fault);
}

TEST_F(Diffusion, TheWatermarkInAThreadKeepsNoDeviceWaiting) {
  const json report = ReportOf(XLAPROF_DIFFUSION " --images 6 --steps 20 --watermark thread");
  EXPECT_TRUE(Fault(report, "device_gap", "user_scope").is_null()) << report["findings"].dump(1);
}

}  // namespace
}  // namespace xlaprof

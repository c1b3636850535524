#include "analyzers/run/host_samples.h"

#include <gtest/gtest.h>

#include "profiler/vocabulary/code.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

struct Frame {
  std::string function, file;
  int line = 1;
  bool is_user = false;
};

// Samples of one thread, 10 ms apart.
class HostSamplesTest : public testing::Test {
 protected:
  HostSamplesTest() {
    run_.Exec(
        "INSERT INTO track (id, process_id, kind, name, sort) VALUES (9, 1, 'samples', "
        "'MainThread (sampled)', 1)");
  }
  // Adds samples of a stack, whose innermost frame comes first.
  void Add(const std::vector<Frame>& frames, int times = 1) {
    ++stacks_;
    run_.Exec(fmt::format("INSERT INTO stack (id, hash) VALUES ({0}, '{0}')", stacks_));
    for (size_t i = 0; i < frames.size(); ++i)
      run_.Exec(
          fmt::format("INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES "
                      "({}, {}, '{}', '{}', {}, '{}')",
                      stacks_, i, frames[i].function, frames[i].file, frames[i].line,
                      frames[i].is_user ? CodeOwner::kUser : OwnerOf(frames[i].file)));
    for (int i = 0; i < times; ++i)
      run_.Exec(
          fmt::format("INSERT INTO host_sample (process_id, track_id, ts_ns, dur_ns, stack_id) "
                      "VALUES (1, 9, {}, 10000000, {})",
                      10'000'000 * samples_++, stacks_));
  }
  HostSamples Samples() { return HostSamples::Of(xlaprof::Run(run_.store()), 1).value(); }
  int64_t Count(Doing doing) { return Samples().TotalIn(kAll).Of(doing).samples; }

  const std::vector<Interval> kAll{{0, 1'000'000'000'000}};
  const Frame main_{"main", "/home/u/train.py", 30, true};
  const std::string lib_ = "/usr/lib/python3/site-packages/";
  const Frame sync_{"sync", lib_ + "torch_xla/torch_xla.py", 87};
  TimedRun run_;
  int stacks_ = 0, samples_ = 0;
};

TEST_F(HostSamplesTest, ADataLoaderThatMarksAStepLoadsNothing) {
  const Frame next{"next", lib_ + "torch_xla/distributed/parallel_loader.py", 46};
  Add({sync_, next, main_});
  EXPECT_EQ(Count(Doing::kTracing), 1);
  Add({{"wait", "/usr/lib/python3/threading.py"}, next, main_}, 2);
  EXPECT_EQ(Count(Doing::kInput), 2);
  // A dataset may use modules to change its data.
  Add({{"forward", lib_ + "torch/nn/modules/conv.py"},
       {"__getitem__", "/home/u/data.py", 7, true},
       {"fetch", lib_ + "torch/utils/data/_utils/fetch.py"},
       main_});
  EXPECT_EQ(Count(Doing::kInput), 3);
}

TEST_F(HostSamplesTest, OperationsOfAModelAreTracedOnlyIfTheProgramIsLazy) {
  const Frame call{"_call_impl", lib_ + "torch/nn/modules/module.py"};
  const Frame forward{"forward", "/home/u/net.py", 12, true};
  Add({{"linear", lib_ + "torch/nn/modules/linear.py"}, main_});
  Add({{"_engine_run_backward", lib_ + "torch/autograd/graph.py"}, main_});
  Add({{"step", lib_ + "torch/optim/sgd.py"}, main_});
  Add({forward, call, main_});
  EXPECT_EQ(Count(Doing::kRuntime), 4);
  Add({sync_, main_});
  EXPECT_EQ(Count(Doing::kTracing), 5);
  // What a function of the user does with tensors of the host is its own work.
  Add({{"interpolate", lib_ + "torch/nn/functional.py"}, {"crop", "/home/u/a.py", 3, true}, main_});
  EXPECT_EQ(Count(Doing::kUserCode), 1);
}

TEST_F(HostSamplesTest, JaxCallsFunctionsToTraceThemAndInCallbacks) {
  const Frame body{"step", "/home/u/model.py", 5, true};
  Add({body, {"_trace", lib_ + "jax/_src/pjit.py"}, main_});
  EXPECT_EQ(Count(Doing::kTracing), 1);
  Add({body, {"pure_callback", lib_ + "jax/_src/callback.py"}, main_});
  EXPECT_EQ(Count(Doing::kUserCode), 1);
  Add({{"apply_primitive", lib_ + "jax/_src/dispatch.py"}, main_});
  EXPECT_EQ(Count(Doing::kRuntime), 1);
}

TEST_F(HostSamplesTest, TheInnermostFunctionWithHalfOfTheSamplesIsNamed) {
  const auto in = [&](const std::string& function, int line) {
    Add({{function, "/home/u/pipeline.py", line, true},
         {"load_batch", "/home/u/pipeline.py", 19, true},
         main_});
  };
  in("blur", 7), in("blur", 7), in("jitter", 11), in("jitter", 12), in("crop", 15);
  Add({main_});
  const auto function = Samples().FunctionIn(kAll, Doing::kUserCode);
  ASSERT_TRUE(function);
  EXPECT_EQ(function->place.function, "load_batch");
  EXPECT_EQ(function->place.line, 19);
  EXPECT_EQ(function->samples, 5);
  EXPECT_EQ(function->examined, 6);
  EXPECT_DOUBLE_EQ(Samples().ShareOf(function->place, kAll[0]), 5.0 / 6);
  EXPECT_FALSE(Samples().FunctionIn(kAll, Doing::kInput));
}

TEST_F(HostSamplesTest, ARecursiveFunctionCountsOncePerSample) {
  const Frame walk{"walk", "/home/u/tree.py", 4, true};
  Add({walk, walk, walk, main_}, 3);
  const auto function = Samples().FunctionIn(kAll, Doing::kUserCode);
  ASSERT_TRUE(function);
  EXPECT_EQ(function->place.function, "walk");
  EXPECT_EQ(function->samples, 3);
}

}  // namespace
}  // namespace xlaprof

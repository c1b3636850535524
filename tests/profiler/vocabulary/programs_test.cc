#include "profiler/vocabulary/programs.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(Programs, HaveNamesOfTheirFramework) {
  EXPECT_EQ(FrameworkOfProgram("SyncTensorsGraph.12"), Framework::kPytorchXla);
  EXPECT_EQ(FrameworkOfProgram("tt_jit_add"), Framework::kTorchtpu);
  EXPECT_EQ(FrameworkOfProgram("jit_update"), Framework::kJax);
  EXPECT_EQ(FrameworkOfProgram("PjitFunction(update)"), Framework::kJax);
  EXPECT_EQ(FrameworkOfProgram("a_inference_train_12"), Framework::kTensorflow);
  EXPECT_EQ(FrameworkOfProgram("main"), Framework::kUnknown);
}

}  // namespace
}  // namespace xlaprof

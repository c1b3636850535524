#include "base/jax_module.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(JaxModule, FunctionsOfModules) {
  EXPECT_EQ(JaxFunctionOf("jit_update"), "update");
  EXPECT_EQ(JaxFunctionOf("jit(update)"), "update");
  EXPECT_EQ(JaxFunctionOf("pmap__step"), "_step");
  EXPECT_EQ(JaxFunctionOf("jitter"), "");
  EXPECT_EQ(JaxFunctionOf("jit(update"), "");
  EXPECT_EQ(JaxFunctionOf("SyncTensorsGraph.12"), "");
}

TEST(JaxModule, FunctionsOfCalls) {
  EXPECT_EQ(JittedFunction("PjitFunction(step)"), "step");
  EXPECT_EQ(JittedFunction("PmapFunction(<lambda>)"), "<lambda>");
  EXPECT_EQ(JittedFunction("PjitFunction(step"), "");
  EXPECT_EQ(JittedFunction("np.asarray(jax.Array)"), "");
}

}  // namespace
}  // namespace xlaprof

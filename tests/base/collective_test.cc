#include "base/collective.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(Collective, NamesOfXlaJaxAndLibraries) {
  for (const char* name :
       {"all-reduce", "all-reduce.3", "all-reduce-start.1",
        "%all-gather.7 = f32[8]{0} all-gather(%x)", "reduce-scatter.2", "all_gather.5", "psum",
        "psum.12", "psum_invariant.4", "pmax.1", "ppermute.2", "collective-permute-done.1",
        "ncclDevKernel_Generic", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "void ncclKernel_SendRecv", "rcclGenericKernel<1, false>"}) {
    EXPECT_TRUE(IsCollectiveOp(name)) << name;
  }
}

TEST(Collective, OtherNames) {
  for (const char* name : {"", "fusion.3", "psummary.1", "all", "reduce.4", "all-reduced",
                           "copy-done.1", "pmaximum", "scatter.2", "loop_all_fusion"}) {
    EXPECT_FALSE(IsCollectiveOp(name)) << name;
  }
}

}  // namespace
}  // namespace xlaprof

#include "profiler/import/text/cpu_notice.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(CpuNotice, OfEachVersion) {
  for (const char* line :
       {"WARNING:absl:No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 ...)",
        "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. "
        "Falling back to cpu.",
        "A Google TPU may be present on this machine, but either a TPU-enabled jaxlib or libtpu is "
        "not installed. Falling back to cpu.",
        "WARNING:root:Defaulting to PJRT_DEVICE=CPU"}) {
    const auto found = FindCpuNotice(std::string("epoch 1\n") + line + "\n" + line + "\n");
    ASSERT_TRUE(found) << line;
    EXPECT_EQ(found->offset, 8);
    EXPECT_EQ(found->line, 2);
    EXPECT_EQ(found->count, 2);
  }
}

TEST(CpuNotice, OthersFallBackToo) {
  EXPECT_FALSE(FindCpuNotice(""));
  EXPECT_FALSE(FindCpuNotice("aten::nonzero is not supported, falling back to CPU"));
}

}  // namespace
}  // namespace xlaprof

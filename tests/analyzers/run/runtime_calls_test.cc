#include "analyzers/run/runtime_calls.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(RuntimeCalls, RecognisesTheAllocatorsOfAllApis) {
  for (const char* name : {"cudaFree", "hipFree", "cuMemFree_v2", "cudaMalloc", "hipMalloc",
                           "cuMemAlloc_v2", "cudaHostAlloc", "hipHostMalloc", "cuMemUnmap"})
    EXPECT_EQ(RuntimeCallOf(name), RuntimeCall::kAllocator) << name;
}

TEST(RuntimeCalls, LeavesOutWhatDoesNotWaitForTheDriver) {
  for (const char* name : {"cudaMallocAsync", "cudaFreeAsync", "cudaLaunchKernel", "Free",
                           "cudaMemcpyAsync", "cudaMemGetInfo", "custom_free", "cudaFreeing", ""})
    EXPECT_EQ(RuntimeCallOf(name), RuntimeCall::kOther) << name;
}

TEST(RuntimeCalls, RecognisesGraphCapture) {
  EXPECT_EQ(RuntimeCallOf("cudaStreamBeginCapture"), RuntimeCall::kBeginCapture);
  EXPECT_EQ(RuntimeCallOf("cuStreamBeginCapture_v2"), RuntimeCall::kBeginCapture);
  EXPECT_EQ(RuntimeCallOf("hipStreamEndCapture"), RuntimeCall::kEndCapture);
  EXPECT_EQ(RuntimeCallOf("cudaStreamIsCapturing"), RuntimeCall::kOther);
}

}  // namespace
}  // namespace xlaprof

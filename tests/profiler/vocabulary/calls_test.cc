#include "profiler/vocabulary/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Calls, RecogniseTheAllocatorsOfAllApis) {
  for (const char* name : {"cudaFree", "hipFree", "cuMemFree_v2", "cudaMalloc", "hipMalloc",
                           "cuMemAlloc_v2", "cudaHostAlloc", "hipHostMalloc", "cuMemUnmap"})
    EXPECT_EQ(FindCall(name).kind, CallKind::kAllocating) << name;
}

TEST(Calls, LeaveOutWhatDoesNotWaitForTheDriver) {
  for (const char* name : {"cudaMallocAsync", "cudaFreeAsync", "cudaLaunchKernel", "Free",
                           "cudaMemcpyAsync", "cudaMemGetInfo", "custom_free", "cudaFreeing", ""})
    EXPECT_NE(FindCall(name).kind, CallKind::kAllocating) << name;
}

TEST(Calls, RecogniseGraphCapture) {
  for (const char* name : {"cudaStreamBeginCapture", "cuStreamBeginCapture_v2"}) {
    EXPECT_EQ(FindCall(name).kind, CallKind::kCapturing) << name;
    EXPECT_TRUE(FindCall(name).Has(CallTrait::kStarts)) << name;
  }
  EXPECT_TRUE(FindCall("hipStreamEndCapture").Has(CallTrait::kEnds));
  EXPECT_EQ(FindCall("cudaStreamIsCapturing").kind, CallKind::kUnknown);
}

TEST(Calls, RecogniseWaitsAndLaunchesOfAllApis) {
  for (const char* name : {"cudaStreamSynchronize", "hipDeviceSynchronize", "cuCtxSynchronize"})
    EXPECT_EQ(FindCall(name).kind, CallKind::kWaiting) << name;
  for (const char* name : {"cudaLaunchKernel", "cuLaunchKernelEx", "hipModuleLaunchKernel"})
    EXPECT_EQ(FindCall(name).kind, CallKind::kLaunching) << name;
}

TEST(Calls, GiveTheNamesToLookUp) {
  const std::vector<std::string> first = NamesOfCalls(CallTrait::kFirst);
  for (const char* name : {"cuInit", "cuCtxCreate_v2", "cudaFree", "hipSetDevice"})
    EXPECT_THAT(first, Contains(name));
  EXPECT_THAT(NamesOfCalls(CallTrait::kInBackground), ElementsAre("H2D Dispatch"));
}

// Rules ask for the one event that has such a trait.
TEST(Calls, OneEventHasEachOfTheseTraits) {
  for (const CallTrait trait : {CallTrait::kMakesProgram, CallTrait::kWaitsForLoader,
                                CallTrait::kUploadsBatch, CallTrait::kInBackground})
    EXPECT_EQ(NamesOfCalls(trait).size(), 1u);
}

TEST(Calls, StagesOfTheCompilerAreKnown) {
  EXPECT_TRUE(IsCompilerStage("HLO passes through layout assignment"));
  EXPECT_FALSE(IsCompilerStage("algsimp.2"));
}

}  // namespace
}  // namespace xlaprof

// Tests what names of events mean for the facts of an XSpace. calls.txt lists them.
#include "profiler/import/xspace/xspace_names.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using C = Category;
using R = XRole;

struct Expected {
  const char* name;
  C category;
  R role;
};

TEST(XspaceNames, KnownNamesHaveACategoryAndARole) {
  constexpr Expected kNames[] = {
      {"", C::kHost, R::kNone},
      {"$train.py:12 step", C::kPython, R::kNone},
      {"StepMarker", C::kHost, R::kStepMark},
      {"SyncTensorsGraphInternal", C::kHost, R::kSync},
      {"RunPostOrder", C::kTracing, R::kNone},
      {"ScheduleSyncTensorsGraph", C::kExecute, R::kSchedule},
      {"PjRtComputationClient::ExecuteComputation", C::kExecute, R::kExecute},
      {"PjRtComputationClient::Compile", C::kCompile, R::kClientCompile},
      {"XLAGraphExecutor::Compile", C::kCompile, R::kGraphCompile},
      {"backend_compile", C::kCompile, R::kJaxCompile},
      {"DoEnqueueProgram", C::kExecute, R::kEnqueue},
      {"ExecutionTask::Run", C::kExecute, R::kTask},
      {"TransferToDevice", C::kTransfer, R::kToDevice},
      {"CopyTpuToCpu", C::kTransfer, R::kFromDevice},
      {"ReshardData", C::kTransfer, R::kDeviceToDevice},
      {"DevicePut", C::kTransfer, R::kPut},
      {"np.asarray(jax.Array)", C::kTransfer, R::kFetch},
      {"PyArray::Value", C::kTransfer, R::kNone},
      {"get_batch_from_cpu_queue", C::kInput, R::kNone},
      {"PjitFunction(ns::step)", C::kExecute, R::kCall},
      {"end: dot.3", C::kHost, R::kNone},
      {"batched_copy_array_x", C::kTransfer, R::kNone},
      {"XIteratorGetNext", C::kInput, R::kNone},
      {"Execute=>IssueEvent", C::kHost, R::kNone},
      {"algsimp", C::kHost, R::kNone},
  };
  for (const Expected& expected : kNames) {
    const XName what = ClassifyHostName(expected.name);
    EXPECT_TRUE(what.known) << expected.name;
    EXPECT_EQ(what.category, expected.category) << expected.name;
    EXPECT_EQ(what.role, expected.role) << expected.name;
  }
}

// PJRT's classes have another name in each generation, and other classes have methods of these names.
TEST(XspaceNames, MethodsMeanSomethingInTheirClasses) {
  constexpr Expected kNames[] = {
      {"TfrtCpuClient::Compile", C::kCompile, R::kXlaCompile},
      {"JitCompiler::Compile", C::kHost, R::kNone},
      {"PjRtCApiClient::CompileAndLoad(tt_jit_add)", C::kCompile, R::kXlaCompile},
      {"CpuCompiler::RunBackend", C::kHost, R::kModule},
      {"PjRtCpuExecutable::ExecuteHelper", C::kExecute, R::kDispatch},
      {"ThreadPool::Execute", C::kHost, R::kNone},
      {"tpu::System::Execute", C::kExecute, R::kNone},
      {"PjRtCpuBuffer::ToLiteral", C::kTransfer, R::kNone},
      {"PjRtCApiClient::BufferFromHostBuffer(f32[8])", C::kTransfer, R::kHostBuffer},
      {"xla::Anything", C::kHost, R::kNone},
  };
  for (const Expected& expected : kNames) {
    const XName what = ClassifyHostName(expected.name);
    EXPECT_TRUE(what.known) << expected.name;
    EXPECT_EQ(what.category, expected.category) << expected.name;
    EXPECT_EQ(what.role, expected.role) << expected.name;
  }
}

// Other profilers print some of the names that the vocabulary has. Here they may be the user's.
TEST(XspaceNames, OtherNamesMayBeTheUsers) {
  for (const char* name :
       {"train", "block_until_ready", "cudaLaunchKernel", "PyTorch Profiler (0)", "my Synchronize"})
    EXPECT_FALSE(ClassifyHostName(name).known) << name;
}

}  // namespace
}  // namespace xlaprof

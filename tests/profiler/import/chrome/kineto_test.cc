// Tests the dialect of Chrome JSON that Kineto, PyTorch's profiler, writes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer chrome;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFlows =
    "SELECT o.name, i.name FROM flow f JOIN event o ON o.id = f.from_event_id JOIN event i ON i.id "
    "= f.to_event_id ORDER BY o.ts_ns, i.ts_ns";

ImportedText ReadKineto(const std::string& events, const std::string& more = "") {
  return ImportText(chrome, "{\"schemaVersion\": 1, \"deviceProperties\": [],\n" + more +
                                "\"traceEvents\": [\n" + events + "]}");
}
std::string X(const std::string& cat, const std::string& name, int64_t pid, int64_t tid, int64_t ts,
              int64_t dur, const std::string& args = "") {
  return fmt::format(
      "{{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    "
      "\"ts\": {}, \"dur\": {}{}\n  }}",
      cat, name, pid, tid, ts, dur, args.empty() ? "" : ",\n    \"args\": {" + args + "}");
}

TEST(Kineto, KernelsCopiesAndFillsAreDeviceWork) {
  auto in = ReadKineto(X("cpu_op", "aten::add", 10, 10, 1, 50) + "," +
                       X("kernel", "add_kernel", 0, 7, 10, 5, R"("device": 0, "stream": 7)") + "," +
                       X("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 7, 20, 5) + "," +
                       X("gpu_memset", "Memset (Device)", 0, 7, 30, 5) + "," +
                       X("kernel", "ncclDevKernel_AllReduce_Sum", 0, 20, 40, 5) + "," +
                       X("gpu_user_annotation", "forward", 0, 7, 9, 30) + "," +
                       X("cuda_sync", "Stream Sync", 0, 7, 35, 9) + "," +
                       X("Trace", "PyTorch Profiler (0)", -1, 1, 0, 100));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT t.kind, coalesce(t.device, '-'), t.name, e.category, e.name FROM "
                      "event e JOIN track t ON t.id = track_id ORDER BY e.ts_ns"),
              ElementsAre("host_thread|-|thread 1|host|PyTorch Profiler (0)",
                          "host_thread|-|thread 10|host|aten::add",
                          "device_stream|GPU:0|stream 7|scope|forward",
                          "device_stream|GPU:0|stream 7|op|add_kernel",
                          "device_stream|GPU:0|stream 7|op|Memcpy DtoD (Device -> Device)",
                          "device_stream|GPU:0|stream 7|op|Memset (Device)",
                          "device_stream|GPU:0|stream 7|async_op|Stream Sync",
                          "device_stream|GPU:0|stream 20|collective|ncclDevKernel_AllReduce_Sum"));
  EXPECT_THAT(in.Rows("SELECT pid FROM process"), ElementsAre("10"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM track WHERE kind = 'device'"), ElementsAre("1"));
}

// TorchTPU hands the events of its runtime and of XLA's client to PyTorch's profiler.
TEST(Kineto, CompilesAndExecutionsOfTorchtpuAreFacts) {
  const std::string compile = "PjRtCApiClient::CompileAndLoad(tt_jit_add)";
  auto in = ReadKineto(X("cpu_op", "CompileTraversal", 10, 10, 1, 4) + "," +
                       X("cpu_op", compile, 10, 20, 5, 100) + "," +
                       X("cpu_op", "ExecutionTask::Run", 10, 30, 6, 110) + "," +
                       X("cpu_op", "aten::_foreach_add", 10, 10, 8, 2) + "," +
                       X("user_annotation", compile, 10, 10, 300, 2));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT function, dur_ns, dur_from FROM compile"),
              ElementsAre("add|100000|profile"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM execution"), ElementsAre("1"));
  EXPECT_THAT(in.Rows("SELECT category FROM event ORDER BY ts_ns"),
              ElementsAre("tracing", "compile", "execute", "host", "scope"));
}

TEST(Kineto, CorrelationJoinsLaunchAndKernel) {
  auto in = ReadKineto(
      X("cuda_runtime", "cudaLaunchKernel", 10, 10, 1, 2, R"("correlation": 5)") + "," +
      X("cuda_runtime", "cudaEventQuery", 10, 10, 4, 1, R"("correlation": 6)") + "," +
      X("kernel", "k", 0, 7, 10, 5, R"("correlation": 5)") + "," +
      // Flow 5 repeats the correlation; flow 6 is dangling because its call has no kernel.
      R"({"ph": "s", "id": 5, "pid": 10, "tid": 10, "ts": 1, "cat": "ac2g", "name": "ac2g"},)"
      R"({"ph": "f", "id": 6, "pid": 10, "tid": 10, "ts": 4, "cat": "ac2g", "name": "ac2g", "bp": "e"},)" +
      X("cpu_op", "aten::mul", 10, 10, 20, 5) + "," + X("cpu_op", "MulBackward0", 10, 11, 30, 5) +
      "," +
      R"({"ph": "s", "id": 1, "pid": 10, "tid": 10, "ts": 20, "cat": "fwdbwd", "name": "fwdbwd"},)"
      R"({"ph": "f", "id": 1, "pid": 10, "tid": 11, "ts": 30, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"})");
  EXPECT_THAT(in.Rows(kFlows), ElementsAre("cudaLaunchKernel|k", "aten::mul|MulBackward0"));
}

// On Meta's accelerator, calls have names of their own, and waits are events of its streams.
TEST(Kineto, WorkOfMtiaIsJoinedWithItsCalls) {
  auto in = ReadKineto(
      X("mtia_runtime", "runFunction - job_prep_and_submit_for_execution", 10, 10, 1, 2,
        R"("correlation": 5)") +
      "," +
      X("mtia_runtime", "enqueueCommand memcpyHtoDAsync", 10, 10, 4, 2, R"("correlation": 6)") +
      "," + X("mtia_runtime", "recordEvent", 10, 10, 7, 2, R"("correlation": 7)") + "," +
      X("mtia_ccp_events", "merge", 17, 3, 10, 5, R"("correlation": 5)") + "," +
      X("mtia_ccp_events", "pe_exe", 17, 4, 16, 5, R"("correlation": 5)") + "," +
      X("mtia_ccp_events", "dma_request", 17, 3, 22, 5, R"("correlation": 6)") + "," +
      X("mtia_ccp_events", "event_record", 17, 3, 28, 5, R"("correlation": 7)") + "," +
      X("mtia_ccp_events", "event_wait", 17, 3, 34, 5));
  EXPECT_THAT(in.Rows(kFlows), ElementsAre("runFunction - job_prep_and_submit_for_execution|merge",
                                           "runFunction - job_prep_and_submit_for_execution|pe_exe",
                                           "enqueueCommand memcpyHtoDAsync|dma_request"));
  EXPECT_THAT(in.Rows("SELECT category FROM event ORDER BY ts_ns"),
              ElementsAre("execute", "transfer", "host", "op", "op", "op", "async_op", "async_op"));
}

TEST(Kineto, StepsScopesInputAndCalls) {
  auto in =
      ReadKineto(X("user_annotation", "ProfilerStep#7", 10, 10, 0, 100) + "," +
                 X("user_annotation", "forward", 10, 10, 1, 9) + "," +
                 X("user_annotation", "enumerate(DataLoader)#_Single.__next__", 10, 10, 20, 9) +
                 "," + X("cuda_runtime", "cudaLaunchKernel", 10, 10, 40, 1) + "," +
                 X("cuda_runtime", "cudaMemcpyAsync", 10, 10, 50, 1) + "," +
                 X("cuda_runtime", "cudaStreamSynchronize", 10, 10, 60, 1) + "," +
                 X("python_function", "train.py(3): step", 10, 10, 70, 1));
  EXPECT_THAT(in.Rows("SELECT category FROM event ORDER BY ts_ns"),
              ElementsAre("step", "scope", "input", "execute", "transfer", "host", "python"));
  EXPECT_THAT(in.Rows("SELECT number, ts_ns, dur_ns FROM step"), ElementsAre("7|0|100000"));
  EXPECT_THAT(in.Rows("SELECT name FROM setting"), ElementsAre("python_tracer"));
}

// torch 1.8 to 1.10 call everything on the host an operator.
TEST(Kineto, NamesDecideWhereTheCategorySaysNothing) {
  for (const std::string cat : {"Operator", "cpu_op"}) {
    auto in = ReadKineto(
        X(cat, "ProfilerStep#5", 10, 10, 0, 100) + "," +
        X(cat, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 10, 1, 9) + "," +
        X(cat, "DistributedDataParallel.forward", 10, 10, 20, 9) + "," +
        X(cat, "aten::add", 10, 10, 21, 1) + "," + X(cat, "AddmmBackward", 10, 10, 30, 1) + "," +
        X(cat, "Optimizer.step#SGD.step", 10, 10, 40, 9) + "," +
        X("gpu_user_annotation", "ProfilerStep#5", 0, 7, 50, 9));
    EXPECT_THAT(in.Rows("SELECT category FROM event ORDER BY ts_ns"),
                ElementsAre("step", "input", "scope", "host", "host", "scope", "scope"));
    EXPECT_THAT(in.Rows("SELECT number, ts_ns, dur_ns FROM step"), ElementsAre("5|0|100000"));
  }
}

TEST(Kineto, CopiesBetweenHostAndDeviceAreTransfers) {
  auto in = ReadKineto(
      X("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 1, 2, R"("bytes": 4096)") + "," +
      X("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 5, 3, R"("bytes": 8)") + "," +
      X("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 7, 9, 3, R"("bytes": 16)"));
  EXPECT_THAT(in.Rows("SELECT direction, bytes, dur_ns FROM transfer ORDER BY ordinal"),
              ElementsAre("to_device|4096|2000", "from_device|8|3000"));
}

// On Intel's GPUs, copies and calls have other names, and waits for no stream have the process -1.
TEST(Kineto, WorkOfXpu) {
  const auto corr = [](int number) { return fmt::format("\"correlation\": {}", number); };
  auto in =
      ReadKineto(X("gpu_memcpy", "Memcpy M2D (Memory -> Device)", 0, 7, 20, 5, corr(1)) + "," +
                 X("gpu_memcpy", "zeCommandListAppendMemoryCopy(D2H)", 0, 7, 30, 5, corr(2)) + "," +
                 X("gpu_memcpy", "Memcpy D2M (Device -> Memory)", 0, 7, 40, 5, corr(3)) + "," +
                 X("gpu_memset", "Memset (Device)", 0, 7, 50, 5, corr(4)) + "," +
                 X("kernel", "gemm", 0, 7, 60, 5, corr(5)) + "," +
                 X("xpu_sync", "urEventWait", -1, 9, 70, 5, corr(6)) + "," +
                 X("xpu_runtime", "urEnqueueUSMMemcpy", 9, 9, 1, 1, corr(1)) + "," +
                 X("xpu_runtime", "zeCommandListAppendMemoryCopy", 9, 9, 3, 1, corr(2)) + "," +
                 X("xpu_runtime", "urEnqueueUSMMemcpy2D", 9, 9, 5, 1, corr(3)) + "," +
                 X("xpu_runtime", "urEnqueueUSMFill", 9, 9, 7, 1, corr(4)) + "," +
                 X("xpu_runtime", "urEnqueueKernelLaunch", 9, 9, 9, 1, corr(5)));
  EXPECT_THAT(in.Rows("SELECT category FROM event WHERE ts_ns < 10000 ORDER BY ts_ns"),
              ElementsAre("transfer", "transfer", "transfer", "execute", "execute"));
  EXPECT_THAT(in.Rows("SELECT direction FROM transfer ORDER BY ordinal"),
              ElementsAre("to_device", "from_device", "from_device"));
  EXPECT_THAT(in.Rows("SELECT DISTINCT device FROM track WHERE device IS NOT NULL"),
              ElementsAre("XPU:0"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM flow"), ElementsAre("5"));
}

// Other makers' devices (PrivateUse1) have the categories of all devices for their work, and their own
// for calls, whose names the makers choose.
TEST(Kineto, WorkOfAnotherMakersDevice) {
  const auto corr = [](int id) { return fmt::format(R"("correlation": {})", id); };
  auto in = ReadKineto(X("privateuse1_runtime", "LaunchKernel", 9, 9, 1, 1, corr(1)) + "," +
                       X("privateuse1_runtime", "SubmitControlBlocks", 9, 9, 3, 1, corr(2)) + "," +
                       X("privateuse1_driver", "devMemcpyAsync", 9, 9, 5, 1, corr(3)) + "," +
                       X("privateuse1_runtime", "devMemsetAsync", 9, 9, 7, 1, corr(4)) + "," +
                       X("privateuse1_runtime", "StreamSynchronize", 9, 9, 9, 1, corr(5)) + "," +
                       X("kernel", "gemm", 0, 7, 20, 5, corr(1)) + "," +
                       X("kernel", "add", 0, 7, 30, 5, corr(2)) + "," +
                       X("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 0, 7, 40, 5, corr(3)) + "," +
                       X("gpu_memset", "Memset (Device)", 0, 7, 50, 5, corr(4)));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT category FROM event ORDER BY ts_ns"),
      ElementsAre("execute", "host", "transfer", "execute", "host", "op", "op", "op", "op"));
  EXPECT_THAT(in.Rows("SELECT DISTINCT device FROM track WHERE device IS NOT NULL"),
              ElementsAre("PrivateUse1:0"));
  EXPECT_THAT(in.Rows("SELECT direction FROM transfer"), ElementsAre("to_device"));
  EXPECT_THAT(in.Rows(kFlows), ElementsAre("LaunchKernel|gemm", "SubmitControlBlocks|add",
                                           "devMemcpyAsync|Memcpy HtoD (Host -> Device)",
                                           "devMemsetAsync|Memset (Device)"));
}

TEST(Kineto, StacksThatSlowTheRunAreOneSetting) {
  const std::string op = X("cpu_op", "aten::add", 10, 10, 2, 1);
  const char* kSettings = "SELECT name, evidence FROM setting";
  const std::string what =
      "torch.profiler(with_stack=True) records Python's stack at each operator";
  EXPECT_THAT(ReadKineto(op, "\"with_stack\": 1,\n").Rows(kSettings),
              ElementsAre("with_stack|" + what));
  auto in = ReadKineto(X("python_function", "f.py(1): f", 10, 10, 1, 5) + "," + op,
                       "\"with_stack\": 1,\n");
  EXPECT_THAT(in.Rows(kSettings),
              ElementsAre("python_tracer|" + what + "; 1 of 2 events (50 %) are Python calls"));
}

TEST(Kineto, RankAndHostMayStandBehindTheEvents) {
  auto in = ImportText(chrome, "{\"traceEvents\": [" + X("cpu_op", "a", 10, 10, 1, 1) +
                                   "], \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, "
                                   "\"world_size\": 8}, \"host_name\": \"h\"}");
  EXPECT_THAT(in.Rows("SELECT host, pid, rank FROM process"), ElementsAre("h|10|3"));
}

TEST(Kineto, MemoryIsACounter) {
  auto in = ReadKineto(
      R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 10, "tid": 10, "ts": 5,)"
      R"("args": {"Total Allocated": 4096, "Device Id": 0, "Device Type": 1}})");
  EXPECT_THAT(in.Rows("SELECT t.name, value FROM counter_sample JOIN track t ON t.id = track_id"),
              ElementsAre("allocated bytes, GPU:0|4096.0"));
}

TEST(Kineto, MetadataRepeatsAreNotStored) {
  std::string events;
  for (int i = 0; i < 500; ++i) {
    events += fmt::format(
        R"({{"name": "thread_name", "ph": "M", "ts": {}, "pid": 10, "tid": 10, "args": {{"name": "main"}}}},)",
        i);
  }
  auto in = ReadKineto(events + X("cpu_op", "a", 10, 10, 1, 1));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM event"), ElementsAre("1"));
  EXPECT_THAT(in.Rows("SELECT name FROM track"), ElementsAre("main"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
}

}  // namespace
}  // namespace xlaprof

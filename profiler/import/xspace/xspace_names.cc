#include "profiler/import/xspace/xspace_names.h"

#include <absl/container/flat_hash_map.h>

#include <iterator>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

using C = Category;
using R = XRole;

struct Known {
  std::string_view name;  // without the class before "::" if `any_class` is set
  C category;
  R role;
  bool any_class = false;
};

// Host events that have a meaning, by their exact name. PJRT's classes change their names with each
// generation (PjRtCpuClient, TfrtCpuClient, CommonPjRtClient, StreamExecutorGpuClient), so their
// events are found by what follows the class.
constexpr Known kKnown[] = {
    // torch_xla, the thread that traces and syncs (csrc/xla_graph_executor.cpp)
    {"StepMarker", C::kHost, R::kStepMark},
    {"SyncLiveTensorsGraph", C::kHost, R::kNone},
    {"SyncTensorsGraph", C::kHost, R::kNone},
    {"SyncTensorsGraphInternal", C::kHost, R::kSync},
    {"CollectSyncTensors", C::kTracing, R::kNone},           // finds the live tensors
    {"ExtractIRAndPrepareXlaData_", C::kTracing, R::kNone},  // collects their graph
    {"RunPostOrder", C::kTracing, R::kNone},                 // sorts it
    {"SetTensorData", C::kTracing, R::kNone},
    {"ScheduleSyncTensorsGraph", C::kExecute, R::kSchedule},
    {"TensorCollectionBarrier", C::kExecute, R::kNone},
    {"DeviceBarrier", C::kExecute, R::kNone},
    {"ExecuteComputationWithBarrier", C::kExecute, R::kSchedule},  // dynamo's way to execute
    {"ExecuteComputationWithBarrier_syncfn", C::kExecute, R::kNone},
    {"update_placeholder", C::kExecute, R::kNone},
    {"XLAGraphExecutor::Compile", C::kCompile, R::kGraphCompile},
    {"ReshardData", C::kTransfer, R::kDeviceToDevice},
    {"_get_xla_sharding_specs", C::kHost, R::kNone},
    // torch_xla's clients; IFRT spells the same methods
    {"PjRtComputationClient::Compile", C::kCompile, R::kClientCompile},
    {"IfrtComputationClient::Compile", C::kCompile, R::kClientCompile},
    {"PjRtComputationClient::ExecuteComputation", C::kExecute, R::kExecute},
    {"IfrtComputationClient::ExecuteComputation", C::kExecute, R::kExecute},
    {"PjRtComputationClient::ExecuteReplicated", C::kExecute, R::kExecute},
    {"IfrtComputationClient::ExecuteReplicated", C::kExecute, R::kExecute},
    {"PjRtComputationClient::TransferToDevice", C::kTransfer, R::kToDevice},
    {"IfrtComputationClient::TransferToDevice", C::kTransfer, R::kToDevice},
    {"PjRtComputationClient::TransferShardsToDevice", C::kTransfer, R::kToDevice},
    {"IfrtComputationClient::TransferShardsToDevice", C::kTransfer, R::kToDevice},
    {"PjRtComputationClient::TransferFromDevice", C::kTransfer, R::kFromDevice},
    {"IfrtComputationClient::TransferFromDevice", C::kTransfer, R::kFromDevice},
    {"PjRtComputationClient::CopyToDevice", C::kTransfer, R::kDeviceToDevice},
    // torch_xla before PJRT (XRT)
    {"XrtComputationClient::Compile", C::kCompile, R::kClientCompile},
    {"XrtComputationClient::ExecuteComputation", C::kExecute, R::kExecute},
    {"XrtComputationClient::TransferToServer", C::kTransfer, R::kToDevice},
    {"XrtComputationClient::TransferFromServer", C::kTransfer, R::kFromDevice},
    // Our own lazy runtime
    {"TransferToDevice", C::kTransfer, R::kToDevice},
    {"TransferFromDevice", C::kTransfer, R::kFromDevice},
    // torch_xla's Python side annotates these itself with xp.Trace
    {"cpu_loader.next", C::kInput, R::kNone},  // parallel_loader's worker asks the user's loader
    {"get_batch_from_cpu_queue", C::kInput, R::kNone},   // the uploading thread waits for it
    {"cpu_data_to_xla_device", C::kTransfer, R::kNone},  // and uploads
    {"aot_forward", C::kTracing, R::kNone},
    {"aot_backward", C::kTracing, R::kNone},
    {"jax_to_xla_computation", C::kTracing, R::kNone},
    {"xla::computation", C::kTracing, R::kNone},
    // TorchTPU
    {"CompileTraversal", C::kTracing, R::kNone},
    {"TraverseAndCompile", C::kTracing, R::kNone},
    {"SplitTraversal", C::kTracing, R::kNone},
    {"Traversal::Compile", C::kTracing, R::kNone},
    {"Traversal::BuildGraphKey", C::kTracing, R::kNone},
    {"Traversal::CreateFromExecutionOrder", C::kTracing, R::kNone},
    {"SetOutputNodesAsMaterialized", C::kTracing, R::kNone},
    {"torchtpu_fx_to_mlir", C::kTracing, R::kNone},
    {"ExecutionTask::Run", C::kExecute, R::kTask},
    {"AtenLocalScalarDense", C::kTransfer, R::kNone},
    {"CopyTpuToCpu", C::kTransfer, R::kFromDevice},
    {"CopyTpuToCpu::MaterializeBase", C::kExecute, R::kNone},
    {"TpuMallocAndMemcpyHtoD", C::kTransfer, R::kToDevice},
    // Input pipelines of others
    {"IteratorGetNext", C::kInput, R::kNone},
    {"IteratorGetNextOp::DoCompute", C::kInput, R::kNone},
    {"InfeedEnqueue", C::kInput, R::kNone},
    // JAX's Python side
    {"backend_compile", C::kCompile, R::kJaxCompile},           // until 0.6
    {"backend_compile_and_load", C::kCompile, R::kJaxCompile},  // since
    {"trace_to_jaxpr_dynamic", C::kTracing, R::kNone},
    {"trace_to_jaxpr", C::kTracing, R::kNone},
    {"lower_sharding_computation", C::kTracing, R::kNone},
    {"lower_jaxpr_to_module", C::kTracing, R::kNone},
    {"xla_primitive_callable", C::kTracing, R::kNone},
    {"ParseArguments", C::kExecute, R::kNone},
    {"shard_args", C::kExecute, R::kNone},
    {"ExecuteReplicated.__call__", C::kExecute, R::kNone},
    {"DevicePut", C::kTransfer, R::kPut},
    {"DevicePutWithSharding", C::kTransfer, R::kPut},
    {"DevicePutWithDevice", C::kTransfer, R::kPut},
    {"batched_copy_array_to_devices_with_sharding", C::kTransfer, R::kNone},
    {"np.asarray(jax.Array)", C::kTransfer, R::kFetch},  // waits for the value, then copies it
    {"ArrayImpl.copy_to_host_async", C::kTransfer, R::kNone},
    {"PyArray::Value", C::kTransfer, R::kNone},
    // PJRT's clients, whatever their class is called
    {"::Compile", C::kCompile, R::kXlaCompile, true},
    {"::CompileAndLoad", C::kCompile, R::kXlaCompile, true},
    {"::RunBackend", C::kHost, R::kModule, true},  // its stat `name` is the module's
    {"::CompileCpuExecutable", C::kHost, R::kModule, true},
    {"::RunHloPasses", C::kHost, R::kModule, true},
    {"::ExecuteHelper", C::kExecute, R::kDispatch, true},
    {"::ExecuteHelperOnSingleDevice", C::kExecute, R::kDispatch, true},
    {"::Execute", C::kExecute, R::kNone, true},
    {"::ExecuteSharded", C::kExecute, R::kNone, true},
    {"::ExecutePrepare", C::kExecute, R::kNone, true},
    {"::EnqueueExecution", C::kExecute, R::kNone, true},
    {"DoEnqueueProgram", C::kExecute, R::kEnqueue},
    {"EnqueueContinuationProgram", C::kExecute, R::kNone},
    {"tpu::System::TransferToDevice", C::kTransfer, R::kToDevice},
    {"tpu::System::TransferFromDevice", C::kTransfer, R::kFromDevice},
    {"H2D Dispatch", C::kTransfer, R::kNone},
    {"D2H Dispatch", C::kTransfer, R::kNone},
    {"PCIe/Memcpy Dispatch", C::kTransfer, R::kNone},
    {"BufferFromHostLiteral", C::kTransfer, R::kNone},
    {"XlaLinearize", C::kTransfer, R::kNone},
    {"Linearize", C::kTransfer, R::kNone},
    {"Delinearize", C::kTransfer, R::kNone},
    {"MapDmaBuffer", C::kTransfer, R::kNone},
    {"::ToLiteral", C::kTransfer, R::kNone, true},
    {"::CopyRawToHost", C::kTransfer, R::kNone, true},
    {"::BufferFromHostBuffer", C::kTransfer, R::kNone, true},
    // Noise of the runtime without "::" in its name, on the threads of the user
    {"Wait for donation holds", C::kHost, R::kNone},
    {"Wait for usage holds", C::kHost, R::kNone},
    {"Acquire semaphore", C::kHost, R::kNone},
    {"Release semaphore", C::kHost, R::kNone},
    {"Handle inputs", C::kHost, R::kNone},
    {"Handle input event recording", C::kHost, R::kNone},
    {"Handle outputs without host buffers", C::kHost, R::kNone},
    {"AllocateOutputBufferWithInputReuse", C::kHost, R::kNone},
    {"AllocateOutputBuffersWithInputReuse", C::kHost, R::kNone},
    {"AllocateDestinationBuffer", C::kHost, R::kNone},
    {"LoadProgram", C::kHost, R::kNone},
    {"LoadProgramAsync", C::kHost, R::kNone},
    {"MemoryAllocation", C::kHost, R::kNone},
    {"MemoryDeallocation", C::kHost, R::kNone},
    {"ReadSyncFlag", C::kHost, R::kNone},
    {"CompleteCallbacks", C::kHost, R::kNone},
    {"ScheduleWork", C::kHost, R::kNone},
};

// Stages that are at the top of every compilation by XLA, and passes after which no other code is
// named.
constexpr std::string_view kCompilerStages[] = {
    "RunInvariantCheckers",
    "sharding-removal",
    "flatten-call-graph",
    "SubbytePacker pipeline",
    "dot-library-passes",
    "HLO passes through layout assignment",
    "HLO passes after layout assignment",
    "HLO optimization passes",
    "hlo normalization",
    "layout-assignment",
    "copy-insertion",
    "algsimp",
    "SplitModule",
    "Codegen",
    "SymbolDCE",
    "cpu-parallel-task-assigner",
    "float-normalization-bf16",
    "call-inliner",
    "tuple-simplifier",
    "hlo-memory-scheduler",
};

const absl::flat_hash_map<std::string_view, const Known*>& Table() {
  static const auto* table = [] {
    auto* map = new absl::flat_hash_map<std::string_view, const Known*>;
    for (const Known& known : kKnown) map->emplace(known.name, &known);
    return map;
  }();
  return *table;
}

XName Of(const Known& known) { return {known.category, known.role, true}; }

}  // namespace

XName ClassifyHostName(std::string_view name) {
  if (name.empty()) return {C::kHost, R::kNone, true};
  if (name.front() == '$') return {C::kPython, R::kNone, true};
  if (auto found = Table().find(name); found != Table().end()) return Of(*found->second);
  if (name.starts_with("PjitFunction(") || name.starts_with("PmapFunction("))
    return {C::kExecute, R::kCall, true};
  // This is a CPU client's op that finished elsewhere.
  if (name.starts_with("end: ")) return {C::kHost, R::kNone, true};
  // PJRT's C API names the module: PjRtCApiClient::CompileAndLoad(tt_jit_add).
  if (!ModuleInCompile(name).empty()) return {C::kCompile, R::kXlaCompile, true};
  if (!ShapeInHostBuffer(name).empty()) return {C::kTransfer, R::kHostBuffer, true};
  if (size_t colons = name.rfind("::"); colons != std::string_view::npos) {
    auto found = Table().find(name.substr(colons));
    // A step inside an operation ("Execute=>IssueEvent") is not the operation.
    if (found == Table().end() || !found->second->any_class) return {C::kHost, R::kNone, true};
    // Compilers nest (JitCompiler::Compile inside CpuCompiler inside the client). The client's
    // compile is the one that was asked for.
    if (found->second->role == R::kXlaCompile && !name.substr(0, colons).ends_with("Client"))
      return {C::kHost, R::kNone, true};
    // Thread pools and transposes execute things too. Executions of programs are those of an
    // executable or of the TPU driver.
    bool executes = found->second->category == C::kExecute;
    if (executes && !name.substr(0, colons).ends_with("Executable") &&
        !name.starts_with("tpu::System"))
      return {C::kHost, R::kNone, true};
    return Of(*found->second);
  }
  if (name.starts_with("Iterator::") || name.find("IteratorGetNext") != std::string_view::npos)
    return {C::kInput, R::kNone, true};
  if (name.starts_with("BatchedCopyToDevice") || name.starts_with("batched_copy_array"))
    return {C::kTransfer, R::kNone, true};
  if (IsCompilerStage(name) || name.find("=>") != std::string_view::npos)
    return {C::kHost, R::kNone, true};
  return {};
}

// Returns the text between `begin` and the bracket that ends `name`, or "" if it lacks either.
static std::string_view InBrackets(std::string_view name, std::string_view begin) {
  const size_t at = name.find(begin);
  if (at == std::string_view::npos || !name.ends_with(')')) return {};
  name.remove_prefix(at + begin.size());
  name.remove_suffix(1);
  return name;
}

std::string_view ModuleInCompile(std::string_view name) {
  return InBrackets(name, "Client::CompileAndLoad(");
}

std::string_view ShapeInHostBuffer(std::string_view name) {
  return InBrackets(name, "::BufferFromHostBuffer(");
}

bool HoldsUserCode(const XName& name) {
  if (!name.known) return true;
  return name.category == C::kPython || name.category == C::kScope || name.category == C::kStep ||
         name.category == C::kInput;
}

bool IsCompilerStage(std::string_view name) {
  for (std::string_view stage : kCompilerStages) {
    if (name == stage) return true;
  }
  return false;
}

XLineKind ClassifyDeviceLine(std::string_view name) {
  struct Line {
    std::string_view name;
    C category;
  };
  // The lines are in order of display.
  static constexpr Line kLines[] = {
      {"Steps", C::kStep},
      {"Sparse Core Steps", C::kStep},
      {"XLA Modules", C::kModule},
      {"Sparse Core Modules", C::kModule},
      {"XLA Ops", C::kOp},
      {"Sparse Core Ops", C::kOp},
      {"Async XLA Ops", C::kAsyncOp},
      {"Host Offload Ops", C::kAsyncOp},
      {"XLA TraceMe", C::kHost},
      {"Framework Name Scope", C::kScope},
      {"Framework Ops", C::kHost},
      {"Source code", C::kHost},
      {"Source Code", C::kHost},
      {"Launch Stats", C::kHost},
      {"Overlay", C::kHost},
  };
  int64_t sort = 1;
  for (const Line& line : kLines) {
    if (name == line.name) return {line.category, sort};
    ++sort;
  }
  if (name.starts_with("Stream #")) return {C::kOp, 5};
  if (name.starts_with("XLA Ops - ")) return {C::kOp, 6};
  if (name.starts_with("XLA Modules - ")) return {C::kModule, 4};
  return {C::kHost, sort};
}

std::string_view ShortHloName(std::string_view name) {
  if (!name.starts_with('%')) return {};
  size_t equals = name.find(" = ");
  return equals == std::string_view::npos ? std::string_view() : name.substr(1, equals - 1);
}

}  // namespace xlaprof
